package decide

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestPermitDetach: owner references change only on an object that was read, and that no
// exclusion protects, and the permit names no owner that the object did not have.
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
		"excluded, dropped": {plan.Step{Entry: &inventory.Entry{}, Reason: reason.Excluded, Live: &tracking.Live{UID: "u"}}, false},
	} {
		permit, err := PermitDetach(&tt.step)
		if (err == nil) != tt.yes || permit.Covers("had") != tt.yes || permit.Covers("new") || permit.Covers("") {
			t.Errorf("%s: %v, %+v", name, err, permit)
		}
	}
}

// TestPermitOwner: an owner reference to the node's inventory has the garbage collector
// delete the object with it, so that the whole gate is asked before it is written.
func TestPermitOwner(t *testing.T) {
	retained := lynq.DefaultPolicy()
	retained.Deletion = lynq.DeleteRetain
	for name, tt := range map[string]struct {
		policy lynq.Policy
		change func(in *Input, s *plan.Step)
		yes    bool
	}{
		"the node's":                 {lynq.DefaultPolicy(), func(*Input, *plan.Step) {}, true},
		"its policy keeps it":        {retained, func(*Input, *plan.Step) {}, false},
		"no row renders it":          {lynq.DefaultPolicy(), func(_ *Input, s *plan.Step) { s.Object = nil }, false},
		"not read":                   {lynq.DefaultPolicy(), func(_ *Input, s *plan.Step) { s.Live = nil }, false},
		"excluded":                   {lynq.DefaultPolicy(), func(_ *Input, s *plan.Step) { s.Object.Exclusion = &lynq.Exclusion{} }, false},
		"a record":                   {lynq.DefaultPolicy(), func(_ *Input, s *plan.Step) { s.Live.Record = true }, false},
		"another tool's":             {lynq.DefaultPolicy(), func(_ *Input, s *plan.Step) { s.Live.Foreign = "Helm release a" }, false},
		"another controller's":       {lynq.DefaultPolicy(), func(_ *Input, s *plan.Step) { s.Live.Controller, s.Live.ControllerUID = "Deployment/a", "d" }, false},
		"unmanaged":                  {lynq.DefaultPolicy(), func(_ *Input, s *plan.Step) { s.Live.Unmanaged = true }, false},
		"without an inventory's uid": {lynq.DefaultPolicy(), func(in *Input, _ *plan.Step) { in.Inventories[0].UID = "" }, false},
	} {
		in := scene(ours, tt.policy)
		p := Decide(in, Limits{})
		n := &p.Nodes[0]
		s := n.Steps[0]
		o, l := *s.Object, *s.Live
		s.Object, s.Live = &o, &l
		saved := in.Inventories[0].Clone()
		in.Inventories = []*inventory.Inventory{saved}
		tt.change(in, &s)
		permit, err := PermitOwner(p, n, saved, &s)
		if (err == nil) != tt.yes || tt.yes != permit.Covers(types.UID(saved.UID)) || permit.Covers("other") {
			t.Errorf("%s: %v, %+v", name, err, permit)
		}
	}
}

// TestPermitReturn: a restored inventory gets back what belonged to it, and nothing else.
func TestPermitReturn(t *testing.T) {
	e := &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}}
	other := &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "b"}}
	live := func() *tracking.Live { return &tracking.Live{Ref: e.Ref, UID: "u"} }
	record := live()
	record.Record = true
	r := &Restoration{Objects: []plan.Belonging{{Entry: e, Live: live()}}}
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
	} {
		permit, err := r.PermitReturn(saved, &tt.step)
		if (err == nil) != tt.yes || permit.Covers("inv") != tt.yes {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPermitSuccession: what was handed over belongs to the inventory, where its policy
// deletes it and nobody else has it.
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
		"another tool's": {tracking.Live{UID: "u", Foreign: "Helm release a"}, lynq.DeleteDelete, false},
	} {
		permit, err := PermitSuccession(&plan.Step{Entry: &inventory.Entry{Lifecycle: lynq.Lifecycle{Deletion: tt.policy}}, Live: &tt.live}, "inv")
		if (err == nil) != tt.yes || permit.Covers("inv") != tt.yes {
			t.Errorf("%s: %v", name, err)
		}
	}
}
