package status

import (
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// Conceal returns an object's readiness without a message that may quote a secret value.
// Conditions, pods and events quote manifests, and status knows no row. The entry knows
// only that the object has such a value.
func Conceal(r *inventory.Entry, is ready.Readiness) ready.Readiness {
	if r.Sensitive && is.Message != "" && (is.State == ready.StateWaiting || is.State == ready.StateFailed) {
		is.Message = redact.Concealed
	}
	return is
}

// conceal hides the messages of what belongs to an object.
func conceal(owned []Object) {
	for i := range owned {
		if owned[i].Message != "" {
			owned[i].Message = redact.Concealed
		}
		conceal(owned[i].Owned)
	}
}

// ConcealEvents hides the messages of events about objects with secret values, and about
// what belongs to these.
func ConcealEvents(inv *inventory.Inventory, objects []Object, events []Event) {
	hidden := map[lynq.Ref]bool{}
	for _, r := range inv.All() {
		if r.Sensitive {
			hidden[r.Ref] = true
		}
	}
	var below func(objects []Object, inside bool)
	below = func(objects []Object, inside bool) {
		for i := range objects {
			ref := objects[i].Ref()
			if inside {
				hidden[ref] = true
			}
			below(objects[i].Owned, inside || hidden[ref])
		}
	}
	below(objects, false)
	for i := range events {
		e := &events[i]
		for ref := range hidden {
			if e.Message != "" && ref.Kind == e.Kind && ref.Namespace == e.Namespace && ref.Name == e.Name {
				e.Message = redact.Concealed
			}
		}
	}
}
