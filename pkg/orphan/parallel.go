package orphan

import (
	"context"
	"sync"
)

// parallel does things at the same time, up to so many.
type parallel struct{ atOnce int }

// do calls f for 0 to n-1. The first error ends all others, and is returned.
func (p parallel) do(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var first error
	var once sync.Once
	var running sync.WaitGroup
	gate := make(chan struct{}, p.atOnce)
	for i := range n {
		running.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			err := context.Cause(ctx)
			if err == nil {
				err = f(ctx, i)
			}
			if err != nil {
				once.Do(func() { first = err })
				cancel(err)
			}
		})
	}
	running.Wait()
	return first
}
