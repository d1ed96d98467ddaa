package lynqctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
)

// applyFlags are the flags of apply.
type applyFlags struct {
	given        apply.Options
	render       renderFlags
	run          runFlags
	maxDelete    string
	adopt        string
	recordValues recordValues
	metrics      metricsFlags
}

func defaultApplyFlags() applyFlags {
	return applyFlags{
		given:  apply.Options{Wait: true},
		render: renderFlags{format: "yaml", options: load.RenderOptions{Nothing: "nothing changed"}},
		run:    defaultRunFlags(), maxDelete: decide.DefaultMaxDelete().String(), adopt: adoptByPolicy, recordValues: noValues,
	}
}

// recordValues is a flag that needs no value, and may have one that is neither true
// nor false.
type recordValues string

// noValues is what --record-values is by itself.
const noValues = "false"

// String implements pflag.Value.
func (v *recordValues) String() string { return string(*v) }

// Set implements pflag.Value. The value is checked with those of other flags.
func (v *recordValues) Set(text string) error { *v = recordValues(text); return nil }

// Type implements pflag.Value: in help it is shown as a flag without a value.
func (v *recordValues) Type() string { return "bool" }

// What --adopt takes.
const (
	adoptByPolicy = "policy"
	adoptNever    = "never"
)

// registerChoice registers what chooses nodes and objects, and which guards they have.
func (f *applyFlags) registerChoice(flags *pflag.FlagSet, allowEmpty string) {
	flags.StringSliceVar(&f.render.nodes, "node", nil, "limit to these nodes (as shown by 'lynqctl status')")
	flags.StringVarP(&f.render.selector, "selector", "l", "", "limit to objects that match this label selector; nothing is deleted")
	flags.BoolVar(&f.given.Limits.AllowEmpty, "allow-empty", false, allowEmpty)
	flags.StringVar(&f.maxDelete, "max-delete", f.maxDelete, "refuse to delete more than this many of a hub's nodes (a number or a percentage)")
	flags.StringVar(&f.adopt, "adopt", f.adopt, "what to do with existing objects: policy (follow the forms) or never (report a conflict)")
	// Which objects go beside those of nodes, and whether data may.
	flags.StringSliceVar(&f.given.Tombstones.Paths, "tombstones", nil, "files or directories with tombstones: objects to delete if their labels match")
	flags.BoolVar(&f.given.Tombstones.Recheck, "recheck-tombstones", false, "check tombstones again, even if their objects were already deleted")
	flags.BoolVar(&f.given.IncludeData, "include-data", false, "let patchStrategy recreate and tombstones delete PersistentVolumes, PersistentVolumeClaims, Namespaces, and CustomResourceDefinitions")
}

func applyCommand(a *app) *cobra.Command {
	f := defaultApplyFlags()
	cmd := &cobra.Command{
		Use:        "apply -f PATH...",
		SuggestFor: []string{"sync", "up", "install", "upgrade", "create", "deploy"},
		Short:      "Create, update, and delete objects to match your rows",
		Long: `Render every active row with every form of its hub. Then create, update, and
delete objects until the cluster matches. The policies in your forms decide how
lynqctl updates, keeps, or deletes each object.

Before lynqctl creates anything for a node, it records the node's objects in a
ConfigMap, the inventory. You can interrupt a run and run apply again. Objects
that haven't changed cost no API request. If one node fails, it keeps its
objects, and lynqctl still applies the others.

In a terminal, apply shows its plan and asks before it deletes objects. In
scripts and CI it never asks, and only the guards decide, such as --max-delete.

Exit codes:
  0    success
  1    something failed; the rest was applied
  2    invalid input or usage; nothing changed
  3    not confirmed, or refused by a guard; nothing changed
  130  interrupted; run the command again to continue`,
		Example: `  # Apply to the cluster in the current context
  lynqctl apply -f forms/

  # Preview the plan
  lynqctl apply -f forms/ --dry-run=client

  # Apply one tenant, and don't wait until it is ready
  lynqctl apply -f forms/ --node acme-web --wait=false

  # In CI, print JSON events, and refuse to delete more than 5 nodes
  lynqctl apply -f forms/ -o json --max-delete=5`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.apply(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	f.render.registerCluster(flags)
	f.run.registerRun(flags)
	f.registerChoice(flags, "allow deleting every node of a hub that has no active rows")
	flags.BoolVarP(&f.given.Yes, "yes", "y", false, "don't ask for confirmation")
	flags.BoolVar(&f.given.Wait, "wait", f.given.Wait, "wait until objects are ready")
	registerNoFinalizer(flags, &f.given.NoFinalizer)
	flags.Var(&f.recordValues, "record-values", "store row values in inventories; columns that look like secrets only with =plain")
	flags.Lookup("record-values").NoOptDefVal = string(apply.RecordChecked)
	f.metrics.register(flags)
	return cmd
}

// apply is the command.
func (a *app) apply(ctx context.Context, f *applyFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	return f.metrics.measured(a.engine(f.run.output), func(e *session.Engine) error { return apply.Run(ctx, e, o) })
}

// options checks the flags, and makes options of them.
func (f *applyFlags) options() (*apply.Options, error) {
	if err := f.render.check(); err != nil {
		return nil, err
	}
	if err := f.run.checkRun(); err != nil {
		return nil, err
	}
	if err := oneOf("--adopt", f.adopt, adoptByPolicy, adoptNever); err != nil {
		return nil, err
	}
	if err := oneOf("--record-values", string(f.recordValues), noValues, string(apply.RecordChecked), string(apply.RecordPlain)); err != nil {
		return nil, err
	}
	limit, err := decide.ParseMaxDelete(f.maxDelete)
	if err != nil {
		return nil, session.BadUsage(fmt.Errorf("--max-delete: %w", err))
	}
	o := f.given
	o.RenderOptions, o.RunOptions = f.render.options, f.run.RunOptions
	o.Settings.KeepGoing = true
	if f.recordValues != noValues {
		o.RecordValues = apply.RecordValues(f.recordValues)
	}
	o.Limits.MaxDelete, o.AdoptNothing = limit, f.adopt == adoptNever
	return &o, nil
}
