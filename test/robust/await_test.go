package robust_test

import (
	"context"
	"testing"
	"time"
)

// awaitMost is longer than anything takes in a test cluster.
const awaitMost = 5 * time.Minute

// await asks again and again until a condition holds.
func (w *world) await(t *testing.T, what string, holds func() (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), awaitMost)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		is, err := holds()
		switch {
		case err != nil:
			t.Fatalf("waiting for %s: %v", what, err)
		case is:
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}
