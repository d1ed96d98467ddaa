package decide

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// keeping is the table of decisions for runs that leave content alone.
func keeping(at situation, p lynq.Policy) verdict {
	switch at {
	case absent, vanished, goingAway, handsOff:
		return wanted(at, p) // commands with KeepContent leave these out
	case otherNodes, otherSets, otherTools, controllers, ownRecord:
		return verdict{plan.ActionBlock, plan.ReasonForeign}
	case orphaned:
		return verdict{plan.ActionTrack, plan.ReasonOrphan}
	case nobodys, policyMoved, overwritten, forgedOnce:
		return verdict{plan.ActionTrack, plan.ReasonUntracked}
	case unfinished:
		return verdict{plan.ActionKeep, plan.ReasonUpToDate}
	}
	if p.Creation == lynq.CreateOnce {
		return wanted(at, p)
	}
	return verdict{plan.ActionKeep, plan.ReasonUpToDate}
}

// TestKeepContent checks that with KeepContent, lynqctl writes only the tracking of
// existing objects, whatever the policies.
func TestKeepContent(t *testing.T) {
	for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
		t.Run(string(creation), func(t *testing.T) {
			for _, deletion := range []lynq.DeletionPolicy{lynq.DeleteDelete, lynq.DeleteRetain} {
				for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
					for _, at := range situations() {
						p := lynq.DefaultPolicy()
						p.Creation, p.Deletion, p.Conflict = creation, deletion, conflict
						in := scene(at, p)
						in.Options.KeepContent = true
						s := Decide(in, Limits{}).Nodes[0].Steps[0]
						got, want := verdict{s.Action, s.Reason}, keeping(at, p)
						if got != want {
							t.Errorf("%s/%s/%s/%s: %v, want %v", creation, deletion, conflict, at, got, want)
						}
						if _, there := in.Observed.Live[s.Object.Ref]; there && (s.Action == plan.ActionUpdate || s.Action == plan.ActionAdopt) {
							t.Errorf("%s/%s/%s/%s: its content would be written", creation, deletion, conflict, at)
						}
					}
				}
			}
		})
	}
}

// TestKeepContentRecorded checks that an object that replaced the recorded one belongs to
// somebody else, unless it has the node's tracking.
func TestKeepContentRecorded(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	in.Options.KeepContent = true
	ref := Decide(in, Limits{}).Nodes[0].Steps[0].Ref()
	now := *scene(nobodys, lynq.DefaultPolicy()).Observed.Live[ref]
	now.UID = "another"
	in.Observed.Live[ref] = &now
	if s := Decide(in, Limits{}).Nodes[0].Steps[0]; s.Action != plan.ActionSkip || s.Reason != plan.ReasonReplaced || s.Message == "" {
		t.Errorf("%s (%s) %q, want it skipped", s.Action, s.Reason, s.Message)
	}
}

// TestKeepContentReplaced checks that an object that replaced the requested one keeps its
// labels. So does one that is new.
func TestKeepContentReplaced(t *testing.T) {
	for name, was := range map[string]bool{"replaced": true, "new": false} {
		t.Run(name, func(t *testing.T) {
			in := scene(orphaned, lynq.DefaultPolicy())
			in.Options.KeepContent = true
			decided := Decide(in, Limits{})
			step := decided.Nodes[0].Steps[0]
			now := *scene(nobodys, lynq.DefaultPolicy()).Observed.Live[step.Object.Ref]
			now.UID = "another"
			if !was {
				step.Live = nil
			}
			got, became := Recheck(decided, &decided.Nodes[0], in.Recorded.Inventories[0], &step, &now)
			if got.Action != plan.ActionSkip || got.Reason != plan.ReasonReplaced || became != VerdictChanged {
				t.Errorf("%s: %s (%s), verdict %d, want it skipped", name, got.Action, got.Reason, became)
			}
			now.UID = decided.Nodes[0].Steps[0].Live.UID
			if got, _ := Recheck(decided, &decided.Nodes[0], in.Recorded.Inventories[0], &decided.Nodes[0].Steps[0], &now); got.Action != plan.ActionTrack {
				t.Errorf("the same object: %s (%s), want it tracked", got.Action, got.Reason)
			}
		})
	}
}
