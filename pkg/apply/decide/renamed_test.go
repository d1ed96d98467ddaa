package decide

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// renames gives the rows of a shop new uids, or its form a new name.
func (s *shop) renames(uids map[string]string, forms map[lynq.FormKey]lynq.FormKey) {
	r := &lynq.Renames{Forms: forms, UIDs: uids, Active: map[string]bool{}}
	for _, n := range s.in.Desired.Nodes {
		r.Active[n.UID] = true
	}
	s.in.Desired.Exclude = map[lynq.FormKey]lynq.Exclusions{}
	if s.in.Desired.Grace == nil {
		s.in.Desired.Grace = map[lynq.FormKey]time.Duration{}
	}
	s.in.Rename(r)
}

func TestRenamed(t *testing.T) {
	uids := map[string]string{"a": "b"}
	for name, tt := range map[string]struct {
		prepare func(*shop)
		want    []string
		refused string
	}{
		"all objects keep their names": {
			func(s *shop) { s.has("a", "x", "y"); s.wants("b", "x", "y"); s.renames(uids, nil) },
			[]string{"b: x update Moved", "b: y update Moved", "a: x release TakenOver", "a: y release TakenOver"}, "",
		},
		"one has another name, and leaves as if its form had dropped it": {
			func(s *shop) {
				s.has("a", "x", "y").Entries[1].Deletion = lynq.DeleteRetainOnApply
				s.wants("b", "x", "z")
				s.renames(uids, nil)
			},
			[]string{"b: x update Moved", "b: z create New", "a: x release TakenOver", "a: y orphan Renamed"}, "",
		},
		"its data counts": {
			func(s *shop) {
				s.has("a", "x").Entries[0].Data = true
				s.has("c", "c1").Entries[0].Data = true
				s.wants("b", "z")
				s.wants("d", "d1")
				s.renames(map[string]string{"a": "b", "c": "d"}, nil)
			},
			[]string{"b: z create New", "d: d1 create New", "a: x delete Renamed", "c: c1 delete Renamed"}, "max-delete",
		},
		"the node of an active row is that row's": {
			func(s *shop) { s.has("a", "x"); s.wants("a", "x"); s.wants("b", "x2"); s.renames(uids, nil) },
			[]string{"a: x keep UpToDate", "b: x2 create New"}, "",
		},
		"the row that had the uid is inactive": {
			func(s *shop) { s.has("a", "x"); s.wants("c", "c1"); s.renames(uids, nil) },
			[]string{"c: c1 create New", "a: x delete NodeGone"}, "",
		},
		"the new node can't be rendered": {
			func(s *shop) { s.has("a", "x"); s.wants("b", "x").Fail(errors.New("bad")); s.renames(uids, nil) },
			[]string{"a: x skip RowUnknown"}, "",
		},
		"hooks are of the new node, and do not run": {
			func(s *shop) {
				inv := s.has("a", "x")
				inv.Hooks = []inventory.Entry{{Ref: shopRef("h"), ID: "h", Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}}
				s.wants("b", "x")
				s.renames(uids, nil)
			},
			[]string{"b: x update Moved", "a: x release TakenOver", "a: h release NotRun"}, "",
		},
		"what did its work does not do it again": {
			func(s *shop) {
				inv := s.has("a", "x")
				delete(s.in.Observed.Live, shopRef("x"))
				inv.Entries[0].UID, inv.Entries[0].Phase = "", inventory.PhaseCompleted
				s.wants("b", "x").Objects[0].Policy.PurgeOrder = new(int)
				s.renames(uids, nil)
			},
			[]string{"b: x keep Completed", "a: x release Completed"}, "",
		},
		"not by another name either, if it is created once": {
			func(s *shop) {
				inv := s.has("a", "x")
				delete(s.in.Observed.Live, shopRef("x"))
				inv.Entries[0].UID, inv.Entries[0].Phase, inv.Entries[0].Creation = "", inventory.PhaseCompleted, lynq.CreateOnce
				o := &s.wants("b", "x2").Objects[0]
				o.ID, o.Policy.PurgeOrder, o.Policy.Creation = "x", new(int), lynq.CreateOnce
				s.renames(uids, nil)
			},
			[]string{"b: x2 keep Completed", "a: x release Completed"}, "",
		},
		"an inventory in another namespace doesn't say what was done": {
			func(s *shop) {
				inv := s.has("a", "x")
				delete(s.in.Observed.Live, shopRef("x"))
				inv.Node.Namespace = "others"
				inv.Entries[0].UID, inv.Entries[0].Phase, inv.Entries[0].Creation = "", inventory.PhaseCompleted, lynq.CreateOnce
				o := &s.wants("b", "x").Objects[0]
				o.Policy.PurgeOrder, o.Policy.Creation = new(int), lynq.CreateOnce
				s.wants("c", "c1")
				s.renames(uids, nil)
			},
			[]string{"b: x create New", "c: c1 create New", "a: x release Completed"}, "",
		},
		"a run of the old node alone": {
			func(s *shop) {
				s.has("a", "x")
				n := s.wants("b", "x")
				s.renames(uids, nil)
				s.in.Desired.Nodes, s.in.Scope.Only = nil, map[string]bool{"a-web": true}
				_ = n
			},
			nil, "",
		},
		"a run of the new node alone": {
			func(s *shop) {
				s.has("a", "x")
				s.wants("b", "x")
				s.renames(uids, nil)
				s.in.Scope.Only = map[string]bool{"b-web": true}
			},
			[]string{"b: x update Moved", "a: x release TakenOver"}, "",
		},
		"a run with a selector": {
			func(s *shop) { s.has("a", "x"); s.wants("b", "x"); s.renames(uids, nil); s.in.Scope.Narrowed = true },
			[]string{"b: x block Foreign"}, "",
		},
		"a form": {
			func(s *shop) {
				s.has("a", "x")
				s.has("c", "c1")
				s.wants("a", "x").Form.Name = "site"
				s.in.Desired.Nodes[0].Name, s.in.Desired.Forms = "a-site", []lynq.FormKey{{Name: "site"}}
				s.renames(nil, map[lynq.FormKey]lynq.FormKey{{Name: "web"}: {Name: "site"}})
			},
			[]string{"a: x update Moved", "a: x release TakenOver", "c: c1 delete NodeGone"}, "",
		},
		"what is left behind is kept for its grace period": {
			func(s *shop) {
				s.has("a", "x", "y")
				s.wants("b", "x", "z")
				s.in.Now, s.in.Desired.Grace = hour(12), map[lynq.FormKey]time.Duration{{Name: "web"}: 3 * time.Hour}
				s.renames(uids, nil)
			},
			[]string{"a leaves since 12:00 until 15:00, newly", "b: x update Moved", "b: z create New"}, "",
		},
		"and leaves then": {
			func(s *shop) {
				s.leavesSince(s.has("a", "x", "y"), hour(8))
				s.wants("b", "x", "z")
				s.in.Now, s.in.Desired.Grace = hour(12), map[lynq.FormKey]time.Duration{{Name: "web"}: 3 * time.Hour}
				s.renames(uids, nil)
			},
			[]string{"b: x update Moved", "b: z create New", "a: x release TakenOver", "a: y delete Renamed"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			tt.prepare(s)
			p := Decide(s.in, Limits{MaxDelete: limits.MaxDelete{Nodes: 1}})
			if d := cmp.Diff(tt.want, graceSaid(p)); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
			var refused string
			for _, r := range p.Refusals {
				refused += string(r.Guard)
			}
			if refused != tt.refused {
				t.Errorf("%s: refused %q, want %q", name, refused, tt.refused)
			}
			for i := range p.Nodes {
				if n := &p.Nodes[i]; n.Moves() && (len(n.After) != 1 || n.After[0] != n.Next) {
					t.Errorf("%s: node %s goes on as %s, and waits for %v", name, n, n.Next, n.After)
				}
			}
		})
	}
}

