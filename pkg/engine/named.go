package engine

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// namedNodes are the nodes that options name.
type namedNodes struct {
	inventories []*inventory.Inventory
	missing     []string // those without an inventory
	unread      []error  // of those that could not be read
}

// NamedInventories reads the inventories of the nodes that the options name. Those that
// there are come also with the error that tells of the others.
func (e *Engine) NamedInventories(ctx context.Context, o *InventoryOptions) ([]*inventory.Inventory, error) {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.connectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	named, err := o.named(ctx, client)
	if err != nil {
		return nil, err
	}
	return named.inventories, named.ended(o.notFound(ctx, client, named.missing))
}

// named reads what there is of the nodes that the options name, each once.
func (o *InventoryOptions) named(ctx context.Context, client *kube.Client) (*namedNodes, error) {
	n, seen := &namedNodes{}, map[string]bool{}
	for _, node := range o.Nodes {
		if seen[node] {
			continue
		}
		seen[node] = true
		inv, err := o.one(ctx, client, node)
		switch {
		case context.Cause(ctx) != nil:
			return nil, unread(ctx, context.Cause(ctx))
		case err != nil:
			n.unread = append(n.unread, err)
		case inv == nil:
			n.missing = append(n.missing, node)
		default:
			n.inventories = append(n.inventories, inv)
		}
	}
	return n, nil
}

// one reads the inventory of one node, nil where there is none.
func (o *InventoryOptions) one(ctx context.Context, client *kube.Client, node string) (*inventory.Inventory, error) {
	if !lynq.IsDNS1123Subdomain(inventory.Name(node)) {
		return nil, nil
	}
	cm, err := client.ConfigMaps().Get(ctx, o.Namespace, inventory.Name(node))
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, unread(ctx, err)
	case cm.Labels[lynq.LabelRecord] != lynq.RecordNode:
		return nil, Fail(fmt.Errorf("ConfigMap %s/%s lacks the label %s=%s, so that no run takes it for an inventory (if it is one, give it back its labels)",
			cm.Namespace, cm.Name, lynq.LabelRecord, lynq.RecordNode))
	}
	inv, err := inventory.Decode(cm)
	return inv, Fail(err)
}

// notFound is that there are no nodes of these names, with the names that there are.
func (o *InventoryOptions) notFound(ctx context.Context, client *kube.Client, names []string) error {
	if len(names) == 0 || o.IgnoreNotFound {
		return nil
	}
	missing := *o
	missing.Nodes = names
	if _, err := missing.read(ctx, newHubRecords(store.New(client.ConfigMaps()), o.Namespace)); err != nil {
		return err
	}
	return BadUsage(missing.unrecorded("node", names, nil)) // it went and came
}

// ended is the end of a use case that showed what there is: what could not be read
// weighs more than names of which there is nothing.
func (n *namedNodes) ended(notFound error) error {
	if len(n.unread) == 0 {
		return notFound
	}
	first := (*Error)(nil)
	errors.As(n.unread[0], &first)
	return &Error{Outcome: first.Outcome, Err: errors.Join(append(n.unread, notFound)...)}
}
