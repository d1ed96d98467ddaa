package lease

import (
	"context"
	"errors"
	"time"
)

// Outlast returns a context that ends grace after ctx, so that an interrupted run can
// finish and record its work. It ends with ctx if a run lost its Lease, because others may
// write from then on. The caller must call the function, which ends it.
func Outlast(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		grace := grace
		if Lost(ctx) {
			grace = 0
		}
		timer := time.AfterFunc(grace, end)
		context.AfterFunc(lasting, func() { timer.Stop() })
	})
	return lasting, func() {
		stop()
		end()
	}
}

// Lost reports whether ctx ended because a run lost its Lease.
func Lost(ctx context.Context) bool {
	lost := (*LostError)(nil)
	return errors.As(context.Cause(ctx), &lost)
}
