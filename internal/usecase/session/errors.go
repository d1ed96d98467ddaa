package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Outcome classifies the error of a use case.
type Outcome int

// The outcomes.
const (
	Failed   Outcome = iota + 1 // something failed, the run did the rest
	BadInput                    // nothing changed
	Refused                     // by a guard, or not confirmed; nothing changed
	Changed                     // the output changed without an error, for callers who ask
)

// Error is an error with an outcome.
type Error struct {
	Outcome Outcome
	Err     error
	Summary string // the last line for the user, "" if Err is enough
	Next    string // a command that shows more, or ""
	Denied  bool   // permissions are missing
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrReported says that a View has shown the error already.
var ErrReported = errors.New("see above")

// BadUsage returns an error about options, or names in them.
func BadUsage(err error) error { return &Error{Outcome: BadInput, Err: err} }

// BadInputs returns an error with all problems of the inputs. nothing says what lynqctl
// didn't do.
func BadInputs(problems lynq.Problems, nothing string) error {
	sorted := problems.Sorted()
	return &Error{
		Outcome: BadInput,
		Err:     sorted,
		Summary: AndNothing(phrase.Count(len(sorted), "problem")+" in the inputs", nothing),
	}
}

// AndNothing adds to an error what the failure means for the output. Commands without
// output add nothing.
func AndNothing(what, nothing string) string {
	if nothing == "" {
		return what
	}
	return what + "; " + nothing
}

// ProblemsOf returns the problems in an error, and how many more problems of rows it has.
// Any other error is one problem without a place.
func ProblemsOf(err error) (problems lynq.Problems, more int) {
	var rows *render.RowsError
	switch {
	case err == nil:
		return nil, 0
	case errors.As(err, &rows):
		problems, more = rows.Problems, rows.More
	case !errors.As(err, &problems):
		return lynq.Problems{{What: err.Error()}}, 0
	}
	return problems.Sorted(), more
}

// Text returns the text of an error for people. Rows with the same problem share a line.
func Text(err error) string {
	if known := (*Error)(nil); errors.As(err, &known) {
		err = known.Err
	}
	var lines []string
	each := []error{err}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		each = several.Unwrap()
	}
	for _, err := range each {
		if listed, ok := err.(interface{ Lines() []string }); ok {
			lines = append(lines, listed.Lines()...)
		} else {
			lines = append(lines, err.Error())
		}
	}
	return strings.Join(lines, "\n")
}

// Fail returns err with the outcome Failed. It returns nil for nil. The number of a group that
// doesn't exist is bad usage, because who asks for groups only looks.
func Fail(err error) error {
	if err == nil {
		return nil
	}
	if unknown, ok := errors.AsType[*changeset.NoGroupError](err); ok {
		return BadUsage(unknown)
	}
	return &Error{Outcome: Failed, Err: err}
}

// Untouched returns err, which came before the run wrote anything, with the outcome
// BadInput.
func Untouched(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = cause
	}
	return &Error{Outcome: BadInput, Err: err, Summary: "nothing changed"}
}

// Unread returns the error of a use case that only reads, and couldn't.
func Unread(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = cause
	}
	return &Error{Outcome: BadInput, Err: err}
}

// InOrder joins errors in the order of their texts.
func InOrder(errs []error) error {
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// SaysDenied reports whether a message says that the server refused a request for lack of
// permissions. All authorizers use these words. Quotas and admission also answer 403, but
// roles don't help against them.
func SaysDenied(message string) bool {
	_, why, found := strings.Cut(message, " is forbidden: User ")
	return found && strings.Contains(why, " cannot ")
}
