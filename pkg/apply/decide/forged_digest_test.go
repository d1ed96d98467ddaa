package decide

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestForgedDigest checks that a digest in the inventory never says alone that an object is
// up to date: the mark on the object must agree.
func TestForgedDigest(t *testing.T) {
	for _, patch := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchMerge, lynq.PatchReplace} {
		t.Run(string(patch), func(t *testing.T) {
			for mark, want := range map[string]verdict{
				"d1": {plan.ActionKeep, plan.ReasonUpToDate},
				"d0": {plan.ActionUpdate, plan.ReasonUntracked},
				"":   {plan.ActionUpdate, plan.ReasonUntracked},
			} {
				p := lynq.DefaultPolicy()
				p.Patch = patch
				in := scene(ours, p)
				in.Desired.Nodes[0].Objects[0].Mark = "d1"
				for _, l := range in.Observed.Live {
					l.Mark = mark
				}
				s := &Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps[0]
				if got := (verdict{s.Action, s.Reason}); got != want {
					t.Errorf("%s, mark %q: got %v, want %v", patch, mark, got, want)
				}
				if mark != "d1" && s.Repairs() {
					t.Errorf("%s, mark %q: a forged digest takes fields from other managers", patch, mark)
				}
			}
		})
	}
}

// TestForgedFields forges an inventory that follows another client's change. The managers of
// the object show the change. Only the removal of a field stays hidden, and never a changed
// manifest.
func TestForgedFields(t *testing.T) {
	forged := func() *Input {
		in := scene(drift, lynq.DefaultPolicy())
		in.Desired.Nodes[0].Objects[0].Mark = "d1"
		for ref, l := range in.Observed.Live {
			l.Mark = "d1"
			for i := range in.Recorded.Inventories[0].Entries {
				if r := &in.Recorded.Inventories[0].Entries[i]; r.Ref == ref {
					r.Fields, r.Generation, r.ResourceVersion = l.Fields, l.Generation, l.ResourceVersion
				}
			}
		}
		return in
	}
	if got := firstVerdict(t, forged()); got != (verdict{plan.ActionKeep, plan.ReasonUpToDate}) {
		t.Errorf("a followed removal: %v", got)
	}
	for strategy, want := range map[lynq.PatchStrategy]verdict{
		lynq.PatchApply:    {plan.ActionUpdate, plan.ReasonDrifted},
		lynq.PatchOverride: {plan.ActionUpdate, plan.ReasonDrifted},
		lynq.PatchRecreate: {plan.ActionUpdate, plan.ReasonDrifted},
	} {
		t.Run(string(strategy), func(t *testing.T) {
			in := taken(forged())
			policy := *in.Desired.Nodes[0].Objects[0].Policy
			policy.Patch = strategy
			in.Desired.Nodes[0].Objects[0].Policy = &policy
			if got := firstVerdict(t, in); got != want {
				t.Errorf("%s, a followed change: %v", strategy, got)
			}
			s := &Decide(taken(in), Limits{AllowEmpty: true}).Nodes[0].Steps[0]
			if !s.Doubtful() || !s.Drifted() {
				t.Errorf("%s: doubtful is %t, drifted is %t", strategy, s.Doubtful(), s.Drifted())
			}
		})
	}
	in := forged()
	in.Desired.Nodes[0].Objects[0].Digest, in.Desired.Nodes[0].Objects[0].Mark = "d9", "d9"
	in.Recorded.Inventories[0].Entries[0].Digest = "d9"
	if got := firstVerdict(t, in); got != (verdict{plan.ActionUpdate, plan.ReasonUntracked}) {
		t.Errorf("a changed manifest: %v", got)
	}
}

// taken adds a field of the manifest that another client has now to the live objects.
func taken(in *Input) *Input {
	in.Desired.Nodes[0].Objects[0].Body = []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{},"data":{"plan":"gold"}}`)
	for _, l := range in.Observed.Live {
		l.Change(func(r *tracking.Rare) {
			r.Ours = []*metav1.FieldsV1{metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:lynq.sh/hub":{}}}}`)}
			r.Others = []*metav1.FieldsV1{metav1.NewFieldsV1(`{"f:data":{"f:plan":{}}}`)}
		})
	}
	return in
}
