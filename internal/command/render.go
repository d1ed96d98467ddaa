package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml/kyaml"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/rendercmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// renderCommandFlags are the flags of render.
type renderCommandFlags struct {
	cmdflags.Render
	tree         treeFlags
	allowVarying bool
	check        bool
	tried        rendercmd.Template
	second       string // the time of the first pass of a check, "" outside of a second pass
}

func renderCommand(a *app) *cobra.Command {
	f := renderCommandFlags{Render: cmdflags.Render{Options: load.RenderOptions{Nothing: "nothing was written"}}, tree: defaultTreeFlags()}
	cmd := &cobra.Command{
		Use:        "render -f PATH...",
		SuggestFor: []string{"template", "build", "generate"},
		Short:      "Render manifests from rows and forms",
		Long:       renderLong,
		Example: `  # Render one tenant
  lynqctl render -f forms/ --node acme-web

  # Render from a read replica, for review in Git
  lynqctl render -f forms/ --source mysql://ci@db.example/crm > all.yaml

  # Update a Git tree for Argo CD
  lynqctl render -f forms/ --output-dir tenants/ --target argo

  # Preview the changes as a comment for a pull request
  lynqctl render -f forms/ --output-dir tenants/ --dry-run -o markdown

  # Try a template on one row
  lynqctl render -f forms/ --form web --row acme --template '{{ .uid | upper }}'`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.resolve(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("template") {
				return rendercmd.Try(cmd.Context(), a.Engine(""), &rendercmd.Options{RenderOptions: f.Options}, f.tried, a.Out())
			}
			return a.render(cmd.Context(), &f)
		},
	}
	flags := cmd.Flags()
	f.RegisterLocal(flags)
	f.RegisterShard(flags, a.World.Getenv)
	flags.StringVarP(&f.Format, "output", "o", f.Format, "output format: yaml, kyaml, json (one object per line), or name; with --output-dir: table, json, markdown, or html (the changes), or trailers (for the commit message)")
	flags.StringSliceVar(&f.Nodes, "node", nil, "limit to these nodes (as shown by 'lynqctl status')")
	flags.StringVarP(&f.Selector, "selector", "l", "", "limit to objects that match this label selector")
	flags.BoolVar(&f.Options.Stream, "stream", false, "print manifests as they render instead of all at once")
	flags.BoolVar(&f.allowVarying, "allow-nondeterministic", false, "allow random functions such as randAlphaNum in resources with creationPolicy Once")
	flags.BoolVar(&f.Options.KeepGoing, "keep-going", false, "write the nodes that rendered, even if others failed")
	f.tree.register(flags)
	flags.StringVar(&f.tried.Row, "row", "", "uid of the row for --template")
	flags.StringVar(&f.tried.Text, "template", "", "try this template on the row of --row, and print its value")
	flags.BoolVar(&f.check, "check", false, "render twice, in different row order, and fail if the results differ")
	flags.StringVar(&f.second, secondPassFlag, "", "")
	_ = flags.MarkHidden(secondPassFlag) // the flag exists
	return cmd
}

// resolve checks the flags, and refuses combinations without a meaning.
func (f *renderCommandFlags) resolve(cmd *cobra.Command) error {
	f.Options.RefuseVarying, f.Options.Inputs.Strict = !f.allowVarying, f.tree.options.Strict
	if err := checkTried(cmd.Flags()); err != nil {
		return err
	}
	if err := f.tree.check(cmd, &f.Render); err != nil {
		return err
	}
	if f.tree.options.Dir == "" {
		if cmd.Flags().Changed("output-dir") {
			return session.BadUsage(errors.New("--output-dir is empty (an unset variable, perhaps)"))
		}
		for _, name := range treeOnly() {
			if cmd.Flags().Changed(name) {
				return session.BadUsage(fmt.Errorf("--%s is about a tree of files: say where with --output-dir", name))
			}
		}
		if f.check && (f.Options.Stream || f.Format != "") {
			return session.BadUsage(errors.New("--check writes no manifests: leave out --stream and -o"))
		}
		f.Format = cmp.Or(f.Format, "yaml")
		err := f.Check()
		f.Options.Settings.Shard = f.Options.Shard
		return err
	}
	if f.check {
		return session.BadUsage(errors.New("--check and --output-dir do not go together: check first, then write"))
	}
	f.tree.report = cmp.Or(f.Format, "table")
	if err := cmdflags.OneOf("-o", f.tree.report, "table", diffJSON, diffMarkdown, diffHTML, trailers); err != nil {
		return err
	}
	f.Format = "yaml"
	if err := f.Check(); err != nil {
		return err
	}
	if !f.Options.Shard.IsZero() {
		return session.BadUsage(errors.New("--shard and --output-dir don't go together: one run writes a tree (--spread has many folders)"))
	}
	return nil
}

