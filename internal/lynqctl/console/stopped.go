package console

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// StopError is why a context ended that a signal ended.
type StopError struct{ Signal os.Signal }

// Error implements error.
func (s *StopError) Error() string { return "stopped by " + s.name() }

// name is how people call the signal.
func (s *StopError) name() string {
	switch s.Signal {
	case syscall.SIGTERM:
		return "SIGTERM"
	case os.Interrupt:
		return "SIGINT"
	}
	return "a signal"
}

// Note is the last line of a log.
func (s *StopError) Note() string {
	return s.name() + " stopped lynqctl. It finished and recorded its current work, and gave its Leases back"
}

// Unwrap has a signal count as a cancelled context.
func (*StopError) Unwrap() error { return context.Canceled }

// StopOf is the signal that ended a context, nil where none did.
func StopOf(ctx context.Context) *StopError {
	s, _ := errors.AsType[*StopError](context.Cause(ctx))
	return s
}

// LoggedError is an error that a log has told.
type LoggedError struct{ Err error }

// Error implements error.
func (e *LoggedError) Error() string { return e.Err.Error() }

// Unwrap gives the error itself.
func (e *LoggedError) Unwrap() error { return e.Err }
