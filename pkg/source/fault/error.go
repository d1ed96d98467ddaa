package fault

import (
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Error says why a source cannot be read, for the person who can fix it.
type Error struct {
	Place string // the connection, the file, or FILE:LINE; never a password
	What  string
	Fix   string // what to do; may be empty
	Err   error  // the cause, told after What; may be nil
}

// Error is "place: what: cause (fix)".
func (e *Error) Error() string {
	s := e.Place + ": " + e.What
	if e.Err != nil {
		s += ": " + phrase.Shown(e.Err.Error())
	}
	if e.Fix != "" {
		s += " (" + e.Fix + ")"
	}
	return phrase.OneLine(s) // a server may have said it
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }
