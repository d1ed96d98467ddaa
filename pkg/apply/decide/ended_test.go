package decide

import (
	"fmt"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// endedScene returns a scene with an object that ends by itself, whose entry says that a
// run saw it complete.
func endedScene(at situation, p lynq.Policy, ends, ended bool) *Input {
	in := scene(at, p)
	in.Desired.Nodes[0].Objects[0].Ends = ends
	for i := range in.Recorded.Inventories[0].Entries {
		in.Recorded.Inventories[0].Entries[i].Ended = ended
	}
	return in
}

// TestEnded decides about an object that ends by itself in every situation. Only if it is
// gone or being deleted, and a run saw it complete in its current version, lynqctl doesn't
// create it again.
func TestEnded(t *testing.T) {
	for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
		for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
			for _, at := range situations() {
				p := lynq.DefaultPolicy()
				p.Creation, p.Conflict = creation, conflict
				before := firstVerdict(t, endedScene(at, p, true, false))
				for name, in := range map[string]*Input{
					"ended":                  endedScene(at, p, true, true),
					"doesn't end by itself":  endedScene(at, p, false, true),
					"ended, another version": endedScene(at, p, true, true),
				} {
					want := before
					if name == "ended, another version" {
						in.Desired.Nodes[0].Objects[0].Digest = "d9"
						other := endedScene(at, p, true, false)
						other.Desired.Nodes[0].Objects[0].Digest = "d9"
						want = firstVerdict(t, other)
					}
					once := name == "ended, another version" && creation == lynq.CreateOnce
					if (at == vanished || at == goingAway) && (name == "ended" || once) {
						want = verdict{plan.ActionKeep, plan.ReasonCompleted}
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%s", creation, conflict, at, name), func(t *testing.T) {
						if got := firstVerdict(t, in); got != want {
							t.Errorf("got %v, want %v", got, want)
						}
					})
				}
			}
		}
	}
}

// TestEndedIsPurged checks that the next entry of an object that ended and is gone is like
// that of a purged one. Then no run reads it again.
func TestEndedIsPurged(t *testing.T) {
	in := endedScene(vanished, lynq.DefaultPolicy(), true, true)
	s := &Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps[0]
	r := s.NextEntry()
	if !r.Purged() || r.Digest != "d1" || s.UpToDate() {
		t.Fatalf("entry %+v, up to date %t", r, s.UpToDate())
	}
	in = endedScene(vanished, lynq.DefaultPolicy(), true, true)
	in.Recorded.Inventories[0].Entries = []inventory.Entry{r}
	if unlooked := plan.Unlooked(in.Desired.Nodes, in.Recorded.Inventories); !unlooked[r.Ref] {
		t.Error("the next run reads it")
	}
	s = &Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps[0]
	if s.Reason != plan.ReasonCompleted || !s.UpToDate() {
		t.Errorf("%s (%s), entry %+v, next %+v", s.Action, s.Reason, r, s.NextEntry())
	}
	in.Desired.Nodes[0].Objects[0].Digest = "d9"
	if s = &Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps[0]; s.Action != plan.ActionCreate {
		t.Errorf("its manifest changed: %s (%s)", s.Action, s.Reason)
	}
}
