package decide_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// TestPermit checks that a plan gives permits only for its deletions.
func TestPermit(t *testing.T) {
	for _, at := range decide.Situations() {
		in := decide.Scene(at, lynq.DefaultPolicy())
		for _, gone := range []bool{false, true} {
			if gone {
				in.Desired.Nodes = nil
			}
			p := decide.Decide(in, decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 9}})
			for i := range p.Nodes {
				n := &p.Nodes[i]
				for j := range n.Steps {
					s := &n.Steps[j]
					s.Live = in.Observed.Live[s.Ref()]
					permit, err := decide.Permits(p, n, n.Inventory, s)
					deletes := s.Action == plan.ActionDelete
					if deletes != (err == nil) || deletes && (permit.UID() != s.Live.UID || permit.Version() != s.Live.ResourceVersion || permit.Ref() != s.Ref()) {
						t.Errorf("%s, gone %v: %s: permit %+v, %v", at, gone, s.Action, permit, err)
					}
				}
			}
		}
	}
}

// TestPermitRefused checks that a plan that a guard refuses gives no permit, except for a
// dry run.
func TestPermitRefused(t *testing.T) {
	in := decide.Scene(decide.Ours, lynq.DefaultPolicy())
	in.Desired.Nodes, in.Desired.Active = nil, 0
	p := decide.Decide(in, decide.Limits{})
	n := &p.Nodes[0]
	if _, err := decide.Permits(p, n, n.Inventory, &n.Steps[0]); err == nil || len(p.Refusals) == 0 {
		t.Errorf("%v, %d refusals", err, len(p.Refusals))
	}
	trial, err := decide.Trial(p, n, n.Inventory, &n.Steps[0])
	if err != nil || trial.Check(true) != nil || trial.Check(false) == nil {
		t.Errorf("a dry run: %+v, %v", trial, err)
	}
}

// TestPermitOwner checks that the whole gate decides before lynqctl writes an owner
// reference to the node's inventory. The garbage collector deletes the object with that
// inventory.
func TestPermitOwner(t *testing.T) {
	retained := lynq.DefaultPolicy()
	retained.Deletion = lynq.DeleteRetain
	for name, tt := range map[string]struct {
		policy lynq.Policy
		change func(in *decide.Input, s *plan.Step)
		yes    bool
	}{
		"the node's":          {lynq.DefaultPolicy(), func(*decide.Input, *plan.Step) {}, true},
		"its policy keeps it": {retained, func(*decide.Input, *plan.Step) {}, false},
		"no row renders it":   {lynq.DefaultPolicy(), func(_ *decide.Input, s *plan.Step) { s.Object = nil }, false},
		"not read":            {lynq.DefaultPolicy(), func(_ *decide.Input, s *plan.Step) { s.Live = nil }, false},
		"excluded":            {lynq.DefaultPolicy(), func(_ *decide.Input, s *plan.Step) { s.Object.Exclusion = &lynq.Exclusion{} }, false},
		"a record":            {lynq.DefaultPolicy(), func(_ *decide.Input, s *plan.Step) { s.Live.Record = true }, false},
		"another tool's":      {lynq.DefaultPolicy(), func(_ *decide.Input, s *plan.Step) { s.Live.Few = &tracking.Rare{Foreign: "Helm release a"} }, false},
		"another controller's": {lynq.DefaultPolicy(), func(_ *decide.Input, s *plan.Step) {
			s.Live.Few = &tracking.Rare{Controller: "Deployment/a", ControllerUID: "d"}
		}, false},
		"unmanaged":                  {lynq.DefaultPolicy(), func(_ *decide.Input, s *plan.Step) { s.Live.Unmanaged = true }, false},
		"without an inventory's uid": {lynq.DefaultPolicy(), func(in *decide.Input, _ *plan.Step) { in.Recorded.Inventories[0].UID = "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := decide.Scene(decide.Ours, tt.policy)
			p := decide.Decide(in, decide.Limits{})
			n := &p.Nodes[0]
			s := n.Steps[0]
			o, l := *s.Object, *s.Live
			s.Object, s.Live = &o, &l
			saved := in.Recorded.Inventories[0].Clone()
			in.Recorded.Inventories = []*inventory.Inventory{saved}
			tt.change(in, &s)
			permit, err := decide.PermitOwner(p, n, saved, &s)
			if (err == nil) != tt.yes || tt.yes != permit.Covers(types.UID(saved.UID)) || permit.Covers("other") {
				t.Errorf("%s: %v, %+v", name, err, permit)
			}
		})
	}
}
