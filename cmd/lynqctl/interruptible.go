package main

import "context"

// interruptible runs what may block where no context reaches, such as opening a
// pipe that nobody writes to. When the context ends first, what runs is left
// behind, and nothing that it sets may be used.
func interruptible(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