// TestRenamedPassesGuards checks that renaming all nodes deletes none of them.
func TestRenamedPassesGuards(t *testing.T) {
	s := newShop()
	uids := map[string]string{}
	for _, row := range []string{"a", "b", "c", "d"} {
		s.has(row, row+"1")
		s.wants(row+"2", row+"1")
		uids[row] = row + "2"
	}
	s.renames(uids, nil)
	p := Decide(s.in, Limits{})
	if len(p.Refusals) > 0 || p.Counts[plan.ActionDelete] > 0 {
		t.Errorf("refusals %v, counts %v", p.Refusals, p.Counts)
	}
	p.Refusals = []plan.Refusal{{Guard: plan.GuardMaxDelete}}
	if held := heldOf(p); held.Counts[plan.ActionUpdate] != 4 || len(held.Held.Nodes)+len(held.Held.Partly) > 0 {
		t.Errorf("with deletions held: counts %v, held %+v", held.Counts, held.Held)
	}
}

// TestMovesBetweenHubs checks that if a row moves to another hub of the run, its node
// continues there, provided that hub renders all of its objects.
func TestMovesBetweenHubs(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(us, eu *shop)
		us, eu  []string
		refused bool
	}{
		"all of it moves": {
			func(us, eu *shop) { us.has("a", "x", "y"); eu.wants("a", "x", "y") },
			[]string{"a: x release TakenOver", "a: y release TakenOver"}, []string{"a: x update Moved", "a: y update Moved"}, false,
		},
		"something is left behind": {
			func(us, eu *shop) { us.has("a", "x", "y"); eu.wants("a", "x") },
			[]string{"a: x release TakenOver", "a: y delete NodeGone"}, []string{"a: x update Moved"}, true,
		},
		"what is left behind is retained": {
			func(us, eu *shop) {
				us.has("a", "x", "y").Entries[1].Deletion = lynq.DeleteRetainOnDelete
				eu.wants("a", "x")
			},
			[]string{"a: x release TakenOver", "a: y orphan Renamed"}, []string{"a: x update Moved"}, false,
		},
		"the row can't be rendered there": {
			func(us, eu *shop) { us.has("a", "x"); eu.wants("a", "x").Fail(errors.New("bad")) },
			[]string{"a: x skip RowUnknown"}, nil, false,
		},
		"another row has it there": {
			func(us, eu *shop) { us.has("a", "x"); eu.wants("b", "x") },
			[]string{"a: x release TakenOver"}, []string{"b: x update Moved"}, true,
		},
		"the row is active here": {
			func(us, eu *shop) { us.has("a", "x"); us.wants("a", "y"); eu.wants("a", "x") },
			[]string{"a: y create New", "a: x release TakenOver"}, []string{"a: x update Moved"}, false,
		},
		"the row is active here, and the run leaves its node out": {
			func(us, eu *shop) {
				us.has("a", "x")
				us.in.Desired.Renames, us.in.Scope.Only = &lynq.Renames{Active: map[string]bool{"a": true}}, map[string]bool{}
				eu.wants("a", "x")
			},
			nil, []string{"a: x block Foreign"}, false,
		},
		"a grace period": {
			func(us, eu *shop) {
				us.has("a", "x")
				us.in.Now, us.in.Desired.Grace = hour(12), map[lynq.FormKey]time.Duration{{Name: "web"}: time.Hour}
				eu.wants("a", "x")
			},
			[]string{"a: x release TakenOver"}, []string{"a: x update Moved"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			us, eu := twoHubs(t, tt.prepare)
			plans := All([]*Input{us.in, eu.in}, Limits{})
			if d := cmp.Diff([][]string{tt.us, tt.eu}, [][]string{graceSaid(plans[0]), graceSaid(plans[1])}); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
			if refused := len(plans[0].Refusals) > 0; refused != tt.refused {
				t.Errorf("%s: refusals %v", name, plans[0].Refusals)
			}
			alone := Decide(eu.in, Limits{})
			for i := range alone.Nodes {
				for _, s := range alone.Nodes[i].Steps {
					if s.Live != nil && s.Action != plan.ActionBlock {
						t.Errorf("%s: a run of the new hub alone: %s %s", name, s.Action, s.Reason)
					}
				}
			}
		})
	}
}

