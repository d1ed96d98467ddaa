package session

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// NamedNodes are the nodes that the options name.
type NamedNodes struct {
	Inventories []*inventory.Inventory
	Missing     []string // the names without an inventory
	unread      []error  // errors of inventories that couldn't be read
}

// Named reads the inventories of the nodes that the options name, each once.
func (o *InventoryOptions) Named(ctx context.Context, client *kube.Client) (*NamedNodes, error) {
	n, seen := &NamedNodes{}, map[string]bool{}
	for _, node := range o.Nodes {
		if seen[node] {
			continue
		}
		seen[node] = true
		inv, err := o.one(ctx, client, node)
		switch {
		case context.Cause(ctx) != nil:
			return nil, Unread(ctx, context.Cause(ctx))
		case err != nil:
			n.unread = append(n.unread, err)
		case inv == nil:
			n.Missing = append(n.Missing, node)
		default:
			n.Inventories = append(n.Inventories, inv)
		}
	}
	return n, nil
}

// one reads the inventory of one node. It returns nil if there is none.
func (o *InventoryOptions) one(ctx context.Context, client *kube.Client, node string) (*inventory.Inventory, error) {
	if !naming.IsDNS1123Subdomain(inventory.Name(node)) {
		return nil, nil
	}
	cm, err := client.ConfigMaps().Get(ctx, o.Namespace, inventory.Name(node))
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, Unread(ctx, err)
	case cm.Labels[wellknown.LabelRecord] != wellknown.RecordNode:
		return nil, Fail(fmt.Errorf("ConfigMap %s/%s lacks the label %s=%s, so no run counts it as an inventory (if it is one, restore its labels)",
			cm.Namespace, cm.Name, wellknown.LabelRecord, wellknown.RecordNode))
	}
	inv, err := inventory.Decode(cm)
	return inv, Fail(err)
}

// NotFound returns an error for names without a node, with suggestions.
func (o *InventoryOptions) NotFound(ctx context.Context, client *kube.Client, names []string) error {
	if len(names) == 0 || o.IgnoreNotFound {
		return nil
	}
	missing := *o
	missing.Nodes = names
	if _, err := missing.Read(ctx, NewHubRecords(store.New(client.ConfigMaps()), o.Namespace)); err != nil {
		return err
	}
	return BadUsage(missing.Unrecorded("node", names, nil)) // the inventory appeared since
}

// Ended returns the result of a use case that showed nodes. An unreadable inventory matters
// more than an unknown name.
func (n *NamedNodes) Ended(notFound error) error {
	if len(n.unread) == 0 {
		return notFound
	}
	first := (*Error)(nil)
	errors.As(n.unread[0], &first)
	return &Error{Outcome: first.Outcome, Err: errors.Join(append(n.unread, notFound)...)}
}
