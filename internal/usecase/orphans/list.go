package orphans

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// ListOptions say which orphans are meant, and in which cluster.
type ListOptions struct {
	Access  kube.Access
	Timeout time.Duration // 0 is none
	Query   orphan.Query
	// Stranded: also what no inventory has an entry for, and entries without objects.
	Stranded bool
}

// List finds what nodes left behind.
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