// checkTried refuses --row and --template without each other, and flags that would have no
// effect with them.
func checkTried(flags *pflag.FlagSet) error {
	row, template := flags.Changed("row"), flags.Changed("template")
	if row != template {
		return session.BadUsage(errors.New("--row and --template go together: --row acme --template '{{ .uid }}'"))
	}
	for _, name := range append(treeOnly(), "output-dir", "output", "node", "selector", "stream", "check", "keep-going", "shard", "shards") {
		if template && flags.Changed(name) {
			return session.BadUsage(fmt.Errorf("--template prints one value: leave out --%s", name))
		}
	}
	return nil
}

func (a *app) render(ctx context.Context, f *renderCommandFlags) error {
	e, o := a.Engine(""), &f.tree.options
	o.RenderOptions = f.Options
	o.Losses = func(all, untold []policy.Loss) error { return a.showLosses(&f.tree, all, untold) }
	o.Planned = func(r *gitops.Report) error { return f.tree.expanded.Check(r.Groups().Set) }
	o.Show = func(t *rendercmd.Tree) error { return a.showTree(&f.tree, t) }
	o.Refuse = func(t *rendercmd.Tree) error { return a.refuseTree(&f.tree, t) }
	switch f.Format {
	case cmdflags.KYAML:
		o.Convert = asKYAML
	case cmdflags.Names:
		o.Convert = asNames
	}
	if f.check {
		return a.checkRender(ctx, f, o)
	}
	return rendercmd.Run(ctx, e, o, a.Out().Manifests())
}

func asKYAML(text []byte) ([]byte, error) {
	var b bytes.Buffer
	err := new(kyaml.Encoder).FromYAML(bytes.NewReader(text), &b)
	return b.Bytes(), err
}

// asNames returns a line KIND.GROUP/NAMESPACE/NAME for each manifest.
func asNames(text []byte) ([]byte, error) {
	var b bytes.Buffer
	for d := yaml.NewYAMLToJSONDecoder(bytes.NewReader(text)); ; {
		var o metav1.PartialObjectMetadata
		switch err := d.Decode(&o); {
		case errors.Is(err, io.EOF):
			return b.Bytes(), nil
		case err != nil:
			return nil, err
		}
		group, _ := lynq.SplitAPIVersion(o.APIVersion)
		ref := lynq.Ref{Group: group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
		b.WriteString(ref.Full() + "\n")
	}
}

// checkRender renders twice. Both passes use the same time for rows that expire.
func (a *app) checkRender(ctx context.Context, f *renderCommandFlags, o *rendercmd.Options) error {
	e, now := a.Engine(""), a.Now()
	if f.second != "" {
		var err error
		if now, err = time.Parse(time.RFC3339Nano, f.second); err != nil {
			return session.BadUsage(fmt.Errorf("--%s: %w", secondPassFlag, err))
		}
	}
	e.Clock = func() time.Time { return now }
	return rendercmd.Check(ctx, e, &rendercmd.CheckOptions{Render: *o, Second: f.second != "", Again: a.secondPass(now)}, a.Out().Manifests())
}

// secondPassFlag turns a process into the second pass of a check.
const secondPassFlag = "check-second-pass"

// secondPass returns this command line for the second pass of a check.
func (a *app) secondPass(now time.Time) []string {
	end := slices.Index(a.args, "--")
	if end < 0 {
		end = len(a.args)
	}
	return append([]string{a.World.Program}, slices.Insert(slices.Clone(a.args), end, "--"+secondPassFlag+"="+now.UTC().Format(time.RFC3339Nano))...)
}

// renderLong is the help of render.
const renderLong = `Render every active row with every form of its hub. Print the manifests, or
write a tree of files for Git. You don't need a cluster.

lynqctl prints only after everything has rendered, so a pipe never receives a
partial result. The same rows and forms always produce the same bytes.

With --output-dir, each node gets a folder with one file per object. lynqctl
writes only files whose content changed, and removes only files that it wrote.
An index in the tree lists these files.

Exit codes:
  0    success
  1    something failed; the rest was written. If a row can't be rendered,
       that needs --keep-going
  2    invalid input or usage; nothing was written
  3    refused by a guard; nothing was written
  4    the tree changed (with --exit-code)
  130  interrupted`
