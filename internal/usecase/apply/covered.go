package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/trust"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// Covered refuses a run of a hub that keeps to some namespaces, unless these are all in which
// inventories of the hub count. A run that misses an inventory could take the objects of that
// node for nobody's, and would forget the namespace in the hub record. record is nil before
// the run has read it.
func Covered(within []string, h load.HubPrograms, record *inventory.Hub, nothing string) error {
	if len(within) == 0 {
		return nil
	}
	var outside []string
	for _, namespace := range slices.Sorted(maps.Keys(trust.Namespaces(h.Key, record, h.Namespaces()))) {
		if !slices.Contains(within, namespace) {
			outside = append(outside, namespace)
		}
	}
	if len(outside) == 0 {
		return nil
	}
	return &session.Error{Outcome: session.BadInput, Summary: nothing, Err: fmt.Errorf(
		"hub %s or its nodes are also in namespaces that --namespaces lacks: %s (add them, or let somebody run who may read them)", h.Key, strings.Join(outside, ", "))}
}

// keepsTo refuses what needs more than some namespaces. A tombstone could delete an object
// that an inventory elsewhere lists, and the run wouldn't see that.
func (o *Options) keepsTo(in *Loaded) error {
	within := o.Access.Namespaces
	if len(within) == 0 {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return &session.Error{Outcome: session.BadInput, Err: fmt.Errorf(format, args...), Summary: o.Nothing}
	}
	if len(within) > kinds.NamespacesApart {
		return refuse("--namespaces has %d namespaces, and a run watches at most %d one by one (split the hub, or run without --namespaces)", len(within), kinds.NamespacesApart)
	}
	stones := len(in.Tombstones)
	for _, h := range in.Hubs {
		if err := Covered(within, h, nil, o.Nothing); err != nil {
			return err
		}
		for _, p := range h.Programs {
			stones += len(p.Form.Tombstones)
		}
	}
	if stones > 0 {
		return refuse("tombstones and --namespaces exclude each other: lynqctl doesn't see whether a node in another namespace has the object")
	}
	return nil
}
