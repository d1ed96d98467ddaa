package plan_test

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// claim returns an object with data, and config one without.
func claim() lynq.Ref {
	return lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "acme"}
}
func config() lynq.Ref { return lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"} }

// stepOf returns a step with every field. A form purges its object, or recreates it to
// change it.
func stepOf(a plan.Action, ref lynq.Ref) plan.Step {
	policy := &lynq.Policy{PurgeOrder: new(int)}
	policy.Patch = lynq.PatchRecreate
	return plan.Step{
		Action: a, Object: &plan.Object{Ref: ref, Policy: policy},
		Entry: &inventory.Entry{Ref: ref, UID: "u1"}, Live: &tracking.Live{Ref: ref, UID: "u1"},
	}
}

// actions returns all actions.
func actions() []plan.Action {
	return []plan.Action{
		plan.ActionCreate, plan.ActionUpdate, plan.ActionRecreate, plan.ActionAdopt, plan.ActionTrack, plan.ActionKeep, plan.ActionSkip,
		plan.ActionBlock, plan.ActionDelete, plan.ActionOrphan, plan.ActionRelease, plan.ActionPurge, plan.ActionCollect,
	}
}

// those returns the actions for which a property of a step holds.
func those(change func(*plan.Step), holds func(*plan.Step) bool) []plan.Action {
	var all []plan.Action
	for _, a := range actions() {
		s := stepOf(a, config())
		change(&s)
		if holds(&s) {
			all = append(all, a)
		}
	}
	return all
}

func same(t *testing.T, what string, got []plan.Action, want ...plan.Action) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestStepsThatDelete checks the actions on an existing object. The same methods decide
// which deletions the user must confirm and guards count.
func TestStepsThatDelete(t *testing.T) {
	t.Parallel()
	as := func(*plan.Step) {}
	unseen := func(s *plan.Step) { s.Live = nil }
	because := func(r plan.Reason) func(*plan.Step) { return func(s *plan.Step) { s.Reason = r } }
	deletes, purges, writes, recreates := (*plan.Step).Deletes, (*plan.Step).Purges, (*plan.Step).Writes, (*plan.Step).Recreates

	same(t, "deletes", those(as, deletes), plan.ActionRecreate, plan.ActionDelete, plan.ActionPurge, plan.ActionCollect)
	same(t, "deletes what is not there", those(unseen, deletes))
	hook := func(s *plan.Step) { s.Object.Policy.RunOn = lynq.RunOnDelete }
	same(t, "deletes, of hooks", those(hook, deletes), plan.ActionCreate, plan.ActionRecreate, plan.ActionDelete, plan.ActionPurge, plan.ActionCollect)
	same(t, "deletes no object of the form", those(func(s *plan.Step) { s.Object = nil }, deletes), plan.ActionRecreate, plan.ActionDelete, plan.ActionPurge, plan.ActionCollect)

	same(t, "deletes a hook that is not there", those(func(s *plan.Step) { hook(s); unseen(s) }, deletes))
	for _, a := range actions() {
		s := stepOf(a, config())
		s.Object.Policy.PurgeOrder = nil
		if got := plan.Deletes([]plan.Plan{{Nodes: []plan.NodePlan{{Steps: []plan.Step{s}}}}}); got != s.Deletes() {
			t.Errorf("a plan with %s deletes: %t", a, got)
		}
	}
	keeps := stepOf(plan.ActionKeep, config())
	if !plan.Deletes([]plan.Plan{{Nodes: []plan.NodePlan{{Steps: []plan.Step{keeps}}}}}) {
		t.Error("a plan that purges an object deletes nothing")
	}

	var purged []plan.Action
	for _, a := range actions() {
		if a != plan.ActionSkip && a != plan.ActionBlock && a != plan.ActionAdopt {
			purged = append(purged, a)
		}
	}
	same(t, "purges", those(as, purges), purged...)
	same(t, "purges what it adopted", those(func(s *plan.Step) { s.Adopted = true }, purges))
	same(t, "purges what no form has", those(func(s *plan.Step) { s.Object = nil }, purges))
	same(t, "purges without an order", those(func(s *plan.Step) { s.Object.Policy.PurgeOrder = nil }, purges))
	for _, r := range []plan.Reason{plan.ReasonLeftOut, plan.ReasonUnmanaged, plan.ReasonCompleted} {
		same(t, "purges: "+string(r), those(because(r), purges))
	}

	same(t, "writes", those(as, writes), plan.ActionUpdate, plan.ActionRecreate, plan.ActionAdopt, plan.ActionTrack)
	same(t, "writes what is not there", those(unseen, writes))
	same(t, "writes what is unmanaged", those(because(plan.ReasonUnmanaged), writes))

	same(t, "recreates", those(as, recreates), plan.ActionUpdate, plan.ActionRecreate)
	same(t, "recreates what is not there", those(unseen, recreates))
	same(t, "recreates what no form has", those(func(s *plan.Step) { s.Object = nil }, recreates))
	same(t, "recreates, and may not", those(func(s *plan.Step) { s.InPlace = "it holds data" }, recreates))
	same(t, "recreates by another strategy", those(func(s *plan.Step) { s.Object.Policy.Patch = lynq.PatchApply }, recreates))
}

// TestData checks that no guard and no strategy deletes data without the user's consent.
func TestData(t *testing.T) {
	t.Parallel()
	marked := &lynq.Policy{}
	marked.Data = true
	for name, o := range map[string]*plan.Object{"a volume": {Ref: claim(), Policy: &lynq.Policy{}}, "a marked object": {Ref: config(), Policy: marked}, "a volume without a policy": {Ref: claim()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if !o.HoldsData() {
				t.Errorf("%s holds no data", name)
			}
		})
	}
	if (&plan.Object{Ref: config(), Policy: &lynq.Policy{}}).HoldsData() || (&plan.Object{Ref: config()}).HoldsData() {
		t.Error("a ConfigMap holds data")
	}

	leaves := stepOf(plan.ActionDelete, claim())
	leaves.Object, leaves.Reason = nil, plan.ReasonRemoved
	for name, tt := range map[string]struct {
		change func(*plan.Step)
		want   bool
	}{
		"its form drops it":  {func(*plan.Step) {}, true},
		"its node goes":      {func(s *plan.Step) { s.Reason = plan.ReasonNodeGone }, false},
		"it is wanted":       {func(s *plan.Step) { s.Object = &plan.Object{Ref: claim()} }, false},
		"it is no data":      {func(s *plan.Step) { s.Entry = &inventory.Entry{Ref: config()} }, false},
		"it is not recorded": {func(s *plan.Step) { s.Entry = nil }, false},
		"it stays":           {func(s *plan.Step) { s.Action = plan.ActionOrphan }, false},
	} {
		s := leaves
		tt.change(&s)
		if s.Loss() != tt.want {
			t.Errorf("%s: it is a loss: %t", name, s.Loss())
		}
	}

	for a, want := range map[plan.Action]bool{plan.ActionDelete: true, plan.ActionCollect: true, plan.ActionOrphan: false} {
		s := leaves
		s.Action = a
		if p := (&plan.Plan{Nodes: []plan.NodePlan{{Steps: []plan.Step{s}}}}); p.TakesData() != want {
			t.Errorf("%s takes data: %t", a, !want)
		}
	}
	wanted := stepOf(plan.ActionDelete, claim())
	if p := (&plan.Plan{Nodes: []plan.NodePlan{{Steps: []plan.Step{wanted}}}}); p.TakesData() {
		t.Error("a step of a wanted object takes data")
	}
}

