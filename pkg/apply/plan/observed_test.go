package plan_test

import (
	"errors"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestUnknownOf checks that one unreadable object of the node is an error, and so is the
// object of a hook that has begun. Objects of other nodes don't count.
func TestUnknownOf(t *testing.T) {
	denied := errors.New("denied")
	hook := func(phase inventory.Phase) *inventory.Inventory {
		return &inventory.Inventory{Entries: []inventory.Entry{{Ref: config()}}, Hooks: []inventory.Entry{{Ref: claim(), Phase: phase}}}
	}
	for name, tt := range map[string]struct {
		unknown lynq.Ref
		of      *inventory.Inventory
		want    error
	}{
		"nothing":                 {lynq.Ref{}, hook(""), nil},
		"an object of the node":   {config(), hook(""), denied},
		"the last object of it":   {claim(), &inventory.Inventory{Entries: []inventory.Entry{{Ref: config()}, {Ref: claim()}}}, denied},
		"a hook that has begun":   {claim(), hook(inventory.PhaseRunning), denied},
		"a hook that never ran":   {claim(), hook(""), nil},
		"another node's object":   {claim(), &inventory.Inventory{Entries: []inventory.Entry{{Ref: config()}}}, nil},
		"an inventory of nothing": {config(), &inventory.Inventory{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := plan.Observed{Unknown: map[lynq.Ref]error{tt.unknown: denied}}
			if got := o.UnknownOf(tt.of); !errors.Is(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
