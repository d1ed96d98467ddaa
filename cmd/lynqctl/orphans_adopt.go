package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/render"
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
		Short: "Adopt orphans that rows and forms render again",
		Long: `Adopt orphans that the current rows and forms render again: those that are
named, as Kind[.group]/NAMESPACE/NAME, or all. They lose the markers of orphans,
are tracked and recorded again, and their content stays as it is, unless --sync
is set. Orphans that nothing renders are listed with the reason.

apply adopts the orphans that it renders; this is for adopting objects one by
one, or without changing them yet.

Exit codes: those of apply. One that is named and cannot be adopted is bad
input: 2, nothing was touched.`,
		Example: `  # Adopt all that the rows want again, and let apply change it later
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
	flags.StringSliceVar(&f.nodes, "node", nil, "only orphans of these nodes: UID-FORM, or the name that status shows")
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
		orphans, err := j.findOrphans(ctx, orphan.Query{Now: time.Now(), Namespace: namespaceOf(named)})
		if err != nil {
			return err
		}
		j.taking = &taking{named: named, sync: f.sync, orphans: orphans}
		return j.perform(ctx)
	})
}

// taking narrows a run of apply to taking orphans back.
type taking struct {
	named   map[lynq.Ref]bool // empty for all
	sync    bool
	orphans []orphan.Orphan
	told    []string // of those that are not taken back
	// recorded, where it is not nil, are objects whose records were made anew,
	// which are meant in the place of orphans.
	recorded map[lynq.Ref]bool
}

// judge tells which orphans are not taken back, and why, and whether any is. One
// that was named and cannot be is an error.
func (t *taking) judge(j *applyJob) (some bool, err error) {
	wanted := orphan.NewWanted(hubNames(j.hubs), j.wanted())
	missing := maps.Clone(t.named)
	elsewhere := map[string]int{} // orphans of other hubs
	var errs []error
	for i := range t.orphans {
		o := &t.orphans[i]
		delete(missing, o.Ref)
		why := wanted.Why(o)
		if why != "" && !j.mayBeOf(o) {
			why = "it is from none of the nodes of --node"
		} else if why != "" && len(j.flags.formNames) > 0 {
			why += " (of the forms of --form)"
		}
		switch named := t.named[o.Ref]; {
		case why == "":
			some = some || named || len(t.named) == 0
		case named:
			errs = append(errs, fmt.Errorf("%s cannot be taken back: %s", o.Full(), why))
		case len(t.named) > 0 || !j.mayBeOf(o):
		case wanted.Concerns(o):
			t.tell(j, "not taken back: "+o.Full()+": "+why)
		default:
			elsewhere[o.From.Hub]++
		}
	}
	if unknown := slices.DeleteFunc(slices.Clone(j.missing), t.from); len(unknown) > 0 {
		errs = append(errs, unknownNodes(unknown, render.FormNames(allPrograms(j.hubs))))
	}
	for ref := range missing {
		errs = append(errs, noSuchOrphan(ref, "lynqctl orphans list -A -o name lists them"))
	}
	if len(errs) > 0 {
		return false, &exitError{code: exitBadInput, err: inOrder(errs), summary: "nothing was touched"}
	}
	t.tellElsewhere(j, elsewhere)
	return some, nil
}

// tellElsewhere tells of orphans that the inputs have nothing to do with, by their
// hubs.
func (t *taking) tellElsewhere(j *applyJob, orphans map[string]int) {
	if n := orphans[""]; n > 0 {
		t.tell(j, "not taken back: "+count(n, "orphan")+": nothing renders them, and they do not say where they are from")
	}
	var hubs []string
	for _, hub := range slices.Sorted(maps.Keys(orphans)) {
		if hub != "" {
			hubs = append(hubs, fmt.Sprintf("%s (%d)", hub, orphans[hub]))
		}
	}
	if len(hubs) > 0 {
		t.tell(j, "not taken back: orphans from hubs that are not in the inputs: "+strings.Join(hubs, ", "))
	}
}

// tell says something once, for rows that are read again are judged again.
func (t *taking) tell(j *applyJob, line string) {
	if !slices.Contains(t.told, line) {
		t.told = append(t.told, line)
		_, _ = fmt.Fprintln(j.stderr, line)
	}
}

// narrow leaves everything out of a plan but what is meant.
func (t *taking) narrow(in *apply.Input) {
	in.Narrowed, in.KeepContent, in.TakeBack = true, !t.sync, true
	kept := map[apply.NodeKey]bool{}
	in.Nodes = slices.DeleteFunc(slices.Clone(in.Nodes), func(n *apply.Node) bool {
		kept[n.NodeKey] = n.Failed != nil && t.left(n.NodeKey)
		for i := range n.Objects {
			o := &n.Objects[i]
			o.LeftOut = o.LeftOut || !t.means(in.Live[o.Ref])
			kept[n.NodeKey] = kept[n.NodeKey] || !o.LeftOut
		}
		return !kept[n.NodeKey]
	})
	maps.DeleteFunc(in.Broken, func(key apply.NodeKey, _ error) bool { return !kept[key] })
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

// from tells whether some orphan is from a node of that name.
func (t *taking) from(node string) bool {
	return slices.ContainsFunc(t.orphans, func(o orphan.Orphan) bool { return o.From.Node == node })
}

// left tells whether a node left orphans behind that are meant.
func (t *taking) left(key apply.NodeKey) bool {
	return len(t.named) == 0 && slices.ContainsFunc(t.orphans, func(o orphan.Orphan) bool {
		return o.From.Namespace == key.Namespace && o.From.Node == key.Name
	})
}