// allowing are rules with which the user lets lynqctl delete data, or doesn't.
type allowing bool

func (a allowing) IncludesData() bool { return bool(a) }

// lynqctl updates a StatefulSet in place if its claims would be deleted with it, unless the
// user passed the flag.
func TestWithClaims(t *testing.T) {
	t.Parallel()
	takes := map[string]any{"spec": map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": "Delete"}}}
	s := stepOf(plan.ActionRecreate, lynq.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "acme"})
	for _, p := range []*plan.Plan{{}, {Rules: allowing(false)}} {
		next := p.WithClaims(&s, takes)
		if next == nil || next.Action != plan.ActionUpdate || next.InPlace == "" || next.Recreates() {
			t.Errorf("it becomes %+v", next)
		}
		if other := p.WithClaims(&s, map[string]any{}); other != nil {
			t.Errorf("a StatefulSet that leaves its claims becomes %+v", other)
		}
	}
	if next := (&plan.Plan{Rules: allowing(true)}).WithClaims(&s, takes); next != nil {
		t.Errorf("with --include-data it becomes %+v", next)
	}
}

// A row that fails to render may need all objects that it had.
func TestFailedNodeClaims(t *testing.T) {
	t.Parallel()
	n := plan.Node{Objects: []plan.Object{{Ref: claim()}, {Ref: config()}}}
	n.Fail(errors.New("no column"))
	if !slices.Equal(n.Claims.Refs, []lynq.Ref{claim(), config()}) || len(n.Objects) > 0 || n.Failed == nil {
		t.Errorf("it claims %v, and has %v", n.Claims.Refs, n.Objects)
	}
}

