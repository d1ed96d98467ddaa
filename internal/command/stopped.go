package command

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// StopError is the cause of a context that a signal ended.
type StopError struct{ Signal os.Signal }

// Error implements error.
func (s *StopError) Error() string { return "stopped by " + s.name() }

// name returns the usual name of the signal.
func (s *StopError) name() string {
	switch s.Signal {
	case syscall.SIGTERM:
		return "SIGTERM"
	case os.Interrupt:
		return "SIGINT"
	}
	return "a signal"
}

// Note returns the last line of a log. given is the number of Leases that were given back,
// and unreleased says why others weren't.
func (s *StopError) Note(given int, unreleased []error) string {
	if len(unreleased) == 0 {
		return s.name() + " stopped lynqctl. It finished and recorded its current work, and gave its Leases back"
	}
	sentences := []string{s.name() + " stopped lynqctl"}
	if given > 0 {
		sentences = append(sentences, "It gave "+phrase.Count(given, "Lease")+" back")
	}
	for _, err := range unreleased {
		sentences = append(sentences, "It "+err.Error())
	}
	return strings.Join(sentences, ". ")
}

// Unwrap makes a signal count as a cancelled context.
func (*StopError) Unwrap() error { return context.Canceled }

// StopOf returns the signal that ended a context, or nil if none did.
func StopOf(ctx context.Context) *StopError {
	s, _ := errors.AsType[*StopError](context.Cause(ctx))
	return s
}

// LoggedError is an error that the log contains already.
type LoggedError struct{ Err error }

// Error implements error.
func (e *LoggedError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *LoggedError) Unwrap() error { return e.Err }
