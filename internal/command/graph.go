package command

import (
	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form/depgraph"
)

func graphCommand(a *app) *cobra.Command {
	var in load.InputOptions
	format := string(depgraph.Text)
	cmd := &cobra.Command{
		Use:   "graph -f PATH...",
		Short: "Print the dependency graph of forms",
		Long: `Print the order in which lynqctl applies a form's resources, as a tree, a
Mermaid diagram, or a DOT graph. If the form uses applyOrder, the graph groups
resources by wave.

The graph leaves out redundant edges. If a waits for b and b waits for c, it
shows the edge from a to c only if some rows don't have b.`,
		Example: `  lynqctl graph -f forms/
  lynqctl graph -f forms/ -o dot | dot -Tsvg > forms.svg`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmdflags.OneOf("-o", format, depgraph.Text, depgraph.Mermaid, depgraph.DOT); err != nil {
				return err
			}
			forms, err := load.Forms(cmd.Context(), a.Engine(""), &in)
			if err != nil {
				return err
			}
			if format == string(depgraph.Text) {
				return session.Fail(list.PrintGraph(depgraph.Lines(forms), a.Out()))
			}
			return session.Fail(depgraph.Write(cmd.OutOrStdout(), depgraph.Format(format), forms))
		},
	}
	cmdflags.RegisterInputs(cmd.Flags(), &in)
	cmd.Flags().StringVarP(&format, "output", "o", format, "output format: text, mermaid, or dot")
	return cmd
}