// TestOwner checks the owner of an object: by labels in any namespace, by an owner
// reference to the inventory, or by the ApplySet. All of these require the label of the
// hub.
func TestOwner(t *testing.T) {
	t.Parallel()
	me := plan.NewOwner(lynq.NodeKey{Namespace: "shop", Name: "acme-web"}, lynq.HubKey{Namespace: "shop", Name: "crm"}, &inventory.Inventory{UID: "i1"})
	owned := tracking.Live{Hub: "crm", PartOf: me.PartOf, Owners: []types.UID{"i1"}}
	labelled := tracking.Live{Hub: "crm", PartOf: me.PartOf, Node: "acme-web", NodeNamespace: "shop"}
	for name, tt := range map[string]struct {
		of                                         tracking.Live
		change                                     func(*tracking.Live)
		collected, tracks, owns, holds, relabelled bool
		owns1, labels1                             bool // it matches a form that uses an owner reference, or one that uses labels
	}{
		"owned":                       {owned, func(*tracking.Live) {}, true, true, true, true, false, true, false},
		"owned with others":           {owned, func(l *tracking.Live) { l.Owners = []types.UID{"x", "i1"} }, false, true, true, true, false, true, false},
		"owned by another":            {owned, func(l *tracking.Live) { l.Owners = []types.UID{"x"} }, false, true, false, false, false, false, false},
		"owned alone":                 {owned, func(l *tracking.Live) { l.PartOf = "" }, true, true, true, false, false, false, false},
		"owned, of no hub":            {owned, func(l *tracking.Live) { l.Hub = "" }, true, false, true, true, false, false, false},
		"owned, another hub's":        {owned, func(l *tracking.Live) { l.Hub = "erp" }, true, false, true, true, true, false, false},
		"owned and labelled":          {owned, func(l *tracking.Live) { l.Node, l.NodeNamespace = "acme-web", "shop" }, true, true, true, true, false, false, false},
		"owned, a namespace":          {owned, func(l *tracking.Live) { l.NodeNamespace = "shop" }, true, true, true, true, false, false, false},
		"labelled":                    {labelled, func(*tracking.Live) {}, false, true, false, false, false, false, true},
		"labelled and owned":          {labelled, func(l *tracking.Live) { l.Owners = []types.UID{"i1"} }, true, true, true, true, false, false, false},
		"labelled alone":              {labelled, func(l *tracking.Live) { l.PartOf = "" }, false, true, false, false, false, false, false},
		"of another node":             {labelled, func(l *tracking.Live) { l.PartOf, l.Node = "", "bolt-web" }, false, false, false, false, false, false, false},
		"of another namespace":        {labelled, func(l *tracking.Live) { l.PartOf, l.NodeNamespace = "", "other" }, false, false, false, false, false, false, false},
		"part of it, of another node": {labelled, func(l *tracking.Live) { l.Node = "bolt-web" }, false, true, false, false, false, false, false},
		"part of it, elsewhere":       {labelled, func(l *tracking.Live) { l.NodeNamespace = "other" }, false, true, false, false, false, false, false},
		"nobody's":                    {tracking.Live{Hub: "crm"}, func(*tracking.Live) {}, false, false, false, false, false, false, false},
	} {
		l := tt.of
		tt.change(&l)
		got := []bool{
			me.Collected(&l), me.Tracks(&l), me.Owns(&l), me.Holds(&l), me.Relabelled(&l),
			me.Tracked(&plan.Object{Owned: true}, &l), me.Tracked(&plan.Object{}, &l),
		}
		want := []bool{tt.collected, tt.tracks, tt.owns, tt.holds, tt.relabelled, tt.owns1, tt.labels1}
		if !slices.Equal(got, want) {
			t.Errorf("%s: collected, tracks, owns, holds, relabelled, as owned, as labelled are %v, want %v", name, got, want)
		}
	}
	if unsaved := plan.NewOwner(me.NodeKey, me.Hub, nil); unsaved.Owns(&tracking.Live{Owners: []types.UID{""}}) {
		t.Error("a node without an inventory owns an object")
	}
}