// twoHubs returns two hubs that see the same objects.
func twoHubs(t *testing.T, prepare func(us, eu *shop)) (us, eu *shop) {
	t.Helper()
	us, eu = newShop(), newShop()
	eu.in.Hub, us.in.Desired.Active = lynq.HubKey{Namespace: "ns", Name: "eu"}, 1
	prepare(us, eu)
	for _, n := range eu.in.Desired.Nodes {
		n.Hub, n.Form.Name, n.Name = eu.in.Hub, "webeu", n.UID+"-webeu"
	}
	eu.in.Desired.Forms, eu.in.Observed.Live = []lynq.FormKey{{Name: "webeu"}}, us.in.Observed.Live
	return us, eu
}

// TestRowElsewhere checks a run of the hub that a row has left. It doesn't change the row's
// node if another hub of the files has the row and renders all of its objects.
func TestRowElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(us, eu *shop)
		want    []string
		refused bool
	}{
		"all of it moves": {
			func(us, eu *shop) {
				inv := us.has("a", "x", "y")
				inv.Entries[1].Deletion = lynq.DeleteRetain
				inv.Hooks = []inventory.Entry{{Ref: shopRef("h"), ID: "h", Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}}
				eu.wants("a", "x")
			},
			[]string{"a: x skip Rendered", "a: y skip Rendered", "a: h skip Rendered"}, false,
		},
		"the row can't be rendered there": {
			func(us, eu *shop) { us.has("a", "x"); eu.wants("a", "x").Fail(errors.New("bad")) },
			[]string{"a: x skip Rendered"}, false,
		},
		"something is left behind": {
			func(us, eu *shop) { us.has("a", "x", "y"); eu.wants("a", "x") },
			[]string{"a: x skip Rendered", "a: y delete NodeGone"}, true,
		},
		"another row has it there": {
			func(us, eu *shop) { us.has("a", "x"); eu.wants("b", "x") },
			[]string{"a: x skip Rendered"}, true,
		},
		"the row is gone there": {
			func(us, eu *shop) { us.has("a", "x"); eu.wants("b", "y") },
			[]string{"a: x delete NodeGone"}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			us, eu := twoHubs(t, tt.prepare)
			us.in.Desired.Elsewhere = NewSurvey(eu.in.Desired.Nodes)
			p := Decide(us.in, Limits{})
			if d := cmp.Diff(tt.want, graceSaid(p)); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
			if refused := len(p.Refusals) > 0; refused != tt.refused {
				t.Errorf("%s: refusals %v", name, p.Refusals)
			}
		})
	}
}

