package statuscmd

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// unrendered returns the named nodes that failed to render and have no inventory. The hub
// records name them. It removes them from the missing ones.
func unrendered(ctx context.Context, o *session.InventoryOptions, client *kube.Client, named *session.NamedNodes) ([]*NodeStatus, error) {
	if len(named.Missing) == 0 {
		return nil, nil
	}
	store := store.New(client.ConfigMaps())
	hubs, err := store.Hubs(ctx, "") // the hub of a node may be in any namespace
	if apierrors.IsForbidden(err) {
		hubs, err = store.Hubs(ctx, o.Namespace)
	}
	if _, err = session.BrokenOnes(err); err != nil {
		return nil, session.Unread(ctx, err)
	}
	var nodes []*NodeStatus
	for _, h := range hubs {
		for i := range h.Unrendered {
			n := status.OfUnrendered(&h.Unrendered[i], h.Time)
			if n.Namespace == o.Namespace && slices.Contains(named.Missing, n.Name) {
				nodes = append(nodes, &NodeStatus{Node: n, Recorded: n, Objects: []status.Object{}})
			}
		}
	}
	named.Missing = slices.DeleteFunc(named.Missing, func(name string) bool {
		return slices.ContainsFunc(nodes, func(n *NodeStatus) bool { return n.Name == name })
	})
	return nodes, nil
}
