package orphans

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// ListOptions select orphans, and the cluster to search.
type ListOptions struct {
	Access  kube.Access
	Timeout time.Duration // 0 means no limit
	Query   orphan.Query
	// Stranded also finds tracked objects that no inventory lists, and entries without
	// objects.
	Stranded bool
}

// List finds the objects that nodes left behind.
func List(ctx context.Context, e *session.Engine, o *ListOptions) (*orphan.Found, error) {
	client, warnings, err := e.Connect(&o.Access)
	if err != nil {
		return nil, err
	}
	warnings.Look(true)
	q := o.Query
	if o.Stranded {
		q.Stranded = store.New(client.ConfigMaps())
	}
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	found, err := e.LookForOrphans(ctx, client, warnings, q)
	if err != nil {
		return nil, session.Unread(ctx, err)
	}
	return found, nil
}
