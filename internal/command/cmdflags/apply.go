package cmdflags

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// Apply holds the flags of apply, and of commands that render and plan like it.
type Apply struct {
	Given        applycmd.Options
	Render       Render
	Run          Run
	MaxDelete    string
	maxChange    string
	adopt        string
	recordValues recordValues
	Plan         Plan
	FailOn       FailOn
	Metrics      Metrics
}

// NewApply returns the flags with their defaults.
func NewApply() Apply {
	return Apply{
		Given:  applycmd.Options{Wait: true},
		Render: Render{Format: "yaml", Options: load.RenderOptions{Nothing: "nothing changed"}},
		Run:    NewRun(), MaxDelete: limits.DefaultMaxDelete().String(), adopt: AdoptByPolicy, recordValues: noValues,
	}
}

// recordValues is a flag that works without a value. Its value may also be neither true nor
// false.
type recordValues string

// noValues is the default of --record-values.
const noValues = "false"

// String implements pflag.Value.
func (v *recordValues) String() string { return string(*v) }

// Set implements pflag.Value. Options checks the value later, together with other flags.
func (v *recordValues) Set(text string) error { *v = recordValues(text); return nil }

// Type implements pflag.Value. Help then shows a flag without a value.
func (v *recordValues) Type() string { return "bool" }

// The values of --adopt.
const (
	AdoptByPolicy = "policy"
	AdoptNever    = "never"
)

// AllowEmptyUsage is the usage of --allow-empty.
const AllowEmptyUsage = "allow deleting every node of a hub that has no active rows"

// RegisterChoice registers the flags that select nodes and objects, and those for guards.
func (f *Apply) RegisterChoice(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.Render.Nodes, "node", nil, "limit to these nodes (as shown by 'lynqctl status')")
	flags.StringVarP(&f.Render.Selector, "selector", "l", "", "limit to objects that match this label selector; nothing is deleted")
	f.RegisterGuards(flags)
}

// RegisterGuards registers the flags for guards.
func (f *Apply) RegisterGuards(flags *pflag.FlagSet) {
	RegisterStrict(flags, &f.Render.Options.Inputs)
	flags.BoolVar(&f.Given.Limits.AllowEmpty, "allow-empty", false, AllowEmptyUsage)
	flags.StringVar(&f.MaxDelete, "max-delete", f.MaxDelete, "refuse to delete more than this many of a hub's nodes (a number or a percentage)")
	rows := limits.DefaultMaxRowChange()
	f.Given.Limits.MaxRowChange = &rows
	flags.StringVar(&f.maxChange, "max-change", "", "refuse to change more than this many of a hub's nodes (a number or a percentage; default: 50% of ten or more, if only rows changed)")
	flags.StringSliceVar(&f.Given.Limits.EmptyColumns, "allow-empty-column", nil, "don't refuse if these columns are suddenly empty in many rows")
	flags.StringVar(&f.adopt, "adopt", f.adopt, "what to do with existing objects: policy (follow the forms) or never (report a conflict)")
	// These flags delete further objects, and data.
	flags.StringSliceVar(&f.Given.Tombstones.Paths, "tombstones", nil, "files or directories with tombstones: objects to delete if their labels match")
	flags.BoolVar(&f.Given.Tombstones.Recheck, "recheck-tombstones", false, "check tombstones again, even if their objects were already deleted")
	flags.BoolVar(&f.Given.IncludeData, "include-data", false, "let patchStrategy recreate and tombstones delete volumes, their claims, Namespaces, and CustomResourceDefinitions")
}

// RegisterRecordValues registers the flag that stores values of rows in inventories.
func (f *Apply) RegisterRecordValues(flags *pflag.FlagSet) {
	flags.Var(&f.recordValues, "record-values", "store row values in inventories; columns that look like secrets only with =plain")
	flags.Lookup("record-values").NoOptDefVal = string(applycmd.RecordChecked)
}

// Options checks the flags and turns them into options. It returns a usage error for bad
// flags.
func (f *Apply) Options() (*applycmd.Options, error) {
	if err := f.Render.Check(); err != nil {
		return nil, err
	}
	if err := f.Run.Check(); err != nil {
		return nil, err
	}
	if err := OneOf("--adopt", f.adopt, AdoptByPolicy, AdoptNever); err != nil {
		return nil, err
	}
	if err := OneOf("--record-values", string(f.recordValues), noValues, string(applycmd.RecordChecked), string(applycmd.RecordPlain)); err != nil {
		return nil, err
	}
	if err := CheckNoGrace(f.Given.NoGrace, f.Render.Nodes); err != nil {
		return nil, err
	}
	limit, err := limits.ParseMaxDelete(f.MaxDelete)
	if err != nil {
		return nil, session.BadUsage(fmt.Errorf("--max-delete: %w", err))
	}
	if f.Given.LastStage < 0 {
		return nil, session.BadUsage(errors.New("--stage cannot be negative"))
	}
	o := f.Given
	if f.maxChange != "" {
		change, err := limits.ParseMaxDelete(f.maxChange)
		if err != nil {
			return nil, session.BadUsage(fmt.Errorf("--max-change: %w", err))
		}
		if change.Percent == 0 && !f.Render.Options.Shard.IsZero() {
			return nil, session.BadUsage(errors.New("--max-change with --shard takes a percentage: no shard counts the changes of the others"))
		}
		o.Limits.MaxChange = &change
	}
	if f.maxChange != "" || f.Plan.plan != "" { // a plan was limited when somebody made it
		o.Limits.MaxRowChange = nil
	}
	o.RenderOptions, o.RunOptions = f.Render.Options, f.Run.RunOptions
	o.LockShard = f.Render.Options.Shard
	o.Settings.KeepGoing = true
	if f.recordValues != noValues {
		o.RecordValues = applycmd.RecordValues(f.recordValues)
	}
	o.Limits.MaxDelete, o.AdoptNothing = limit, f.adopt == AdoptNever
	if f.Plan != (Plan{}) && !o.Shard.IsZero() {
		return nil, session.BadUsage(errors.New("--plan and --out are for whole runs: leave out --shard"))
	}
	if f.Plan.plan != "" && len(o.Settings.Nodes) > 0 {
		return nil, session.BadUsage(errors.New("--plan with --node is not possible: the plan has its nodes"))
	}
	return &o, f.Plan.Apply(&o.RunOptions)
}
