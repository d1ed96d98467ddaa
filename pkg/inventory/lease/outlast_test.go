package lease

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestOutlast wants a context that ends after its grace, and at once if the Lease was lost.
func TestOutlast(t *testing.T) {
	for name, tt := range map[string]struct {
		cause error
		lasts time.Duration
	}{
		"interrupted": {context.Canceled, 3 * time.Second},
		"lost":        {&LostError{Err: context.DeadlineExceeded}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				lasting, end := Outlast(ctx, 3*time.Second)
				defer end()
				<-time.After(time.Hour)
				if lasting.Err() != nil {
					t.Fatal("it ended before ctx did")
				}
				stop(tt.cause)
				stopped := time.Now()
				if <-lasting.Done(); time.Since(stopped) != tt.lasts {
					t.Errorf("it lasted %s, not %s", time.Since(stopped), tt.lasts)
				}
			})
		})
	}
}
