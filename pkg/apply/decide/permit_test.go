package decide

import (
	"errors"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// TestPermitRecords checks that lynqctl deletes a record only if nothing depends on it.
func TestPermitRecords(t *testing.T) {
	inv := &inventory.Inventory{Node: lynq.NodeID{Namespace: "ns", Name: "a"}, UID: "u", ResourceVersion: "3"}
	entry := []inventory.Entry{{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "x"}}}
	of := func(p Permit, err error) error {
		if (err == nil) != (p.Check(false) == nil) {
			t.Errorf("permit %+v, %v", p, err)
		}
		return err
	}
	if (Permit{}).Check(true) == nil {
		t.Error("the zero permit permits")
	}
	leaving, staying := &plan.NodePlan{}, &plan.NodePlan{Desired: &plan.Node{}}
	hooked := inv.Clone()
	hooked.Hooks = entry
	for name, tt := range map[string]struct {
		err error
		yes bool
	}{
		"an empty inventory":             {of(PermitInventory(leaving, inv, nil, nil)), true},
		"an inventory with entries":      {of(PermitInventory(leaving, inv, entry, nil)), false},
		"a desired node":                 {of(PermitInventory(staying, inv, nil, nil)), false},
		"a copy that is left":            {of(PermitInventory(leaving, &inventory.Inventory{Node: lynq.NodeID{Namespace: "ns", Name: "a"}, Copy: "c"}, nil, nil)), true},
		"a restored inventory":           {of(PermitRestore(inv, &plan.Replacement{}, nil)), true},
		"with objects that refer":        {of(PermitRestore(inv, &plan.Replacement{Stays: errors.New("unseen")}, nil)), false},
		"gone, with objects that refer":  {of(PermitInventory(leaving, inv, nil, []lynq.Ref{entry[0].Ref})), false},
		"restored, and objects refer":    {of(PermitRestore(inv, &plan.Replacement{}, []lynq.Ref{entry[0].Ref})), false},
		"not looked at":                  {of(PermitRestore(inv, nil, nil)), false},
		"a hub without nodes":            {of(PermitHub(&inventory.Hub{Name: "h", UID: "u"}, 0)), true},
		"a hub with nodes":               {of(PermitHub(&inventory.Hub{Name: "h", UID: "u"}, 1)), false},
		"the history of a hub":           {of(PermitHistory(lynq.HubKey{Name: "h"}, 0, "v")), true},
		"the same of one that has nodes": {of(PermitHistory(lynq.HubKey{Name: "h"}, 1, "v")), false},
		"a copy, restored":               {of(PermitCopy(&inventory.Inventory{UID: "u", Copy: "c"})), true},
		"a copy, not restored":           {of(PermitCopy(&inventory.Inventory{Copy: "c"})), false},
		"hooks that nothing names":       {of(PermitHooks(inv, "s", "1")), true},
		"hooks":                          {of(PermitHooks(hooked, "s", "1")), false},
		"a LynqNode":                     {of(PermitHandover(lynq.Ref{Group: wellknown.Group, Kind: "LynqNode"}, "u", "1")), true},
		"an object of others":            {of(PermitHandover(lynq.Ref{Kind: "Secret"}, "u", "1")), false},
	} {
		t.Run(name, func(t *testing.T) {
			if (tt.err == nil) != tt.yes {
				t.Errorf("%s: %v", name, tt.err)
			}
		})
	}
}

// TestPermitsUnseen checks that nothing permits the deletion of an object without a uid.
func TestPermitsUnseen(t *testing.T) {
	s := &plan.Step{Action: plan.ActionDelete, Entry: &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "x"}}}
	for name, live := range map[string]*tracking.Live{"not read": nil, "without a uid": {Ref: s.Entry.Ref}} {
		t.Run(name, func(t *testing.T) {
			s.Live = live
			var denied *DeniedError
			if permit, err := Permits(&plan.Plan{}, &plan.NodePlan{}, nil, s); !errors.As(err, &denied) || permit.Check(true) == nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
