package applycmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Adopting narrows a run of apply to adopting orphans.
type Adopting struct {
	Named map[lynq.Ref]bool // empty means all
	Sync  bool
	Found orphan.Found
	told  []string // notes about orphans that the run doesn't adopt
	// Recorded, if not nil, lists objects whose inventories rebuild wrote. The run then
	// adopts these objects instead of orphans.
	Recorded map[lynq.Ref]bool
}

// judge says which orphans the run doesn't adopt, and why. some reports whether the run
// adopts any. If the user named an orphan that lynqctl can't adopt, judge returns an error.
func (t *Adopting) judge(r *Rendered) (some bool, err error) {
	wanted := orphan.NewWanted(load.HubNames(r.Hubs), r.wanted())
	missing := maps.Clone(t.Named)
	elsewhere := map[string]int{} // orphans of other hubs
	var errs []error
	for i := range t.Found.Orphans {
		o := &t.Found.Orphans[i]
		delete(missing, o.Ref)
		why := wanted.Why(o)
		if why != "" && !mayBeOf(r, o) {
			why = "it isn't from a node of --node"
		} else if why != "" && len(r.Options.Inputs.Forms) > 0 {
			why += " (of the forms of --form)"
		}
		switch named := t.Named[o.Ref]; {
		case why == "":
			some = some || named || len(t.Named) == 0
		case named:
			errs = append(errs, fmt.Errorf("%s cannot be adopted: %s", o.Full(), why))
		case len(t.Named) > 0 || !mayBeOf(r, o):
		case wanted.Concerns(o):
			t.tell(r.Job, "not adopted: "+o.Full()+": "+why)
		default:
			elsewhere[o.From.Hub.Name]++
		}
	}
	if unknown := slices.DeleteFunc(slices.Clone(r.missing), t.from); len(unknown) > 0 {
		errs = append(errs, load.UnknownNodes(unknown, render.FormNames(load.AllPrograms(r.Hubs))))
	}
	for ref := range missing {
		errs = append(errs, session.NoSuchOrphan(ref, &t.Found, "lynqctl orphans list -A -o name lists them"))
	}
	if len(errs) > 0 {
		return false, &session.Error{Outcome: session.BadInput, Err: session.InOrder(errs), Summary: "nothing changed"}
	}
	t.tellElsewhere(r.Job, elsewhere)
	return some, nil
}

// tellElsewhere notes orphans of other hubs, with a count for each hub.
func (t *Adopting) tellElsewhere(j *Job, orphans map[string]int) {
	if n := orphans[""]; n > 0 {
		t.tell(j, "not adopted: "+phrase.Count(n, "orphan")+": nothing renders them, and they don't say where they are from")
	}
	var hubs []string
	for _, hub := range slices.Sorted(maps.Keys(orphans)) {
		if hub != "" {
			hubs = append(hubs, fmt.Sprintf("%s (%d)", hub, orphans[hub]))
		}
	}
	if len(hubs) > 0 {
		t.tell(j, "not adopted: orphans from hubs that aren't in your files: "+strings.Join(hubs, ", "))
	}
}

// tell writes a note once. A run that reads its rows again also judges them again.
func (t *Adopting) tell(j *Job, line string) {
	if !slices.Contains(t.told, line) {
		t.told = append(t.told, line)
		j.Engine.Notef("%v", line)
	}
}

// narrow limits a plan to the selected orphans.
func (t *Adopting) narrow(in *decide.Input) {
	in.Scope.Narrowed, in.Options.KeepContent, in.Options.AdoptOrphans = true, !t.Sync, true
	kept := map[lynq.NodeKey]bool{}
	in.Desired.Nodes = slices.DeleteFunc(slices.Clone(in.Desired.Nodes), func(n *plan.Node) bool {
		kept[n.Key()] = n.Failed != nil && t.left(n.Key())
		for i := range n.Objects {
			o := &n.Objects[i]
			o.LeftOut = o.LeftOut || !t.means(in.Observed.Live[o.Ref]) || t.completes(in, n.Key(), o)
			kept[n.Key()] = kept[n.Key()] || !o.LeftOut
		}
		return !kept[n.Key()]
	})
	maps.DeleteFunc(in.Recorded.Broken, func(key lynq.NodeKey, _ error) bool { return !kept[key] })
}

// means reports whether the run adopts an object.
func (t *Adopting) means(l *tracking.Live) bool {
	switch {
	case l == nil:
		return false
	case t.Recorded != nil:
		return t.Recorded[l.Ref]
	}
	return l.Orphaned && (len(t.Named) == 0 || t.Named[l.Ref])
}

// completes reports whether apply would delete an object because its work is done. Only
// apply may do that: adopt deletes nothing.
func (*Adopting) completes(in *decide.Input, node lynq.NodeKey, o *plan.Object) bool {
	return slices.ContainsFunc(in.Recorded.Inventories, func(inv *inventory.Inventory) bool {
		if inv.Node.Key() != node {
			return false
		}
		r, known := inventory.Find(inv.Entries, o.Ref)
		return known && r.Phase == inventory.PhaseCompleted
	})
}

// from reports whether an orphan came from a node of this name.
func (t *Adopting) from(node string) bool {
	return slices.ContainsFunc(t.Found.Orphans, func(o orphan.Orphan) bool { return o.From.Name == node })
}

// left reports whether a node left selected orphans behind.
func (t *Adopting) left(key lynq.NodeKey) bool {
	return len(t.Named) == 0 && slices.ContainsFunc(t.Found.Orphans, func(o orphan.Orphan) bool {
		return o.From.Key() == key
	})
}
