package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// adoptFlags are the flags of orphans adopt.
type adoptFlags struct {
	applyFlags
	everything bool
	sync       bool
}

func (a *app) orphansAdoptCommand() *cobra.Command {
	f := adoptFlags{applyFlags: defaultApplyFlags()}
	f.wait = false
	cmd := &cobra.Command{
		Use:   "adopt [OBJECT...|--all] -f PATH...",
		Short: "Take back what rows and forms render again",
		Long: `Take orphans back that the current rows and forms render again: those that are
named, as Kind[.group]/NAMESPACE/NAME, or all. They lose the markers of orphans,
are tracked and recorded again, and their content stays as it is, unless --sync is
said. Orphans that nothing renders are listed with the reason.

apply takes back by itself what it renders; this is for taking objects back one
by one, or without changing them yet.`,
		Example: `  # Take back all that the rows want again, and let apply change it later
  lynqctl orphans adopt --all -f forms/

  # One volume
  lynqctl orphans adopt PersistentVolumeClaim/shop/acme-data -f forms/`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.orphansAdopt(cmd.Context(), &f, args) },
	}
	f.inputFlags.register(cmd)
	f.registerAll(cmd)
	f.registerSources(cmd)
	f.registerRun(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.nodes, "node", nil, "only orphans of these nodes, named UID-FORM")
	flags.BoolVar(&f.everything, "all", false, "all orphans that rows and forms render")
	flags.BoolVar(&f.sync, "sync", false, "bring their content to what the form says, too")
	flags.BoolVar(&f.noFinalizer, "no-finalizer", false, "make inventories without the finalizer that lets a deletion by hand be cleaned up")
	return cmd
}

func (a *app) orphansAdopt(ctx context.Context, f *adoptFlags, args []string) error {
	named, err := namedOrphans(args, f.everything)
	if err != nil {
		return err
	}
	if len(named) == 0 && !f.everything {
		return badUsage(errors.New("adopt what? name orphans, as lynqctl orphans list -o name does, or say --all"))
	}
	return a.withApplyJob(ctx, &f.applyFlags, func(ctx context.Context, j *applyJob) error {
		j.warnings.look(true)
		found, err := orphan.Find(ctx, j.client, orphan.Query{Now: time.Now()})
		j.warnings.look(false)
		if err != nil {
			return unread(ctx, err)
		}
		for _, w := range found.Warnings() {
			_, _ = fmt.Fprintln(a.stderr, "warning:", w)
		}
		j.taking = &taking{named: named, sync: f.sync, orphans: found.Orphans}
		return j.perform(ctx)
	})
}

// taking narrows a run of apply to taking orphans back.
type taking struct {
	named   map[lynq.Ref]bool // empty for all
	sync    bool
	orphans []orphan.Orphan
	// recorded, where it is not nil, are objects whose records were made anew,
	// which are meant in the place of orphans.
	recorded map[lynq.Ref]bool
}

// check tells which orphans are not taken back, and why. One that was named and
// cannot be is an error.
func (t *taking) check(j *applyJob) error {
	var nodes []*apply.Node
	for _, h := range j.hubs {
		nodes = append(nodes, j.nodes[h.hub.Name]...)
	}
	wanted := orphan.NewWanted(hubNames(j.hubs), nodes)
	known := map[lynq.Ref]bool{}
	var errs []error
	for i := range t.orphans {
		o := &t.orphans[i]
		known[o.Ref] = true
		why := wanted.Why(o)
		switch {
		case why == "":
		case t.named[o.Ref]:
			errs = append(errs, fmt.Errorf("%s cannot be taken back: %s", o.Full(), why))
		case len(t.named) == 0 && wanted.Concerns(o) && len(j.flags.nodes) == 0:
			_, _ = fmt.Fprintf(j.stderr, "not taken back: %s: %s\n", o.Full(), why)
		}
	}
	for ref := range t.named {
		if !known[ref] {
			errs = append(errs, fmt.Errorf("there is no such orphan: %s (lynqctl orphans list -A -o name lists them)", ref.Full()))
		}
	}
	if len(errs) > 0 {
		return &exitError{code: exitBadInput, err: inOrder(errs), summary: "nothing was touched"}
	}
	return nil
}

// narrow leaves everything out of a plan but the orphans that are meant.
func (t *taking) narrow(in *apply.Input) {
	in.Narrowed, in.KeepContent = true, !t.sync
	for _, n := range in.Nodes {
		for i := range n.Objects {
			o := &n.Objects[i]
			o.LeftOut = o.LeftOut || !t.means(in.Live[o.Ref])
		}
	}
}

// means tells whether an object is to be taken back.
func (t *taking) means(l *apply.Live) bool {
	switch {
	case l == nil:
		return false
	case t.recorded != nil:
		return t.recorded[l.Ref]
	}
	return l.Orphaned && (len(t.named) == 0 || t.named[l.Ref])
}
