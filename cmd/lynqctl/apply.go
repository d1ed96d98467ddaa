package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

// applyFlags are the flags of apply.
type applyFlags struct {
	engine.ApplyOptions
	render       renderFlags
	run          runFlags
	maxDelete    string
	adopt        string
	recordValues recordValues
	metrics      metricsFlags
}

func defaultApplyFlags() applyFlags {
	return applyFlags{
		ApplyOptions: engine.ApplyOptions{Wait: true},
		render:       renderFlags{format: "yaml", RenderOptions: engine.RenderOptions{Nothing: "nothing was touched"}},
		run:          defaultRunFlags(), maxDelete: plan.DefaultMaxDelete().String(), adopt: adoptByPolicy, recordValues: noValues,
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
	flags.StringSliceVar(&f.render.nodes, "node", nil, "only these nodes: UID-FORM, or the name that status shows")
	flags.StringVarP(&f.render.selector, "selector", "l", "", "only objects with these labels, as kubectl takes them; nothing goes then")
	flags.BoolVar(&f.Limits.AllowEmpty, "allow-empty", false, allowEmpty)
	flags.StringVar(&f.maxDelete, "max-delete", f.maxDelete, "refuse to delete more than this many of a hub's nodes (a number or a percentage)")
	flags.StringVar(&f.adopt, "adopt", f.adopt, "policy (what exists already is adopted or taken over as the forms say) or never (it is a conflict)")
	// Which objects go beside those of nodes, and whether data may.
	flags.StringSliceVar(&f.Tombstones.Paths, "tombstones", nil, "files or directories of tombstones: manifests of objects that are to go, with the labels that they must have")
	flags.BoolVar(&f.Tombstones.Recheck, "recheck-tombstones", false, "look again at tombstones whose objects are known to be gone")
	flags.BoolVar(&f.IncludeData, "include-data", false, "patchStrategy recreate and tombstones also delete volumes and their claims, namespaces and CustomResourceDefinitions")
}

func (a *app) applyCommand() *cobra.Command {
	f := defaultApplyFlags()
	cmd := &cobra.Command{
		Use:   "apply -f PATH...",
		Short: "Bring a cluster to what rows and forms say",
		Long: `Render every active row of every hub with every form of the hub, and bring the
cluster to it, under the policies that the forms have.

What each node owns is recorded in a ConfigMap, its inventory, before anything
is made. What did not change since the last run costs no request. One node that
fails does not keep the others from being applied, and loses nothing.

On a terminal, a run that deletes objects shows its plan and asks first.
Elsewhere, and in CI, the guards alone decide.

Exit codes: 0 done; 1 something failed, the rest was done; 2 bad input, nothing
was touched; 3 not confirmed, or refused by a guard, nothing was touched; 130
interrupted, and the inventories are correct.`,
		Example: `  # Bring the cluster of the current context to what the rows say
  lynqctl apply -f forms/

  # What would change, without writing anything
  lynqctl apply -f forms/ --dry-run=client

  # One tenant only, and do not wait until it is ready
  lynqctl apply -f forms/ --node acme-web --wait=false

  # In a CI job: events for a log collector, at most 5 nodes may go
  lynqctl apply -f forms/ -o json --max-delete=5`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.apply(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	f.render.registerCluster(flags)
	f.run.registerRun(flags)
	f.registerChoice(flags, "let all nodes of a hub go that has no active row any more")
	flags.BoolVarP(&f.Yes, "yes", "y", false, "do not ask before objects are deleted")
	flags.BoolVar(&f.Wait, "wait", f.Wait, "wait until objects are ready, as their policies say")
	registerNoFinalizer(flags, &f.NoFinalizer)
	flags.Var(&f.recordValues, "record-values", "record the rows' extra values on inventories, as the operator does; secrets only with --record-values=plain")
	flags.Lookup("record-values").NoOptDefVal = string(engine.RecordChecked)
	f.metrics.register(flags)
	return cmd
}

// apply is the command.
func (a *app) apply(ctx context.Context, f *applyFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	return f.metrics.measured(a.engine(f.run.output), func(e *engine.Engine) error { return e.Apply(ctx, o) })
}

// options checks the flags, and makes options of them.
func (f *applyFlags) options() (*engine.ApplyOptions, error) {
	if err := f.render.check(); err != nil {
		return nil, err
	}
	if err := f.run.checkRun(); err != nil {
		return nil, err
	}
	if err := oneOf("--adopt", f.adopt, adoptByPolicy, adoptNever); err != nil {
		return nil, err
	}
	if err := oneOf("--record-values", string(f.recordValues), noValues, string(engine.RecordChecked), string(engine.RecordPlain)); err != nil {
		return nil, err
	}
	limit, err := plan.ParseMaxDelete(f.maxDelete)
	if err != nil {
		return nil, engine.BadUsage(fmt.Errorf("--max-delete: %w", err))
	}
	o := f.ApplyOptions
	o.RenderOptions, o.RunOptions = f.render.RenderOptions, f.run.RunOptions
	o.Settings.KeepGoing = true
	if f.recordValues != noValues {
		o.RecordValues = engine.RecordValues(f.recordValues)
	}
	o.Limits.MaxDelete, o.AdoptNothing = limit, f.adopt == adoptNever
	return &o, nil
}
