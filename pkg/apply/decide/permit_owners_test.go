package decide

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestPermitDetach checks that owner references change only on an object that was read and
// that no exclusion protects. The permit names no owner that the object didn't have.
func TestPermitDetach(t *testing.T) {
	o := &plan.Object{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}}
	excluded := *o
	excluded.Exclusion = &lynq.Exclusion{}
	for name, tt := range map[string]struct {
		step plan.Step
		yes  bool
	}{
		"read":              {plan.Step{Object: o, Live: &tracking.Live{UID: "u", Owners: []types.UID{"had"}}}, true},
		"not read":          {plan.Step{Object: o}, false},
		"without a uid":     {plan.Step{Object: o, Live: &tracking.Live{}}, false},
		"excluded":          {plan.Step{Object: &excluded, Live: &tracking.Live{UID: "u"}}, false},
		"excluded, dropped": {plan.Step{Entry: &inventory.Entry{}, Reason: plan.ReasonExcluded, Live: &tracking.Live{UID: "u"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			permit, err := PermitDetach(&tt.step)
			if (err == nil) != tt.yes || permit.Covers("had") != tt.yes || permit.Covers("new") || permit.Covers("") {
				t.Errorf("%s: %v, %+v", name, err, permit)
			}
		})
	}
}

// TestPermitReturn checks that a restored inventory gets its own objects back, and no
// others.
func TestPermitReturn(t *testing.T) {
	e := &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}}
	other := &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "b"}}
	live := func() *tracking.Live { return &tracking.Live{Ref: e.Ref, UID: "u"} }
	record := live()
	record.Record = true
	r := &plan.Restoration{Objects: []plan.Belonging{{Entry: e, Live: live()}}}
	saved := &inventory.Inventory{UID: "inv"}
	for name, tt := range map[string]struct {
		step plan.Step
		yes  bool
	}{
		"it belonged":    {plan.Step{Entry: e, Live: live()}, true},
		"another object": {plan.Step{Entry: other, Live: &tracking.Live{UID: "u"}}, false},
		"created again":  {plan.Step{Entry: e, Live: &tracking.Live{UID: "v"}}, false},
		"a record":       {plan.Step{Entry: e, Live: record}, false},
		"not read":       {plan.Step{Entry: e}, false},
		"excluded":       {plan.Step{Entry: e, Live: live(), Reason: plan.ReasonExcluded}, false},
	} {
		t.Run(name, func(t *testing.T) {
			permit, err := PermitReturn(r, saved, &tt.step)
			if (err == nil) != tt.yes || permit.Covers("inv") != tt.yes {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestPermitSuccession checks that a handed-over object belongs to the inventory if its
// policy deletes it and nobody else owns it.
func TestPermitSuccession(t *testing.T) {
	for name, tt := range map[string]struct {
		live   tracking.Live
		policy lynq.DeletionPolicy
		yes    bool
	}{
		"the LynqNode's": {tracking.Live{UID: "u"}, lynq.DeleteDelete, true},
		"retained":       {tracking.Live{UID: "u"}, lynq.DeleteRetain, false},
		"a record":       {tracking.Live{UID: "u", Record: true}, lynq.DeleteDelete, false},
		"an orphan":      {tracking.Live{UID: "u", Orphaned: true}, lynq.DeleteDelete, false},
		"another tool's": {tracking.Live{UID: "u", Few: &tracking.Rare{Foreign: "Helm release a"}}, lynq.DeleteDelete, false},
	} {
		t.Run(name, func(t *testing.T) {
			permit, err := PermitSuccession(&plan.Step{Entry: &inventory.Entry{Lifecycle: lynq.Lifecycle{Deletion: tt.policy}}, Live: &tt.live}, "inv")
			if (err == nil) != tt.yes || permit.Covers("inv") != tt.yes {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestPermitSuccessionUnseen checks that a handover changes no owner of an object that
// nobody read.
func TestPermitSuccessionUnseen(t *testing.T) {
	if permit, err := PermitSuccession(&plan.Step{Entry: &inventory.Entry{}}, "inv"); err == nil || permit.Covers("inv") {
		t.Errorf("%+v, %v", permit, err)
	}
}
