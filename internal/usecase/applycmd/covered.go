package applycmd

import (
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

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
		if err := session.Covered(within, h.Key, nil, h.Namespaces(), o.Nothing); err != nil {
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
