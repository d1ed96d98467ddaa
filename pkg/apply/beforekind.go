package apply

import (
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// beforeKind records which objects of a kind are gone, before the run deletes the
// definition of the kind. If the run is killed then, no later run could read them.
func (r *record) beforeKind(definition lynq.Ref) error {
	if definition.Kind != "CustomResourceDefinition" || r.requests.dryRun || r.saved == nil {
		return nil
	}
	next, group := r.saved.Clone(), tracking.ContainerKey(definition).Group
	for i := range r.steps.Of {
		if s := &r.steps.Of[i]; s.Object == nil && s.State == Done && s.Record == nil && s.Ref().Group == group {
			next.Entries = inventory.Forget(next.Entries, s.Ref())
		}
	}
	if len(next.Entries) == len(r.saved.Entries) {
		return nil
	}
	return r.save(next)
}
