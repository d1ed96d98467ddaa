package applycmd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hubTries is how often a run at least tries to write its hub record, which runs of other
// shards, approvals and people write too. Further tries end with the lock timeout. Between
// two tries, it waits at most hubPause.
const (
	hubTries = 64
	hubPause = 200 * time.Millisecond
)

// updateHub saves the hub record that next makes from the one in Records. If next returns
// nil, updateHub saves nothing. After a conflict, updateHub reads the record again and
// calls next again.
func (j *Job) updateHub(ctx context.Context, hub lynq.HubKey, next func() *inventory.Hub) error {
	until := time.Now().Add(j.RunOptions.LockTimeout)
	for try := 1; ; try++ {
		record := next()
		if record == nil {
			return nil
		}
		saved, err := j.Store.SaveHub(ctx, record)
		if err == nil {
			j.Records[hub] = saved
			return nil
		}
		if was := (*store.ChangedError)(nil); !errors.As(err, &was) || try >= hubTries && !time.Now().Before(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(rand.N(hubPause)): //nolint:gosec // so that two shards don't meet again
		}
		there, loadErr := j.Store.LoadHub(ctx, hub.Namespace, hub.Name)
		if loadErr != nil {
			return loadErr
		}
		if there == nil || there.Deleting {
			return err // nobody deletes it while we hold a Lease
		}
		j.Records[hub] = there
	}
}

// newHub returns the record of a hub that has none.
func (j *Job) newHub(hub lynq.HubKey) *inventory.Hub {
	return &inventory.Hub{Name: hub.Name, Namespace: hub.Namespace, Finalizer: !j.Options.NoFinalizer}
}

// remember sets what the hub record says of earlier runs.
func (j *Job) remember(h load.HubPrograms, in *decide.Input) {
	j.endHub(h.Key, len(in.Recorded.Inventories)+len(in.Recorded.Broken))
	if r := j.Records[h.Key]; r != nil {
		in.Recorded.HubDeleting, in.Recorded.Deletions = r.Deleting && r.Finalizer, r.Deletions
		in.Recorded.Leaving, in.Recorded.LastRun = r.Leaving, r.Time
	}
	in.Desired.Evidence, in.Desired.Used = j.evidence(h), j.used(h)
}

// endHub begins a new record if somebody deleted the old one and the hub has no node left,
// for example because a run was killed while it deleted the hub. The deletion then deletes
// nothing else, so the run completes it before its first write.
func (j *Job) endHub(hub lynq.HubKey, nodes int) {
	r := j.Records[hub]
	if r == nil || !r.Deleting || !r.Finalizer || nodes > 0 {
		return
	}
	j.WarnOnce(fmt.Sprintf("hub %s: its record, ConfigMap %s/%s, was deleted, and no node is left: apply completes the deletion, and writes a new record", hub, hub.Namespace, inventory.HubName(hub.Name)))
	j.ended[hub], j.Records[hub] = r, j.newHub(hub)
}

// completeHub completes the deletion of a hub without nodes, the history first, as delete
// and finalize do.
func (j *Job) completeHub(ctx context.Context, h load.HubPrograms) error {
	old := j.ended[h.Key]
	if old == nil {
		return nil
	}
	known, err := j.Recorded(ctx, h.Key, old, h.Namespaces())
	if err != nil {
		return err
	}
	nodes := len(known.Inventories) + len(known.Broken)
	permit, err := decide.PermitHub(old, nodes)
	if err != nil {
		return err
	}
	err = j.Store.RemoveHistory(ctx, h.Key, func(uid types.UID) (decide.Permit, error) { return decide.PermitHistory(h.Key, nodes, uid) })
	if err != nil {
		return err
	}
	delete(j.ended, h.Key)
	return j.Store.CompleteHub(ctx, old, permit)
}
