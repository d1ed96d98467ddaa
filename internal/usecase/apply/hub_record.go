package apply

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hubTries is how often the run of a shard writes the record of its hub, where other shards
// come before. Between two tries it waits at most hubPause.
const (
	hubTries = 64
	hubPause = 200 * time.Millisecond
)

// updateHub saves the record of a hub as next makes it of the one in Records; nil saves
// nothing. The runs of other shards write the record too: then it is read again, and next
// makes another one. A run that has the hub for itself tries once.
func (j *Job) updateHub(ctx context.Context, hub lynq.HubKey, next func() *inventory.Hub) error {
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
		if was := (*store.ChangedError)(nil); j.Options.Shard.IsZero() || try == hubTries || !errors.As(err, &was) {
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
			return err // nobody who has a Lease deletes it
		}
		j.Records[hub] = there
	}
}
