package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// HubOptions name the hub of a running watch.
type HubOptions struct {
	Access  kube.Access
	Timeout time.Duration // 0 means no limit
	Hub     lynq.HubKey
}

// Reconcile asks the watch that has a hub to read its rows and to check all of its nodes
// now. It writes only an annotation on the hub record.
func Reconcile(ctx context.Context, e *session.Engine, o *HubOptions) error {
	return e.OnCluster(ctx, &o.Access, o.Timeout, &session.RunOptions{}, func(ctx context.Context, r session.Run) error {
		j := approval{Engine: e, o: &ApproveOptions{HubOptions: *o}, store: r.Store, run: &r}
		ls := r.NewLocks(ctx, []lynq.HubKey{o.Hub})
		if err := ls.Look(ctx); err != nil {
			return session.Untouched(ctx, err)
		}
		var err error
		for range approvals {
			var record *inventory.Hub
			if record, err = j.store.LoadHub(ctx, o.Hub.Namespace, o.Hub.Name); err == nil && record == nil {
				err = j.noHub(ctx)
			}
			if err != nil {
				break
			}
			if ls.LookFree() {
				return session.Untouched(ctx, fmt.Errorf("no watch has hub %s (start lynqctl watch, or run lynqctl apply)", o.Hub))
			}
			if _, err = j.store.SaveHub(ctx, record.AskedAt(e.Now())); err == nil {
				e.Notef("hub %s: asked the running watch to check it now", o.Hub)
				return nil
			}
			if changed := (*store.ChangedError)(nil); !errors.As(err, &changed) {
				break
			}
		}
		return session.Untouched(ctx, err)
	})
}
