package orphan

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// parallel calls f for 0 to n-1, with at most atOnce calls at a time. It returns the first
// error, and cancels the other calls.
func (s *search) parallel(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.atOnce)
	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return f(ctx, i)
		})
	}
	return g.Wait()
}
