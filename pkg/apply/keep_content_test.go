package apply

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// keeping is what becomes of an object whose content is to be left alone.
func keeping(at situation, p lynq.Policy) verdict {
	switch at {
	case absent, vanished, goingAway, handsOff:
		return wanted(at, p) // whoever asks for this leaves them out
	case otherNodes, otherSets, otherTools, controllers, ownRecord:
		return verdict{ActionBlock, ReasonForeign}
	case orphaned:
		return verdict{ActionTrack, ReasonOrphan}
	case nobodys, policyMoved, overwritten, forgedOnce:
		return verdict{ActionTrack, ReasonUntracked}
	case unfinished:
		return verdict{ActionKeep, ReasonUpToDate}
	}
	if p.Creation == lynq.CreateOnce {
		return wanted(at, p)
	}
	return verdict{ActionKeep, ReasonUpToDate}
}

// TestKeepContent: with KeepContent nothing that is there is written but its
// tracking, whatever the policies.
func TestKeepContent(t *testing.T) {
	for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
		for _, deletion := range []lynq.DeletionPolicy{lynq.DeleteDelete, lynq.DeleteRetain} {
			for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
				for _, at := range situations() {
					p := lynq.DefaultPolicy()
					p.Creation, p.Deletion, p.Conflict = creation, deletion, conflict
					in := scene(at, p)
					in.KeepContent = true
					s := Decide(in, Limits{}).Nodes[0].Steps[0]
					got, want := verdict{s.Action, s.Reason}, keeping(at, p)
					if got != want {
						t.Errorf("%s/%s/%s/%s: %v, want %v", creation, deletion, conflict, at, got, want)
					}
					if _, there := in.Live[s.Object.Ref]; there && (s.Action == ActionUpdate || s.Action == ActionAdopt) {
						t.Errorf("%s/%s/%s/%s: its content would be written", creation, deletion, conflict, at)
					}
				}
			}
		}
	}
}

// TestTakingRecordsNoDigest: an object that was only tracked is not recorded as
// written, so that the next run looks at it; one that is left alone for good is.
func TestTakingRecordsNoDigest(t *testing.T) {
	for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
		s := newStage()
		o := configMap("a", "1")
		o.Policy.Creation, o.Policy.Deletion = creation, lynq.DeleteRetain
		n := func(name string) []*Node { return []*Node{node(name, o), node("z")} }
		mustApply(t, s, n("a")...)
		mustApply(t, s, node("z"))
		s.keepContent = true
		p, err := s.plan(t.Context(), n("a")...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.run(bounded(t), p); err != nil {
			t.Fatal(err)
		}
		for _, inv := range s.notes.saved {
			for _, r := range inv.Records {
				if once := creation == lynq.CreateOnce; r.Ref == o.Ref && (r.Digest != "") != once {
					t.Errorf("%s: its digest is %q", creation, r.Digest)
				}
			}
		}
	}
}
