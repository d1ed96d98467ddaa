package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// deadlineFlag is --timeout.
type deadlineFlag struct{ timeout time.Duration }

func (d *deadlineFlag) registerDeadline(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&d.timeout, "timeout", 0, "give up after this time (0: never)")
}

func (d *deadlineFlag) checkDeadline() error {
	if d.timeout < 0 {
		return badUsage(errors.New("--timeout cannot be negative"))
	}
	return nil
}

// deadline is the context that --timeout ends.
func (d *deadlineFlag) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if d.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d.timeout, &timeoutError{d.timeout})
}

// timeoutError is what --timeout ends a run with.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("gave up after %s (--timeout)", e.after) }
