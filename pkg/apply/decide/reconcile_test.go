package decide

import (
	"fmt"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// lastWrite is the time of an object's last write according to the inventory.
type lastWrite string

const (
	unsaid   lastWrite = "not recorded"
	fresh    lastWrite = "a moment ago"
	almost   lastWrite = "a second short of the interval"
	long     lastWrite = "an interval ago"
	tomorrow lastWrite = "in the future"
)

const interval = time.Hour

func (w lastWrite) at(now time.Time) time.Time {
	switch w {
	case fresh:
		return now
	case almost:
		return now.Add(time.Second - interval)
	case long:
		return now.Add(-interval)
	case tomorrow:
		return now.Add(time.Second)
	}
	return time.Time{}
}

// reconcilePolicies are the ways for a form to say when lynqctl writes an object again.
func reconcilePolicies() map[string]func(*lynq.Policy) {
	return map[string]func(*lynq.Policy){
		"OnObjectChange":       func(*lynq.Policy) {},
		"OnObjectOrNodeChange": func(p *lynq.Policy) { p.OnNodeChange = true },
		"Once":                 func(p *lynq.Policy) { p.Creation = lynq.CreateOnce },
		"reapplyInterval":      func(p *lynq.Policy) { p.ReapplyInterval = interval },
		"both":                 func(p *lynq.Policy) { p.OnNodeChange, p.ReapplyInterval = true, interval },
	}
}

// TestReconcile decides every value of reconcilePolicy and reapplyInterval, in every
// situation and for every time of the last write. It does so for a desired object, for a
// dropped object, and for the object of a deleted node. An interval that has passed only
// adds writes of unchanged objects, and never affects deletions.
func TestReconcile(t *testing.T) {
	now := time.Date(2026, 11, 23, 1, 0, 0, 0, time.UTC)
	for name, set := range reconcilePolicies() {
		for _, at := range situations() {
			for _, last := range []lastWrite{unsaid, fresh, almost, long, tomorrow} {
				t.Run(fmt.Sprintf("%s/%s/%s", name, at, last), func(t *testing.T) {
					p := lynq.DefaultPolicy()
					set(&p)
					in := scene(at, p)
					in.Now = now
					for i := range in.Recorded.Inventories[0].Entries {
						in.Recorded.Inventories[0].Entries[i].Written = last.at(now)
					}
					want := wanted(at, p)
					if p.ReapplyInterval > 0 && want == (verdict{plan.ActionKeep, plan.ReasonUpToDate}) && last != fresh && last != almost {
						want = verdict{plan.ActionUpdate, plan.ReasonDue}
					}
					check(t, "wanted", Decide(in, Limits{}).Nodes[0].Steps, want, true)

					in.Desired.Nodes[0].Objects = nil
					want, recorded := unwanted(at, p)
					check(t, "dropped by the form", Decide(in, Limits{}).Nodes[0].Steps, want, recorded)

					in.Desired.Nodes, in.Desired.Active = nil, 1
					if want.Reason == plan.ReasonRemoved {
						want.Reason = plan.ReasonNodeGone
					}
					check(t, "its node goes", Decide(in, Limits{MaxDelete: limits.MaxDelete{Nodes: 1}}).Nodes[0].Steps, want, recorded)
				})
			}
		}
	}
}

func check(t *testing.T, what string, steps []plan.Step, want verdict, recorded bool) {
	t.Helper()
	switch {
	case recorded != (len(steps) == 1):
		t.Errorf("%s: %d steps", what, len(steps))
	case !recorded:
	case (verdict{steps[0].Action, steps[0].Reason}) != want:
		t.Errorf("%s: %s %s (%s), want %v", what, steps[0].Action, steps[0].Reason, steps[0].Message, want)
	}
}

// TestRecheckDue checks that a due step stays due until it is executed, whatever the time.
// The time of its last write is kept only if it counts.
func TestRecheckDue(t *testing.T) {
	p := lynq.DefaultPolicy()
	p.ReapplyInterval = interval
	in := scene(ours, p)
	in.Now = time.Unix(7200, 0).UTC()
	in.Recorded.Inventories[0].Entries[0].Written = time.Unix(60, 0).UTC()
	decided := Decide(in, Limits{})
	step := decided.Nodes[0].Steps[0]
	if got, became := Recheck(decided, &decided.Nodes[0], in.Recorded.Inventories[0], &step, step.Live); became != VerdictHolds || got.Reason != plan.ReasonDue {
		t.Errorf("%s (%s), verdict %d", got.Action, got.Reason, became)
	}
	if r := step.NextEntry(); !r.Written.Equal(time.Unix(60, 0)) {
		t.Errorf("the next entry was written %s", r.Written)
	}
	step.Object.Policy.ReapplyInterval = 0
	if r := step.NextEntry(); !r.Written.IsZero() {
		t.Errorf("the next entry was written %s, and nothing asks for that", r.Written)
	}
}
