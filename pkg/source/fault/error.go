package fault

import (
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Error says why a source can't be read, and how to fix that.
type Error struct {
	Place string // the connection, the file, or FILE:LINE; never a password
	What  string
	Fix   string // the fix; may be empty
	Err   error  // the cause, printed after What; may be nil
}

// Error formats the error as "place: what: cause (fix)".
func (e *Error) Error() string {
	s := e.Place + ": " + e.What
	if e.Err != nil {
		s += ": " + phrase.Shown(e.Err.Error())
	}
	if e.Fix != "" {
		s += " (" + e.Fix + ")"
	}
	return phrase.OneLine(s) // a server may have written it
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
