package inventory

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// UnreadableError says why lynqctl can't read an inventory or a hub record.
type UnreadableError struct {
	// Node comes from labels and annotations, in the ConfigMap's namespace. Its name is
	// empty if they don't have it, and for a hub record.
	Node        lynq.NodeID
	Name        string // the name of the ConfigMap
	UIDLabel    string
	DependForms []string
	// Deleting is set if somebody deleted the ConfigMap and a finalizer blocks that.
	Deleting bool
	// Where is the place of the error, such as "data.resources line 3".
	Where string
	Err   error
}

// Error implements error.
func (e *UnreadableError) Error() string {
	subject := "this hub"
	if e.Node.Name != "" {
		subject = "node " + e.Node.String()
	}
	// Without cascade=orphan, Kubernetes deletes the objects of an inventory with it.
	fix := "restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of " + subject
	if strings.HasPrefix(e.Name, wellknown.HubRecordPrefix) {
		fix = "restore it as it was, or remove its finalizers and delete it: the next apply creates it again; until then, lynqctl changes nothing of " + subject
	}
	if newer := (*NewerFormatError)(nil); errors.As(e.Err, &newer) {
		fix = "use that lynqctl; this one changes nothing of " + subject
	}
	return fmt.Sprintf("ConfigMap %s/%s: %s: %v (%s)", e.Node.Namespace, e.Name, e.Where, e.Err, fix)
}

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// NewerFormatError means that a newer lynqctl wrote the data, and this one can't read it.
type NewerFormatError struct{ Format int }

// Error implements error.
func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("a newer lynqctl wrote it: it has format %d, and this lynqctl knows %d", e.Format, format)
}

// BrokenError lists a hub's inventories that can't be read, sorted by name.
type BrokenError struct{ Inventories []*UnreadableError }

// Error returns one line for each inventory.
func (e *BrokenError) Error() string {
	lines := make([]string, len(e.Inventories))
	for i, r := range e.Inventories {
		lines[i] = r.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the error of each inventory.
func (e *BrokenError) Unwrap() []error {
	errs := make([]error, len(e.Inventories))
	for i, r := range e.Inventories {
		errs[i] = r
	}
	return errs
}
