package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
)

// TestWarnings wants one list for all objects of a namespace that are unready together, even
// if it fails, and a new one later.
func TestWarnings(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, fails := range []error{nil, errors.New("too slow")} {
		var lists atomic.Int32
		w := &warnings{now: func() time.Time { return now }, list: func(_ context.Context, namespace string) ([]ready.Event, error) {
			lists.Add(1)
			return []ready.Event{{Name: namespace}}, fails
		}}
		twenty := func(want int32) {
			t.Helper()
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					namespace := []string{"shop", "web"}[i%2]
					if got := w.of(t.Context(), namespace); len(got) != 1 || got[0].Name != namespace {
						t.Errorf("namespace %s: %v", namespace, got)
					}
				})
			}
			all.Wait()
			if got := lists.Load(); got != want {
				t.Errorf("%d lists, want %d (%v)", got, want, fails)
			}
		}
		twenty(2)
		now = now.Add(listAgain - 1)
		twenty(2)
		now = now.Add(1)
		twenty(4)
	}
}
