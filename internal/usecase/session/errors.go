package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Outcome is how a use case ended that has an error.
type Outcome int

// The outcomes.
const (
	Failed   Outcome = iota + 1 // something failed, the rest was done
	BadInput                    // nothing changed
	Refused                     // by a guard, or not confirmed; nothing changed
	Changed                     // all is well, and the output changed: for who asked
)

// Error is an error that knows its outcome.
type Error struct {
	Outcome Outcome
	Err     error
	Summary string // last line for the person; "" where Err says it all
	Next    string // a command that tells more; "" for none
	Denied  bool   // rights are missing
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrReported is an error that a View has shown already.
var ErrReported = errors.New("see above")

// BadUsage is an error of the options, or of names in them.
func BadUsage(err error) error { return &Error{Outcome: BadInput, Err: err} }

// BadInputs reports everything that is wrong with the inputs; nothing says what was
// not done therefore.
func BadInputs(problems lynq.Problems, nothing string) error {
	sorted := problems.Sorted()
	return &Error{
		Outcome: BadInput,
		Err:     sorted,
		Summary: AndNothing(phrase.Count(len(sorted), "problem")+" in the inputs", nothing),
	}
}

// AndNothing adds what a failure says of its output to what is wrong. Commands without
// output say nothing.
func AndNothing(what, nothing string) string {
	if nothing == "" {
		return what
	}
	return what + "; " + nothing
}

// ProblemsOf are the problems that an error is about, and how many more of rows there are.
// An error that is none of problems is one without a place.
func ProblemsOf(err error) (problems lynq.Problems, more int) {
	var badRows *render.BadRowsError
	var failedRows *render.FailedRowsError
	switch {
	case err == nil:
		return nil, 0
	case errors.As(err, &badRows):
		problems, more = badRows.Problems, badRows.More
	case errors.As(err, &failedRows):
		problems, more = failedRows.Problems, failedRows.More
	case !errors.As(err, &problems):
		return lynq.Problems{{What: err.Error()}}, 0
	}
	return problems.Sorted(), more
}

// Fail is an error while something was done. Nil stays nil.
func Fail(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Outcome: Failed, Err: err}
}

// Untouched is an error before anything was written.
func Untouched(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = cause
	}
	return &Error{Outcome: BadInput, Err: err, Summary: "nothing changed"}
}

// Unread is an error of a use case that only reads, and could not.
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

// SaysDenied tells whether a message is that of a server that refuses for want of a
// right: no matter what decides about rights there, it says so in these words. A quota
// and other admission answer 403 too, and no role helps against them.
func SaysDenied(message string) bool {
	_, why, found := strings.Cut(message, " is forbidden: User ")
	return found && strings.Contains(why, " cannot ")
}
