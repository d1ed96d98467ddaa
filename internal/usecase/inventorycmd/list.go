package inventorycmd

import (
	"context"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
)

// List reads the inventories that the options choose.
func List(ctx context.Context, e *session.Engine, o *session.InventoryOptions) (*session.Inventories, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	return o.Read(ctx, session.NewHubRecords(store.New(client.ConfigMaps()), o.Namespace))
}

// Show reads the inventories of the named nodes. If some don't exist, it returns the others
// together with an error.
func Show(ctx context.Context, e *session.Engine, o *session.InventoryOptions) ([]*inventory.Inventory, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	named, err := o.Named(ctx, client)
	if err != nil {
		return nil, err
	}
	return named.Inventories, named.Ended(o.NotFound(ctx, client, named.Missing))
}
