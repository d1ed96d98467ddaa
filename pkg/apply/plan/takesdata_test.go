package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestTakesData(t *testing.T) {
	step := func(kind string, action Action, wanted bool) Step {
		ref := lynq.Ref{Kind: kind, Namespace: "ns", Name: "data"}
		s := Step{Action: action, Entry: &inventory.Entry{Ref: ref}}
		if wanted {
			s.Object = &Object{Ref: ref}
		}
		return s
	}
	marked := step("StatefulSet", ActionDelete, false)
	marked.Entry.Data = true
	for name, test := range map[string]struct {
		step Step
		want bool
	}{
		"what is recorded with data": {marked, true},
		"a claim is deleted":         {step("PersistentVolumeClaim", ActionDelete, false), true},
		"a claim is collected":       {step("PersistentVolumeClaim", ActionCollect, false), true},
		"a namespace is deleted":     {step("Namespace", ActionDelete, false), true},
		"a claim is orphaned":        {step("PersistentVolumeClaim", ActionOrphan, false), false},
		"a claim is skipped":         {step("PersistentVolumeClaim", ActionSkip, false), false},
		"a claim is updated":         {step("PersistentVolumeClaim", ActionUpdate, true), false},
		"text is deleted":            {step("ConfigMap", ActionDelete, false), false},
	} {
		p := &Plan{Nodes: []NodePlan{{Steps: []Step{step("ConfigMap", ActionUpdate, true)}}, {Steps: []Step{test.step}}}}
		if got := p.TakesData(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

func TestUntilRead(t *testing.T) {
	s := newShop()
	s.wants("acme", "a")
	s.has("acme", "a", "b")
	s.wants("cole", "c")
	s.has("bolt", "d")
	p := Decide(s.in, Limits{MaxDelete: MaxDelete{Percent: 100}})
	next := p.UntilRead()
	want := []string{
		"acme: a keep UpToDate",
		"acme: b skip Held: its entry stays: deletions are held (reading)",
		"cole: c create New",
	}
	if diff := cmp.Diff(want, said(next)); diff != "" {
		t.Error(diff)
	}
	if next.Refusals != nil || next.Held == nil || len(p.Refusals) != 0 {
		t.Errorf("refusals %v and %v, held %v", next.Refusals, p.Refusals, next.Held)
	}
}
