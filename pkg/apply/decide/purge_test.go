package decide

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// purgeScene returns a scene with a purged object and an entry that says that its work is
// done. If the entry has a uid, lynqctl may still have to delete the object.
func purgeScene(at situation, p lynq.Policy, uid string) *Input {
	p.PurgeOrder = new(int)
	in := scene(at, p)
	in.Recorded.Inventories[0].Entries = []inventory.Entry{{
		Ref: in.Desired.Nodes[0].Objects[0].Ref, ID: "app", APIVersion: "apps/v1", UID: uid, Digest: "d1", Ready: true, Phase: inventory.PhaseCompleted,
		Lifecycle: p.Lifecycle,
	}}
	return in
}

func firstVerdict(t *testing.T, in *Input) verdict {
	t.Helper()
	p := Decide(in, Limits{AllowEmpty: true})
	if len(p.Nodes) != 1 || len(p.Nodes[0].Steps) != 1 {
		t.Fatalf("plan %+v", p)
	}
	s := &p.Nodes[0].Steps[0]
	if again, _ := Recheck(p, &p.Nodes[0], in.Recorded.Inventories[0], s, s.Live); again.Action != s.Action || again.Reason != s.Reason {
		t.Errorf("decided again it is %s (%s), not %s (%s)", again.Action, again.Reason, s.Action, s.Reason)
	}
	return verdict{s.Action, s.Reason}
}

// purgeable returns the situations in which the live object is provably the one that did
// its work, and nobody else claims it.
func purgeable() []situation {
	return []situation{ours, drift, formChanged, policyMoved, unconfirmed, goingAway, bare, unfinished, unrecordedT}
}

// TestPurge decides about a purged object in every situation. Before its work it is like
// any other object. Then lynqctl deletes it if that may not be done yet, and never touches
// another object with its name.
func TestPurge(t *testing.T) {
	keep, purge := verdict{plan.ActionKeep, plan.ReasonCompleted}, verdict{plan.ActionPurge, plan.ReasonCompleted}
	for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
		for _, at := range situations() {
			p := lynq.DefaultPolicy()
			p.Conflict = conflict
			check := func(what string, in *Input, want verdict) {
				t.Helper()
				t.Run(fmt.Sprintf("%s/%s/%s", conflict, at, what), func(t *testing.T) {
					t.Helper()
					if got := firstVerdict(t, in); got != want {
						t.Errorf("got %v, want %v", got, want)
					}
				})
			}
			before := p
			before.PurgeOrder = new(int)
			check("before", scene(at, before), wanted(at, p))
			if at != formChanged {
				check("done", purgeScene(at, p, ""), keep)
			}
			check("under way", purgeScene(at, p, "u1"), map[bool]verdict{true: purge, false: keep}[slices.Contains(purgeable(), at)])
		}
	}
}

// TestPurgedLeaves checks that when the form drops an object that did its work, or its node
// is deleted, lynqctl only drops the entry. Another object with its name stays.
func TestPurgedLeaves(t *testing.T) {
	for name, leaves := range map[string]func(*Input){
		"dropped":   func(in *Input) { in.Desired.Nodes[0].Objects = nil },
		"node gone": func(in *Input) { in.Desired.Nodes = nil },
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range situations() {
				for _, uid := range []string{"", "u1"} {
					in := purgeScene(at, lynq.DefaultPolicy(), uid)
					leaves(in)
					got := firstVerdict(t, in)
					switch {
					case at == absent || at == vanished:
						if got != (verdict{plan.ActionRelease, plan.ReasonCompleted}) {
							t.Errorf("%s, %s, uid %q: %v", name, at, uid, got)
						}
					case uid != "" && slices.Contains(purgeable(), at):
						if got.Action != plan.ActionDelete {
							t.Errorf("%s, %s, under way: %v, want it deleted", name, at, got)
						}
					case got.Action != plan.ActionRelease && got.Reason != plan.ReasonUnmanaged:
						t.Errorf("%s, %s, uid %q: %v, want it left alone", name, at, uid, got)
					}
				}
			}
		})
	}
}

// TestPurgedAgain checks that an object does its work again when its manifest changes,
// unless it does it only once. It stays for good if nothing purges it any more.
func TestPurgedAgain(t *testing.T) {
	once := lynq.DefaultPolicy()
	once.Creation = lynq.CreateOnce
	stays := func(in *Input) *Input {
		in.Desired.Nodes[0].Objects[0].Policy.PurgeOrder = nil
		return in
	}
	changed := func(in *Input) *Input {
		in.Desired.Nodes[0].Objects[0].Digest = "d2"
		return in
	}
	for name, test := range map[string]struct {
		in   *Input
		want verdict
	}{
		"changed":                         {changed(purgeScene(vanished, lynq.DefaultPolicy(), "")), verdict{plan.ActionCreate, plan.ReasonChanged}},
		"changed, created once":           {changed(purgeScene(vanished, once, "")), verdict{plan.ActionKeep, plan.ReasonCompleted}},
		"changed, and not gone yet":       {changed(purgeScene(ours, lynq.DefaultPolicy(), "u1")), verdict{plan.ActionPurge, plan.ReasonCompleted}},
		"changed, and created by a run":   {changed(purgeScene(ours, lynq.DefaultPolicy(), "")), verdict{plan.ActionUpdate, plan.ReasonUnconfirmed}},
		"changed, and another has it":     {changed(purgeScene(otherTools, lynq.DefaultPolicy(), "")), verdict{plan.ActionBlock, plan.ReasonForeign}},
		"purged no more":                  {stays(purgeScene(vanished, lynq.DefaultPolicy(), "")), verdict{plan.ActionCreate, plan.ReasonChanged}},
		"purged no more, and still there": {stays(purgeScene(unrecordedT, lynq.DefaultPolicy(), "u1")), verdict{plan.ActionUpdate, plan.ReasonDrifted}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := firstVerdict(t, test.in); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestUnlooked checks that lynqctl doesn't read an object that did its work, unless it must
// work again, or may still exist.
func TestUnlooked(t *testing.T) {
	for name, test := range map[string]struct {
		uid    string
		change func(*plan.Object)
		want   int
	}{
		"done":                   {"", func(*plan.Object) {}, 1},
		"under way":              {"u1", func(*plan.Object) {}, 0},
		"changed":                {"", func(o *plan.Object) { o.Digest = "d2" }, 0},
		"it is to stay from now": {"", func(o *plan.Object) { o.Policy.PurgeOrder = nil }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in := purgeScene(vanished, lynq.DefaultPolicy(), test.uid)
			test.change(&in.Desired.Nodes[0].Objects[0])
			if got := plan.Unlooked(in.Desired.Nodes, in.Recorded.Inventories); len(got) != test.want {
				t.Errorf("%s: %v", name, got)
			}
		})
	}
	in := purgeScene(vanished, lynq.DefaultPolicy(), "")
	if got := plan.Unlooked(nil, in.Recorded.Inventories); len(got) != 1 {
		t.Errorf("of a node that goes: %v", got)
	}
}
