package decide

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// shop is a hub with ConfigMaps for its rows, all in one namespace.
type shop struct{ in *Input }

func newShop() *shop {
	return &shop{&Input{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Desired: Desired{Forms: []lynq.FormKey{{Name: "web"}}}, Observed: plan.Observed{Live: map[lynq.Ref]*tracking.Live{}}, Recorded: Recorded{Broken: map[lynq.NodeKey]error{}}}}
}

func shopRef(name string) lynq.Ref { return lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name} }

func shopNode(row string) lynq.NodeKey { return lynq.NodeKey{Namespace: "ns", Name: row + "-web"} }

// wants adds an active row.
func (s *shop) wants(row string, objects ...string) *plan.Node {
	n := &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: row, Namespace: shopNode(row).Namespace, Name: shopNode(row).Name}}
	for _, name := range objects {
		p := lynq.DefaultPolicy()
		n.Objects = append(n.Objects, plan.Object{Ref: shopRef(name), APIVersion: "v1", ID: name, Policy: &p, Owned: true, Digest: "d1"})
	}
	s.in.Desired.Nodes = append(s.in.Desired.Nodes, n)
	s.in.Desired.Active++
	return n
}

// has adds the inventory and the live objects of a row's node.
func (s *shop) has(row string, objects ...string) *inventory.Inventory {
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: row, Namespace: "ns", Name: row + "-web"}, UID: "inv-" + row, Finalizer: true}
	for _, name := range objects {
		inv.Entries = append(inv.Entries, inventory.Entry{
			Ref: shopRef(name), ID: name, APIVersion: "v1", UID: "uid-" + name, Digest: "d1", Fields: "f", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete, Patch: lynq.PatchApply},
		})
		s.in.Observed.Live[shopRef(name)] = &tracking.Live{
			Ref: shopRef(name), UID: types.UID("uid-" + name), Hub: "crm", PartOf: inventory.ID("ns", inventory.Name(inv.Node.Name)),
			Owners: []types.UID{types.UID(inv.UID)}, Fields: "f", DeletionPolicy: lynq.DeleteDelete, ResourceID: name,
		}
	}
	s.in.Recorded.Inventories = append(s.in.Recorded.Inventories, inv)
	return inv
}

