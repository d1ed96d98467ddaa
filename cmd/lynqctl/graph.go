package main

import (
	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/form"
)

func (a *app) graphCommand() *cobra.Command {
	var in engine.InputOptions
	format := string(form.GraphText)
	cmd := &cobra.Command{
		Use:   "graph -f PATH...",
		Short: "Print the dependency graph of forms",
		Long: `Print which resource of a form waits for which, as a tree, or as a Mermaid or
DOT graph, wave by wave where the form has some (applyOrder). What follows is
left out: where a waits for b and b for c, it does not matter that a names c
too, unless some rows do not have b.`,
		Example: `  lynqctl graph -f forms/
  lynqctl graph -f forms/ -o dot | dot -Tsvg > forms.svg`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", format, form.GraphText, form.GraphMermaid, form.GraphDOT); err != nil {
				return err
			}
			inputs, problems, err := a.engine("").LoadInputs(cmd.Context(), &in)
			if err != nil {
				return err
			}
			if len(problems) > 0 {
				return engine.BadInputs(problems, "nothing was printed")
			}
			forms, err := in.Choose(inputs)
			if err != nil {
				return err
			}
			if format == string(form.GraphText) {
				return engine.Fail(ui.PrintGraph(form.GraphLines(forms), a.out()))
			}
			return engine.Fail(form.WriteGraph(cmd.OutOrStdout(), form.GraphFormat(format), forms))
		},
	}
	registerInputs(cmd.Flags(), &in)
	cmd.Flags().StringVarP(&format, "output", "o", format, "text, mermaid or dot")
	return cmd
}
