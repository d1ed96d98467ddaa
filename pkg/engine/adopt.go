package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// AdoptOptions say which orphans are adopted.
type AdoptOptions struct {
	ApplyOptions
	Named map[lynq.Ref]bool // empty for all
	// Sync: their content becomes what the form says, too.
	Sync bool
}

// Adopt adopts orphans that rows and forms render.
func (e *Engine) Adopt(ctx context.Context, o *AdoptOptions) error {
	return e.withApplyJob(ctx, &o.ApplyOptions, func(ctx context.Context, j *applyJob) error {
		orphans, err := j.findOrphans(ctx, orphan.Query{Now: time.Now(), Namespace: namespaceOf(o.Named)})
		if err != nil {
			return err
		}
		j.adopting = &adopting{named: o.Named, sync: o.Sync, orphans: orphans}
		return j.perform(ctx)
	})
}

// adopting narrows a run of apply to adopting orphans.
type adopting struct {
	named   map[lynq.Ref]bool // empty for all
	sync    bool
	orphans []orphan.Orphan
	told    []string // of those that are not adopted
	// recorded, where it is not nil, are objects whose inventories were rebuilt,
	// which are meant in place of orphans.
	recorded map[lynq.Ref]bool
}

// judge tells which orphans are not adopted, and why, and whether any is. One
// that was named and cannot be is an error.
func (t *adopting) judge(j *applyJob) (some bool, err error) {
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
		} else if why != "" && len(j.o.Forms) > 0 {
			why += " (of the forms of --form)"
		}
		switch named := t.named[o.Ref]; {
		case why == "":
			some = some || named || len(t.named) == 0
		case named:
			errs = append(errs, fmt.Errorf("%s cannot be adopted: %s", o.Full(), why))
		case len(t.named) > 0 || !j.mayBeOf(o):
		case wanted.Concerns(o):
			t.tell(j, "not adopted: "+o.Full()+": "+why)
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
		return false, &Error{Outcome: BadInput, Err: inOrder(errs), Summary: "nothing was touched"}
	}
	t.tellElsewhere(j, elsewhere)
	return some, nil
}

// tellElsewhere tells of orphans that the inputs have nothing to do with, by their
// hubs.
func (t *adopting) tellElsewhere(j *applyJob, orphans map[string]int) {
	if n := orphans[""]; n > 0 {
		t.tell(j, "not adopted: "+lynq.Count(n, "orphan")+": nothing renders them, and they do not say where they are from")
	}
	var hubs []string
	for _, hub := range slices.Sorted(maps.Keys(orphans)) {
		if hub != "" {
			hubs = append(hubs, fmt.Sprintf("%s (%d)", hub, orphans[hub]))
		}
	}
	if len(hubs) > 0 {
		t.tell(j, "not adopted: orphans from hubs that are not in the inputs: "+strings.Join(hubs, ", "))
	}
}

// tell says something once, for rows that are read again are judged again.
func (t *adopting) tell(j *applyJob, line string) {
	if !slices.Contains(t.told, line) {
		t.told = append(t.told, line)
		j.notef("%v", line)
	}
}

// narrow leaves everything out of a plan but what is meant.
func (t *adopting) narrow(in *plan.Input) {
	in.Narrowed, in.KeepContent, in.TakeBack = true, !t.sync, true
	kept := map[plan.NodeKey]bool{}
	in.Nodes = slices.DeleteFunc(slices.Clone(in.Nodes), func(n *plan.Node) bool {
		kept[n.NodeKey] = n.Failed != nil && t.left(n.NodeKey)
		for i := range n.Objects {
			o := &n.Objects[i]
			o.LeftOut = o.LeftOut || !t.means(in.Live[o.Ref])
			kept[n.NodeKey] = kept[n.NodeKey] || !o.LeftOut
		}
		return !kept[n.NodeKey]
	})
	maps.DeleteFunc(in.Broken, func(key plan.NodeKey, _ error) bool { return !kept[key] })
}

// means tells whether an object is adopted.
func (t *adopting) means(l *plan.Live) bool {
	switch {
	case l == nil:
		return false
	case t.recorded != nil:
		return t.recorded[l.Ref]
	}
	return l.Orphaned && (len(t.named) == 0 || t.named[l.Ref])
}

// from tells whether some orphan is from a node of that name.
func (t *adopting) from(node string) bool {
	return slices.ContainsFunc(t.orphans, func(o orphan.Orphan) bool { return o.From.Node == node })
}

// left tells whether a node left orphans behind that are meant.
func (t *adopting) left(key plan.NodeKey) bool {
	return len(t.named) == 0 && slices.ContainsFunc(t.orphans, func(o orphan.Orphan) bool {
		return o.From.Namespace == key.Namespace && o.From.Node == key.Name
	})
}
