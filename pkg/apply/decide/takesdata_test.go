package decide

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

func TestTakesData(t *testing.T) {
	step := func(kind string, action plan.Action, wanted bool) plan.Step {
		ref := lynq.Ref{Kind: kind, Namespace: "ns", Name: "data"}
		s := plan.Step{Action: action, Entry: &inventory.Entry{Ref: ref}}
		if wanted {
			s.Object = &plan.Object{Ref: ref}
		}
		return s
	}
	marked := step("StatefulSet", plan.ActionDelete, false)
	marked.Entry.Data = true
	for name, test := range map[string]struct {
		step plan.Step
		want bool
	}{
		"what is recorded with data": {marked, true},
		"a claim is deleted":         {step("PersistentVolumeClaim", plan.ActionDelete, false), true},
		"a claim is collected":       {step("PersistentVolumeClaim", plan.ActionCollect, false), true},
		"a namespace is deleted":     {step("Namespace", plan.ActionDelete, false), true},
		"a claim is orphaned":        {step("PersistentVolumeClaim", plan.ActionOrphan, false), false},
		"a claim is skipped":         {step("PersistentVolumeClaim", plan.ActionSkip, false), false},
		"a claim is updated":         {step("PersistentVolumeClaim", plan.ActionUpdate, true), false},
		"text is deleted":            {step("ConfigMap", plan.ActionDelete, false), false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Plan{Nodes: []plan.NodePlan{{Steps: []plan.Step{step("ConfigMap", plan.ActionUpdate, true)}}, {Steps: []plan.Step{test.step}}}}
			if got := p.TakesData(); got != test.want {
				t.Errorf("%s: %t, want %t", name, got, test.want)
			}
		})
	}
}

func TestUntilRead(t *testing.T) {
	s := newShop()
	s.wants("acme", "a")
	s.has("acme", "a", "b")
	s.wants("cole", "c")
	s.has("bolt", "d")
	p := Decide(s.in, Limits{MaxDelete: limits.MaxDelete{Percent: 100}})
	next := &Hold([]plan.Plan{*p}, p.Hub, UntilRead(p.Hub))[0]
	want := []string{
		"acme: a keep UpToDate",
		"acme: b skip Held: lynqctl keeps its entry: deletions are held (reading)",
		"cole: c create New",
	}
	if diff := cmp.Diff(want, said(next)); diff != "" {
		t.Error(diff)
	}
	if next.Refusals != nil || next.Held == nil || len(p.Refusals) != 0 {
		t.Errorf("refusals %v and %v, held %v", next.Refusals, p.Refusals, next.Held)
	}
}

// TestMarkTakenOff checks that a resource with holdsData in the form counts, whatever
// somebody wrote into the inventory.
func TestMarkTakenOff(t *testing.T) {
	for _, marked := range []bool{true, false} {
		p := lynq.DefaultPolicy()
		p.Data = marked
		in := scene(ours, p)
		o := &in.Desired.Nodes[0].Objects[0]
		o.Name = "renamed"
		in.Recorded.Inventories[0].Entries[0].Data = false
		refusals := Decide(in, Limits{}).Refusals
		if refused := len(refusals) == 1 && refusals[0].Guard == plan.GuardMaxDelete; refused != marked {
			t.Errorf("marked %v: %v", marked, refusals)
		}
	}
}
