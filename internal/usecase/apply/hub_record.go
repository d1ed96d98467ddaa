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

// hubTries limits how often the run of a shard tries to write its hub record, which other
// shards write too. Between two tries, it waits at most hubPause.
const (
	hubTries = 64
	hubPause = 200 * time.Millisecond
)

// updateHub saves the hub record that next makes from the one in Records. If next returns
// nil, updateHub saves nothing. Runs of other shards write the record too. After a
// conflict, updateHub reads the record again and calls next again. A run that has the hub
// alone tries once.
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
			return err // nobody deletes it while we hold a Lease
		}
		j.Records[hub] = there
	}
}