// The entry of an earlier object proves nothing about a new one with its name. An adopted
// object stays adopted, and lynqctl never purges it.
func TestEntries(t *testing.T) {
	t.Parallel()
	s := stepOf(plan.ActionUpdate, config())
	s.Adopted = true
	*s.Entry = inventory.Entry{Ref: config(), UID: "u1", Digest: "d", ResourceVersion: "7", Ready: true}
	if r := s.NextEntry(); r.UID != "u1" || r.Digest != "d" || !r.Adopted || !r.Ready {
		t.Errorf("the same object: %+v", r)
	}
	s.Live.UID = "u2"
	if r := s.NextEntry(); r.UID != "" || r.Digest != "" || !r.Adopted {
		t.Errorf("another object: %+v", r)
	}
	if r := s.Begun(); r.UID != "" || !r.Adopted {
		t.Errorf("a write that failed: %+v", r)
	}
	if s.Adopted = false; s.Begun().Adopted || s.NextEntry().Adopted {
		t.Error("an object that the node made is recorded as adopted")
	}
	completed := stepOf(plan.ActionKeep, config())
	completed.Reason, completed.Live = plan.ReasonCompleted, nil
	*completed.Entry = inventory.Entry{Ref: config(), UID: "u1", Digest: "d", Phase: inventory.PhaseCompleted}
	if r := completed.NextEntry(); r.UID != "" || r.Phase != inventory.PhaseCompleted || r.Digest != "d" {
		t.Errorf("its work is done, and it is gone: %+v", r)
	}
	if r := plan.Purged(inventory.Entry{UID: "u1", Phase: inventory.PhaseCompleted}); r.UID != "" || r.Phase != inventory.PhaseCompleted {
		t.Errorf("purged: %+v", r)
	}
	retained := stepOf(plan.ActionSkip, config())
	retained.Object.Policy.Deletion = lynq.DeleteRetain
	if r := retained.Keeps(inventory.Entry{Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}); r.Deletion != lynq.DeleteRetain {
		t.Errorf("the form retains it from now on: %+v", r)
	}
	for r, want := range map[plan.Reason]bool{plan.ReasonExcluded: true, plan.ReasonForeign: false, plan.ReasonLeftOut: true} {
		t.Run(string(r), func(t *testing.T) {
			t.Parallel()

			s := stepOf(plan.ActionSkip, config())
			s.Reason = r
			if got := s.Keeps(inventory.Entry{Excluded: true}); got.Excluded != want {
				t.Errorf("%s: it is recorded as excluded: %t", r, got.Excluded)
			}
		})
	}
}

