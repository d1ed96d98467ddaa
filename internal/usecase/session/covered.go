package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Covered refuses to change a hub in a run that keeps to some namespaces, unless these are
// all in which inventories of the hub count. A run that misses an inventory could take the
// objects of that node for nobody's, and would forget the namespace in the hub record.
// record is nil before the run has read it, and namespaces are those of the hub's forms.
func Covered(within []string, hub lynq.HubKey, record *inventory.Hub, namespaces []string, nothing string) error {
	outside := Outside(within, hub, record, namespaces)
	if len(outside) == 0 {
		return nil
	}
	return &Error{Outcome: BadInput, Summary: nothing, Err: fmt.Errorf(
		"hub %s or its nodes are also in namespaces that --namespaces lacks: %s (add them, or let somebody run who may read them)", hub, strings.Join(outside, ", "))}
}

// Outside returns the namespaces of a hub and its nodes that a run leaves out because it
// keeps to others.
func Outside(within []string, hub lynq.HubKey, record *inventory.Hub, namespaces []string) []string {
	if len(within) == 0 {
		return nil
	}
	all := slices.Sorted(maps.Keys(inventory.Namespaces(hub, record, namespaces)))
	return slices.DeleteFunc(all, func(namespace string) bool { return slices.Contains(within, namespace) })
}
