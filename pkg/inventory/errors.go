package inventory

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// UnreadableError says why lynqctl can't read the record of one node or hub.
type UnreadableError struct {
	// Node is what its labels and annotations say, as far as they do, in the ConfigMap's
	// namespace. It has no name where not even that is known, and for the record of a hub.
	Node        lynq.NodeID
	Name        string // the ConfigMap's
	UIDLabel    string
	DependForms []string
	// Deleting: its deletion was requested.
	Deleting bool
	// Where is the place in it, such as "data.resources line 3".
	Where string
	Err   error
}

// Error implements error.
func (e *UnreadableError) Error() string {
	subject := "this hub"
	if e.Node.Name != "" {
		subject = "node " + e.Node.String()
	}
	fix := "restore it as it was; until then, lynqctl changes nothing of " + subject
	if strings.HasPrefix(e.Name, wellknown.HubRecordPrefix) {
		fix = "restore it as it was, or remove its finalizers and delete it: the next apply creates it again; until then, lynqctl changes nothing of " + subject
	}
	if newer := (*NewerFormatError)(nil); errors.As(e.Err, &newer) {
		fix = "use that lynqctl; this one changes nothing of " + subject
	}
	return fmt.Sprintf("ConfigMap %s/%s: %s: %v (%s)", e.Node.Namespace, e.Name, e.Where, e.Err, fix)
}

// Unwrap gives what is wrong.
func (e *UnreadableError) Unwrap() error { return e.Err }

// NewerFormatError tells that a newer lynqctl wrote a record, which this one can't
// read.
type NewerFormatError struct{ Format int }

// Error implements error.
func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("a newer lynqctl wrote it: it has format %d, and this lynqctl knows %d", e.Format, format)
}

// BrokenError lists the records of a hub that cannot be read, in the order of
// their names.
type BrokenError struct{ Inventories []*UnreadableError }

// Error is one line per record.
func (e *BrokenError) Error() string {
	lines := make([]string, len(e.Inventories))
	for i, r := range e.Inventories {
		lines[i] = r.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the error of each record.
func (e *BrokenError) Unwrap() []error {
	errs := make([]error, len(e.Inventories))
	for i, r := range e.Inventories {
		errs[i] = r
	}
	return errs
}
