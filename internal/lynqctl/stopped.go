package lynqctl

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// stopped is why a context ended that a signal ended.
type stopped struct{ signal os.Signal }

// Error implements error.
func (s *stopped) Error() string { return "stopped by " + s.name() }

// name is how people call the signal.
func (s *stopped) name() string {
	switch s.signal {
	case syscall.SIGTERM:
		return "SIGTERM"
	case os.Interrupt:
		return "SIGINT"
	}
	return "a signal"
}

// note is the last line of a log.
func (s *stopped) note() string {
	return s.name() + " stopped lynqctl. It finished and recorded its current work, and gave its Leases back"
}

// Unwrap has a signal count as a cancelled context.
func (*stopped) Unwrap() error { return context.Canceled }

// stopOf is the signal that ended a context, nil where none did.
func stopOf(ctx context.Context) *stopped {
	s, _ := errors.AsType[*stopped](context.Cause(ctx))
	return s
}

// loggedError is one that a log has told.
type loggedError struct{ error }

// Unwrap gives the error itself.
func (e *loggedError) Unwrap() error { return e.error }