// The entry after a write names the written object. If lynqctl wrote only its tracking, the
// content may differ from the form.
func TestConfirms(t *testing.T) {
	t.Parallel()
	managed := func() (own, defaults string) { return "fields", "" }
	after := &plan.Wrote{Live: &tracking.Live{UID: "u2", ResourceVersion: "8", Generation: 2}, Managed: managed}
	s := stepOf(plan.ActionUpdate, config())
	s.Object.Digest, s.Object.Template = "d", "t"
	if r := s.Confirms(after); r.UID != "u2" || r.Digest != "d" || r.Template != "t" || r.ResourceVersion != "8" || r.Generation != 2 || r.Fields != "fields" {
		t.Errorf("after a write: %+v", r)
	}
	s.Action = plan.ActionTrack
	if r := s.Confirms(after); r.UID != "u2" || r.Digest != "" || r.Template != "" {
		t.Errorf("after its tracking alone was written: %+v", r)
	}
	s.Object.Policy.Creation = lynq.CreateOnce
	if r := s.Confirms(after); r.Digest != "d" {
		t.Errorf("of an object that is made once, its tracking was written: %+v", r)
	}

	s = stepOf(plan.ActionUpdate, config())
	s.Object.Digest = "d"
	*s.Entry = inventory.Entry{Ref: config(), UID: "u1", Digest: "d", ResourceVersion: "7", Fields: "before"}
	for name, tt := range map[string]struct {
		change func(*plan.Wrote)
		want   string // the hash of the fields
	}{
		"nothing changed": {func(*plan.Wrote) {}, "before"},
		"a write":         {func(w *plan.Wrote) { w.Unchanged = false }, "fields"},
		"another object":  {func(w *plan.Wrote) { w.Live.UID = "u2" }, "fields"},
		"another version": {func(w *plan.Wrote) { w.Live.ResourceVersion = "8" }, "fields"},
	} {
		w := &plan.Wrote{Live: &tracking.Live{UID: "u1", ResourceVersion: "7"}, Unchanged: true, Managed: managed}
		tt.change(w)
		if r := s.Confirms(w); r.Fields != tt.want || r.UID != string(w.Live.UID) || r.ResourceVersion != w.Live.ResourceVersion {
			t.Errorf("%s: %+v", name, r)
		}
	}
	s.Entry.Digest = "older"
	if r := s.Confirms(&plan.Wrote{Live: &tracking.Live{UID: "u1", ResourceVersion: "7"}, Unchanged: true, Managed: managed}); r.Digest != "d" {
		t.Errorf("the server has it as the form says by now: %+v", r)
	}
}

// lynqctl doesn't read a purged object, unless the form requires its work again.
func TestUnlooked(t *testing.T) {
	t.Parallel()
	policy := &lynq.Policy{PurgeOrder: new(int)}
	purged := inventory.Entry{Ref: config(), Digest: "d", Phase: inventory.PhaseCompleted}
	object := plan.Object{Ref: config(), Policy: policy, Digest: "d"}
	changed := object
	changed.Digest = "other"
	for name, tt := range map[string]struct {
		object   plan.Object
		entry    inventory.Entry
		deleting bool
		want     bool
	}{
		"its work is done":          {object, purged, false, true},
		"it is to work again":       {changed, purged, false, false},
		"its object may be there":   {object, inventory.Entry{Ref: config(), UID: "u1", Digest: "d", Phase: inventory.PhaseCompleted}, false, false},
		"it is not purged":          {object, inventory.Entry{Ref: config(), Digest: "d"}, false, false},
		"its inventory was deleted": {object, purged, true, false},
		"another object":            {plan.Object{Ref: claim(), Policy: policy}, purged, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := plan.Unlooked([]*plan.Node{{Objects: []plan.Object{tt.object}}}, []*inventory.Inventory{{Entries: []inventory.Entry{tt.entry}, Deleting: tt.deleting}})
			if got[config()] != tt.want {
				t.Errorf("%s: it is not looked for: %t", name, got[config()])
			}
		})
	}
}