// TestClaimedBeside checks that a hub keeps the objects that a failed row of another hub in
// the run may need. The guards don't count them as lost.
func TestClaimedBeside(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(us, eu *shop)
		want    []string
		refused bool
	}{
		"a row drops it": {
			func(us, eu *shop) { us.has("a", "x"); us.wants("a"); eu.wants("b", "x").Fail(errors.New("bad")) },
			[]string{"a: x skip RowUnknown"}, false,
		},
		"a row drops something else, too": {
			func(us, eu *shop) { us.has("a", "x", "y"); us.wants("a"); eu.wants("b", "x").Fail(errors.New("bad")) },
			[]string{"a: x skip RowUnknown", "a: y delete Removed"}, true,
		},
		"a row is gone": {
			func(us, eu *shop) { us.has("a", "x", "y"); eu.wants("b", "x").Fail(errors.New("bad")) },
			[]string{"a: x skip RowUnknown", "a: y delete NodeGone"}, true,
		},
		"somebody removed the node's files": {
			func(us, eu *shop) {
				us.has("a", "x")
				us.in.Scope.Delete = map[lynq.NodeKey]bool{shopNode("a"): true}
				eu.wants("b", "x").Fail(errors.New("bad"))
			},
			[]string{"a: x skip RowUnknown"}, true,
		},
		"the row renders something else": {
			func(us, eu *shop) { us.has("a", "x"); us.wants("a"); eu.wants("b", "y").Fail(errors.New("bad")) },
			[]string{"a: x delete Removed"}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			us, eu := twoHubs(t, tt.prepare)
			for i := range us.in.Recorded.Inventories[0].Entries {
				us.in.Recorded.Inventories[0].Entries[i].Data = true
			}
			p := All([]*Input{us.in, eu.in}, Limits{})[0]
			if d := cmp.Diff(tt.want, graceSaid(p)); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
			if refused := len(p.Refusals) > 0; refused != tt.refused {
				t.Errorf("%s: refusals %v", name, p.Refusals)
			}
		})
	}
}

// TestHeldBesides checks that an object that another hub would take stays with its node
// while deletions of that node are held. It stays even if a step is decided again.
func TestHeldBesides(t *testing.T) {
	us, eu := twoHubs(t, func(us, eu *shop) {
		us.has("a", "x", "y")
		us.has("b", "z")
		eu.wants("a", "x")
		eu.wants("b", "z")
	})
	plans := All([]*Input{us.in, eu.in}, Limits{})
	if len(plans[0].Refusals) == 0 {
		t.Fatal("the deletion of y isn't refused")
	}
	both := Hold([]plan.Plan{*plans[0], *plans[1]}, plans[0].Hub, plans[0].Refusals)
	held, beside := &both[0], &both[1]
	want := [][]string{{"b: z release TakenOver"}, {"a: x skip Held: node ns/a-web has it, and is kept: deletions are held (max-delete)", "b: z update Moved"}}
	if d := cmp.Diff(want, [][]string{graceSaid(held), graceSaid(beside)}); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for i := range plans[1].Nodes {
		n := &plans[1].Nodes[i]
		for k := range n.Steps {
			s := &n.Steps[k]
			again := Again(beside, n, nil, s, s.Live)
			if moves := again.Action == plan.ActionUpdate; moves != (s.Object.Ref == shopRef("z")) {
				t.Errorf("%s is decided again: %s %s", s.Object.Ref, again.Action, again.Reason)
			}
		}
	}
	if plans[1].Nodes[0].Steps[0].Action != plan.ActionUpdate {
		t.Errorf("the plan itself changed")
	}
}
