package observe

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// TakenNames finds new nodes with a name that a node of another hub already has. It lists
// the metadata of other hubs' inventories twice, in within or, without it, in all namespaces.
// Without a new node it sends no request.
func TakenNames(ctx context.Context, c Reader, hub lynq.HubKey, within []string, nodes []*plan.Node, inventories []*inventory.Inventory) (map[lynq.NodeKey]*inventory.Inventory, error) {
	wanted, namespace := newNodes(nodes, inventories)
	if len(wanted) == 0 {
		return nil, nil
	}
	taken := map[lynq.NodeKey]*inventory.Inventory{}
	for _, others := range []string{
		wellknown.LabelHub + "!=" + hub.Name,
		wellknown.LabelHub + "=" + hub.Name + "," + wellknown.LabelHubNamespace + "!=" + hub.Namespace,
	} {
		err := listIn(ctx, c, configMaps(), namespace, within, wellknown.LabelRecord+"="+wellknown.RecordNode+","+others, func(m *metav1.PartialObjectMetadata) func() {
			inv, err := inventory.Identify(&m.ObjectMeta)
			if err != nil || !wanted[inv.Node.Key()] { // if its owner is unknown, lynqctl never overwrites it
				return nil
			}
			return func() { taken[inv.Node.Key()] = inv }
		})
		if err != nil {
			return nil, fmt.Errorf("list the names of the nodes of other hubs than %s: %w", hub, err)
		}
	}
	return taken, nil
}

// listIn lists objects of a kind in a namespace. With "", it lists those in each namespace of
// within, or in all without within.
func listIn(ctx context.Context, c Reader, r lynq.APIResource, namespace string, within []string, selector string, read func(*metav1.PartialObjectMetadata) (note func())) error {
	if namespace != "" || len(within) == 0 {
		within = []string{namespace}
	}
	for _, namespace := range within {
		if err := c.List(ctx, r, namespace, selector, read); err != nil {
			return err
		}
	}
	return nil
}

// newNodes returns the nodes without an inventory, and their namespace, or "" for several.
func newNodes(nodes []*plan.Node, inventories []*inventory.Inventory) (wanted map[lynq.NodeKey]bool, namespace string) {
	recorded := make(map[lynq.NodeKey]bool, len(inventories))
	for _, inv := range inventories {
		recorded[inv.Node.Key()] = true
	}
	wanted = map[lynq.NodeKey]bool{}
	for _, n := range nodes {
		if recorded[n.Key()] {
			continue
		}
		if len(wanted) == 0 {
			namespace = n.Namespace
		} else if namespace != n.Namespace {
			namespace = ""
		}
		wanted[n.Key()] = true
	}
	return wanted, namespace
}

func configMaps() lynq.APIResource {
	return lynq.APIResource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
}