// said describes a plan in words, with one line for each step.
func said(p *plan.Plan) []string {
	var lines []string
	for _, n := range p.Nodes {
		for _, s := range n.Steps {
			var ref lynq.Ref
			if s.Object != nil {
				ref = s.Object.Ref
			} else {
				ref = s.Entry.Ref
			}
			line := fmt.Sprintf("%s: %s %s %s", n.UID, ref.Name, s.Action, s.Reason)
			if s.Reason == plan.ReasonHeld {
				line += ": " + s.Message
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// heldOf returns a plan without the deletions that guards refuse.
func heldOf(p *plan.Plan) *plan.Plan { return &Hold([]plan.Plan{*p}, p.Hub, p.Refusals)[0] }

func TestHold(t *testing.T) {
	const held = "deletions are held (max-delete)"
	for name, tt := range map[string]struct {
		prepare  func(*shop)
		want     []string
		nodes    []lynq.NodeKey
		partly   []lynq.NodeKey
		deleted  int
		orphaned int
	}{
		"nodes that go stay, and the others converge": {
			prepare: func(s *shop) {
				s.has("a", "a1")
				s.has("b", "b1", "b2")
				s.in.Recorded.Inventories[1].Entries[1].Deletion = lynq.DeleteRetain
				s.has("c", "c1").Entries[0].Digest = "d0"
				s.wants("c", "c1")
				s.wants("d", "d1")
			},
			want:  []string{"c: c1 update Changed", "d: d1 create New"},
			nodes: []lynq.NodeKey{shopNode("a"), shopNode("b")}, deleted: 2, orphaned: 1,
		},
		"what a node that stays wants no more stays": {
			prepare: func(s *shop) {
				s.has("a", "a1")
				s.has("b", "b1", "b2", "b3")
				delete(s.in.Observed.Live, shopRef("b3"))
				s.wants("b", "b1")
			},
			want:  []string{"b: b1 keep UpToDate", "b: b2 skip Held: lynqctl keeps its entry: " + held, "b: b3 skip Held: lynqctl keeps its entry: " + held},
			nodes: []lynq.NodeKey{shopNode("a")}, partly: []lynq.NodeKey{shopNode("b")}, deleted: 2,
		},
		"an object moves between nodes that stay": {
			prepare: func(s *shop) {
				s.has("a", "a1")
				s.has("b", "b1", "x")
				s.has("c", "c1")
				s.wants("b", "b1")
				s.wants("c", "c1", "x")
			},
			want:  []string{"b: b1 keep UpToDate", "b: x release TakenOver", "c: c1 keep UpToDate", "c: x update Moved"},
			nodes: []lynq.NodeKey{shopNode("a")}, deleted: 1,
		},
		"a node that goes gives nothing away": {
			prepare: func(s *shop) {
				s.has("a", "a1", "x")
				s.wants("b", "b1", "x")
			},
			want:  []string{"b: b1 create New", "b: x skip Held: node ns/a-web has it, and is kept: " + held},
			nodes: []lynq.NodeKey{shopNode("a")}, deleted: 1,
		},
		"what was taken over already is none of its": {
			prepare: func(s *shop) {
				s.has("a", "a1", "x")
				s.has("b", "b1", "x").Entries[1].Digest = "d0" // it owns the object meanwhile
				s.wants("b", "b1", "x")
			},
			want:  []string{"b: b1 keep UpToDate", "b: x update Changed"},
			nodes: []lynq.NodeKey{shopNode("a")}, deleted: 1,
		},
		"a node that was deleted by hand stays": {
			prepare: func(s *shop) {
				s.has("a", "a1").Deleting = true
				s.wants("b", "b1")
			},
			want:  []string{"b: b1 create New"},
			nodes: []lynq.NodeKey{shopNode("a")}, deleted: 1,
		},
		"hooks do not run": {
			prepare: func(s *shop) {
				s.has("a", "a1").Hooks = []inventory.Entry{{Ref: lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "bye"}, ID: "bye", APIVersion: "batch/v1", Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}}
				s.wants("b")
			},
			nodes: []lynq.NodeKey{shopNode("a")}, deleted: 2,
		},
		"a node that failed to render stays failed": {
			prepare: func(s *shop) {
				s.has("a", "a1")
				s.has("b", "b1")
				s.wants("b").Fail(errors.New("no port"))
			},
			nodes: []lynq.NodeKey{shopNode("a")}, deleted: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			tt.prepare(s)
			whole := Decide(s.in, Limits{})
			if !whole.Holdable() {
				t.Fatalf("%s: %+v", name, whole.Refusals)
			}
			before := said(whole)
			p := heldOf(whole)
			if diff := cmp.Diff(tt.want, said(p)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			h := p.Held
			if !slices.Equal(h.Nodes, tt.nodes) || !slices.Equal(h.Partly, tt.partly) || h.Deleted != tt.deleted || h.Orphaned != tt.orphaned {
				t.Errorf("%s: held %+v", name, h)
			}
			if diff := cmp.Diff(before, said(whole)); diff != "" || whole.Held != nil {
				t.Errorf("%s: the plan itself changed:\n%s", name, diff)
			}
			if p.Refusals != nil || p.Whole != whole.Whole || len(h.Refusals) != 1 || h.Refusals[0].Guard != plan.GuardMaxDelete {
				t.Errorf("%s: %+v, %+v", name, p, h.Refusals)
			}
		})
	}
}

// TestHoldTombstones wants the tombstones of a hub to wait with its deletions, and those of
// other hubs not. An approval drops them too, because nobody saw them.
func TestHoldTombstones(t *testing.T) {
	t.Parallel()
	us, eu := lynq.HubKey{Namespace: "ns", Name: "us"}, lynq.HubKey{Namespace: "ns", Name: "eu"}
	refused := []plan.Refusal{{Guard: plan.GuardMaxDelete, Hub: us}}
	plans := []plan.Plan{{Hub: us, Refusals: refused}, {Hub: eu, Refusals: refused}, {Hub: us, After: true}, {Hub: eu, After: true}}
	said := func(plans []plan.Plan) (all []string) {
		for i := range plans {
			all = append(all, fmt.Sprintf("%s after: %t, refused: %t, held: %t", plans[i].Hub.Name, plans[i].After, len(plans[i].Refusals) > 0, plans[i].Held != nil))
		}
		return all
	}
	for name, tt := range map[string]struct{ got, want []string }{
		"held":         {said(Hold(plans, us, refused)), []string{"us after: false, refused: false, held: true", "eu after: false, refused: true, held: false", "eu after: true, refused: false, held: false"}},
		"approved":     {said(Approve(plans, us)), []string{"us after: false, refused: false, held: false", "eu after: false, refused: true, held: false", "eu after: true, refused: false, held: false"}},
		"of no hub":    {said(Hold(plans[1:], us, refused)), said(plans[1:])},
		"as they were": {said(plans), []string{"us after: false, refused: true, held: false", "eu after: false, refused: true, held: false", "us after: true, refused: false, held: false", "eu after: true, refused: false, held: false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, tt.got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestHeldWithoutRows checks that if no row is active, nothing remains to do.
func TestHeldWithoutRows(t *testing.T) {
	s := newShop()
	s.has("a", "a1")
	p := Decide(s.in, Limits{MaxDelete: limits.DefaultMaxDelete()})
	if !p.Holdable() {
		t.Fatalf("%+v", p.Refusals)
	}
	p = heldOf(p)
	if len(p.Nodes) != 0 || len(p.Counts) != 0 || p.Held.Guards() != "allow-empty" {
		t.Errorf("%+v, %+v", p, p.Held)
	}
}

// TestHoldable checks that a plan that is refused for more than its deletions is refused as
// a whole.
func TestHoldable(t *testing.T) {
	for want, guards := range map[bool][][]plan.Guard{
		true: {{plan.GuardEmpty}, {plan.GuardMaxDelete}, {plan.GuardEmpty, plan.GuardMaxDelete}},
		false: {
			{}, {plan.GuardOperator}, {plan.GuardLock}, {plan.GuardDeleting}, {plan.GuardDependent}, {plan.GuardMaxDelete, plan.GuardOperator}, {plan.GuardDependent, plan.GuardMaxDelete}, {"max-change"},
		},
	} {
		for _, names := range guards {
			p := plan.Plan{}
			for _, g := range names {
				p.Refusals = append(p.Refusals, plan.Refusal{Guard: g})
			}
			if p.Holdable() != want {
				t.Errorf("%v: %t", names, !want)
			}
		}
	}
}

// TestHeldAgain checks that an object of a node that would be deleted remains with it, even
// when steps of others are decided again.
func TestHeldAgain(t *testing.T) {
	s := newShop()
	s.has("a", "x", "y")
	s.wants("b", "x", "y")
	there := s.in.Observed.Live[shopRef("y")]
	delete(s.in.Observed.Live, shopRef("y"))
	whole := Decide(s.in, Limits{})
	p := heldOf(whole)
	for i, want := range []verdict{{plan.ActionSkip, plan.ReasonHeld}, {plan.ActionBlock, plan.ReasonForeign}} {
		t.Run(string(want.Action), func(t *testing.T) {
			step := &p.Nodes[0].Steps[i]
			now := step.Live
			if now == nil {
				now = there // it comes back
			}
			again, _ := Recheck(p, &p.Nodes[0], nil, step, now)
			if got := (verdict{again.Action, again.Reason}); got != want || again.Live != now {
				t.Errorf("%s: %v (%s), want %v", step.Object.Ref, got, again.Message, want)
			}
		})
	}
	step := &whole.Nodes[0].Steps[1]
	if again, _ := Recheck(whole, &whole.Nodes[0], nil, step, there); again.Reason != plan.ReasonMoved {
		t.Errorf("the whole plan: %s (%s)", again.Action, again.Reason)
	}
}

// TestHeldDigest checks that the digest covers exactly the deletions.
func TestHeldDigest(t *testing.T) {
	digest := func(change func(*shop)) string {
		s := newShop()
		s.has("a", "a1")
		s.has("b", "b1", "b2")
		s.has("c", "c1")
		s.wants("b", "b1")
		s.wants("c", "c1")
		change(s)
		return heldOf(Decide(s.in, Limits{})).Held.Digest
	}
	same := digest(func(*shop) {})
	for name, tt := range map[string]struct {
		change func(*shop)
		same   bool
	}{
		"another order":        {func(s *shop) { slices.Reverse(s.in.Recorded.Inventories); slices.Reverse(s.in.Desired.Nodes) }, true},
		"another value":        {func(s *shop) { s.in.Desired.Nodes[0].Objects[0].Digest = "d2" }, true},
		"one more row":         {func(s *shop) { s.wants("d", "d1") }, true},
		"drift":                {func(s *shop) { s.in.Observed.Live[shopRef("c1")].Fields = "f2" }, true},
		"drift of what goes":   {func(s *shop) { s.in.Observed.Live[shopRef("a1")].Fields = "f2" }, true},
		"one more goes":        {func(s *shop) { s.has("d", "d1") }, false},
		"one goes without any": {func(s *shop) { s.has("d") }, false},
		"one comes back":       {func(s *shop) { s.wants("a", "a1") }, false},
		"one goes whole":       {func(s *shop) { s.in.Desired.Nodes = s.in.Desired.Nodes[1:] }, false},
		"another row":          {func(s *shop) { s.in.Recorded.Inventories[0].Node.UID = "A" }, false},
		"another object": {func(s *shop) {
			s.in.Observed.Live[shopRef("a1")].UID, s.in.Recorded.Inventories[0].Entries[0].UID = "u", "u"
		}, false},
		"one object more":  {func(s *shop) { s.in.Desired.Nodes[0].Objects = nil }, false},
		"one object gone":  {func(s *shop) { delete(s.in.Observed.Live, shopRef("a1")) }, false},
		"kept from now on": {func(s *shop) { s.in.Recorded.Inventories[0].Entries[0].Deletion = lynq.DeleteRetain }, false},
		"another hub":      {func(s *shop) { s.in.Hub.Name = "erp" }, false},
		"another guard":    {func(s *shop) { s.in.Desired.Active = 0 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := digest(tt.change); (got == same) != tt.same {
				t.Errorf("%s: %s, before %s", name, got, same)
			}
		})
	}
}

// randomShop returns a random hub.
func randomShop(r *rand.Rand) *shop {
	s := newShop()
	names := func(from string, odds int) []string {
		var some []string
		for i := range 4 {
			if r.IntN(odds) == 0 {
				some = append(some, fmt.Sprint(from, i))
			}
		}
		return some
	}
	free := map[string]bool{}
	rows := []string{"a", "b", "c", "d", "e"}
	for _, row := range rows {
		if r.IntN(4) > 0 {
			inv := s.has(row, names(rows[r.IntN(len(rows))], 2)...)
			inv.Deleting = r.IntN(5) == 0
			if r.IntN(3) == 0 {
				s.leavesSince(inv, hour(r.IntN(12)))
			}
			if r.IntN(4) == 0 {
				inv.DependForms = []string{"web"}
			}
			for i := range inv.Entries {
				inv.Entries[i].Deletion = lynq.DeletionPolicies()[r.IntN(len(lynq.DeletionPolicies()))]
			}
			if r.IntN(3) == 0 {
				inv.Hooks = []inventory.Entry{{Ref: lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: row}, ID: "bye", APIVersion: "batch/v1", Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}}
				inv.Hooks[0].Phase = []inventory.Phase{"", inventory.PhaseRunning, inventory.PhaseFailed, inventory.PhaseCompleted}[r.IntN(4)]
			}
		}
		if r.IntN(2) == 0 {
			objects := slices.DeleteFunc(names(rows[r.IntN(len(rows))], 2), func(name string) bool {
				taken := free[name]
				free[name] = true
				return taken
			})
			n := s.wants(row, objects...)
			switch r.IntN(6) {
			case 0:
				n.Fail(errors.New("no port"))
			case 1:
				n.NotIncluded = names(row, 2)
			}
		}
	}
	s.in.Now = hour(12)
	if r.IntN(2) == 0 {
		s.in.Desired.Grace = map[lynq.FormKey]time.Duration{{Name: "web"}: time.Duration(r.IntN(15)) * time.Hour}
	}
	live := slices.SortedFunc(maps.Keys(s.in.Observed.Live), func(a, b lynq.Ref) int { return strings.Compare(a.String(), b.String()) })
	for _, ref := range live { // in order, so that the same seed gives the same shop
		*s.in.Observed.Live[ref] = *somehow(r, s.in.Observed.Live[ref])
	}
	for _, ref := range live {
		if r.IntN(6) == 0 {
			delete(s.in.Observed.Live, ref)
		}
	}
	return s
}

// somehow returns a variation of an object, or nil.
func somehow(r *rand.Rand, l *tracking.Live) *tracking.Live {
	now := *l
	switch r.IntN(8) {
	case 0:
		now.Fields = "f2"
	case 1:
		now.Unmanaged = true
	case 2:
		now.Deleting, now.Few = true, &tracking.Rare{Ending: "is being deleted"}
	case 3:
		now.UID += "-2"
	case 4:
		now.Few = &tracking.Rare{Foreign: "Kustomization a/b"}
	case 5:
		now.PartOf, now.Owners = "", nil
	}
	return &now
}

// FuzzHold checks that no step of a plan without its deletions deletes or
// releases an object of a node, planned or decided again. The plan has no new steps.
func FuzzHold(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(holdsDeletions)
}

// TestHoldAnything runs FuzzHold for many seeds.
func TestHoldAnything(t *testing.T) {
	for seed := range uint64(3000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { holdsDeletions(t, seed) })
	}
}

func holdsDeletions(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	s := randomShop(r)
	whole := Decide(s.in, Limits{})
	p := heldOf(whole)
	planned := map[lynq.NodeKey]*plan.NodePlan{}
	for i := range whole.Nodes {
		planned[whole.Nodes[i].Key()] = &whole.Nodes[i]
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		from := planned[n.Key()]
		if from == nil || from.Desired != n.Desired || n.Desired == nil || len(from.Steps) != len(n.Steps) {
			t.Fatalf("node %+v was planned as %+v", n, from)
		}
		for j := range n.Steps {
			step := &n.Steps[j]
			sameStep(t, &from.Steps[j], step)
			noDeletion(t, p, step)
			for _, now := range []*tracking.Live{nil, step.Live} {
				if now != nil {
					now = somehow(r, now)
				}
				again, _ := Recheck(p, n, n.Inventory, step, now)
				noDeletion(t, p, &again)
			}
		}
	}
	if other := heldOf(Decide(s.in, Limits{})); other.Held.Digest != p.Held.Digest {
		t.Errorf("digests %s and %s of one plan", p.Held.Digest, other.Held.Digest)
	}
}

// sameStep requires that a step is as planned, or held.
func sameStep(t *testing.T, planned, s *plan.Step) {
	t.Helper()
	if s.Object != planned.Object || s.Entry != planned.Entry || s.Live != planned.Live {
		t.Errorf("planned %+v, and it is %+v", planned, s)
	}
	if held := s.Action == plan.ActionSkip && s.Reason == plan.ReasonHeld; !held && *s != *planned {
		t.Errorf("planned %+v, and it is %+v", planned, s)
	}
}

// noDeletion requires that a node keeps its objects, unless a kept node takes them over.
func noDeletion(t *testing.T, p *plan.Plan, s *plan.Step) {
	t.Helper()
	if s.Object != nil {
		return
	}
	switch s.Action {
	case plan.ActionSkip, plan.ActionKeep:
	case plan.ActionRelease:
		if s.To == nil && s.Reason != plan.ReasonAlreadyGone || s.To != nil && !slices.ContainsFunc(p.Nodes, func(n plan.NodePlan) bool { return n.Key() == *s.To }) {
			t.Errorf("%s is let go: %+v", s.Entry.Ref, s)
		}
	default:
		t.Errorf("%s is held, and its step is %s (%s)", s.Entry.Ref, s.Action, s.Reason)
	}
}
