package decide

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestDoubtful checks that the server is asked about an object that may be unchanged. Its
// answer about a version counts for that version only.
func TestDoubtful(t *testing.T) {
	for name, tt := range map[string]struct {
		patch  lynq.PatchStrategy
		reason plan.Reason
		last   bool
		want   bool
	}{
		"merged":                        {lynq.PatchMerge, plan.ReasonDrifted, false, true},
		"replaced":                      {lynq.PatchReplace, plan.ReasonDrifted, false, true},
		"applied, and others wrote":     {lynq.PatchApply, plan.ReasonDrifted, false, false},
		"applied, and lynq wrote last":  {lynq.PatchApply, plan.ReasonDrifted, true, true},
		"merged, and the form changed":  {lynq.PatchMerge, plan.ReasonChanged, true, false},
		"applied, and the form changed": {lynq.PatchApply, plan.ReasonChanged, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &plan.Object{Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Patch: tt.patch}}}
			s := plan.Step{Object: o, Entry: &inventory.Entry{}, Live: &tracking.Live{ResourceVersion: "8", LastButStatus: tt.last}, Reason: tt.reason}
			if got := s.Doubtful(); got != tt.want {
				t.Errorf("%s: doubtful is %t", name, got)
			}
			if !plan.MayHaveDrifted(o, s.Entry, s.Live) {
				t.Errorf("%s: it did not drift", name)
			}
			s.Live.Intact = true
			if plan.MayHaveDrifted(o, s.Entry, s.Live) {
				t.Errorf("%s: the server said that nothing would change, and it drifted", name)
			}
		})
	}
	if (&plan.Step{Reason: plan.ReasonDrifted}).Doubtful() {
		t.Error("a step without an object is doubtful")
	}
}

func TestUpToDate(t *testing.T) {
	t.Parallel()
	o := &plan.Object{Ref: lynq.Ref{Kind: "ConfigMap", Name: "a"}, ID: "a", APIVersion: "v1", Digest: "d1", Policy: &lynq.Policy{}}
	entry := plan.NewEntry(o)
	entry.UID, entry.Digest, entry.Ready = "1", "d1", true
	live := &tracking.Live{Ref: o.Ref, UID: "1"}
	for name, tt := range map[string]struct {
		change func(*plan.Step)
		want   bool
	}{
		"as it is to be":                    {func(*plan.Step) {}, true},
		"to be written":                     {func(s *plan.Step) { s.Action = plan.ActionUpdate }, false},
		"not recorded":                      {func(s *plan.Step) { s.Entry = nil }, false},
		"another id":                        {func(s *plan.Step) { s.Entry.ID = "b" }, false},
		"another policy":                    {func(s *plan.Step) { s.Entry.Deletion = lynq.DeleteRetain }, false},
		"excluded until now":                {func(s *plan.Step) { s.Entry.Excluded = true }, false},
		"wanted for good, and was purged":   {func(s *plan.Step) { s.Entry.Phase = inventory.PhaseCompleted }, false},
		"the server was asked, and says so": {func(s *plan.Step) { s.Live.Intact = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &plan.Step{Action: plan.ActionKeep, Reason: plan.ReasonUpToDate, Object: o, Entry: new(entry), Live: new(*live)}
			tt.change(s)
			if got := s.UpToDate(); got != tt.want {
				t.Errorf("%s: up to date is %t", name, got)
			}
		})
	}
}

// TestOverride checks that under override, any field of a client-side tool is drift,
// whoever created the object. Under other strategies it isn't.
func TestOverride(t *testing.T) {
	for _, strategy := range lynq.PatchStrategies() {
		for _, adopted := range []bool{false, true} {
			p := lynq.DefaultPolicy()
			p.Patch = strategy
			in := scene(ours, p)
			in.Observed.Live[in.Desired.Nodes[0].Objects[0].Ref].ClientSide = true
			in.Recorded.Inventories[0].Entries[0].Adopted = adopted
			want := verdict{plan.ActionKeep, plan.ReasonUpToDate}
			if strategy == lynq.PatchOverride {
				want = verdict{plan.ActionUpdate, plan.ReasonDrifted}
			}
			s := Decide(in, Limits{}).Nodes[0].Steps[0]
			if got := (verdict{s.Action, s.Reason}); got != want {
				t.Errorf("%s, adopted %t: %v, want %v", strategy, adopted, got, want)
			}
		}
	}
}
