package engine

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// unrendered are those of the named nodes without an inventory that could not be
// rendered, as the records of hubs have them. They are missing no more.
func (o *InventoryOptions) unrendered(ctx context.Context, client *kube.Client, named *namedNodes) ([]*NodeStatus, error) {
	if len(named.missing) == 0 {
		return nil, nil
	}
	store := store.New(client.ConfigMaps())
	hubs, err := store.Hubs(ctx, "") // that of a node may be anywhere
	if apierrors.IsForbidden(err) {
		hubs, err = store.Hubs(ctx, o.Namespace)
	}
	if _, err = brokenOnes(err); err != nil {
		return nil, unread(ctx, err)
	}
	var nodes []*NodeStatus
	for _, h := range hubs {
		for i := range h.Unrendered {
			n := status.OfUnrendered(keyOfHub(h), &h.Unrendered[i], h.Time)
			if n.Namespace == o.Namespace && slices.Contains(named.missing, n.Name) {
				nodes = append(nodes, &NodeStatus{Node: n, Recorded: n, Objects: []status.Object{}})
			}
		}
	}
	named.missing = slices.DeleteFunc(named.missing, func(name string) bool {
		return slices.ContainsFunc(nodes, func(n *NodeStatus) bool { return n.Name == name })
	})
	return nodes, nil
}
