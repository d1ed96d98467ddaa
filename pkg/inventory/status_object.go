package inventory

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ObjectStatus says why an object differs from what its node wants. A run skipped it or
// never wrote it, or it isn't ready.
type ObjectStatus struct {
	ID string `json:"id"` // id of the resource in its form
	lynq.RefFields
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Since is when lynqctl wrote the object and began to wait for it, if known. It is
	// zero if lynqctl doesn't wait.
	Since time.Time `json:"since,omitzero"`
	// Dropped is set if the node doesn't want the object, and lynqctl keeps it.
	Dropped bool `json:"dropped,omitempty"`
}

// These reasons add to those of steps that skip an object on purpose.
const (
	ObjectConflict         = "Conflict"         // another owner has it
	ObjectDependencyFailed = "DependencyFailed" // a dependency failed
	ObjectFailed           = "Failed"           // the write failed
	ObjectInterrupted      = "Interrupted"      // the run ended before or during its turn
	ObjectNodeFailed       = "NodeFailed"       // lynqctl kept it because the node failed
	ObjectNotReady         = "NotReady"         // its controller gave up, or it is gone
	ObjectNotWaitedFor     = "NotWaitedFor"     // the run did not wait
	ObjectSkipped          = "Skipped"          // lynqctl keeps it for now
	ObjectTimedOut         = "TimedOut"         // its timeoutSeconds have passed
)

// These limits keep an inventory small.
const (
	maxObjects       = 40
	maxObjectMessage = 256
)

func (o ObjectStatus) equal(other ObjectStatus) bool {
	same := o.Since.Equal(other.Since)
	o.Since, other.Since = time.Time{}, time.Time{}
	return same && o == other
}

// Object returns the status of an object, or nil.
func (s *Status) Object(ref lynq.Ref) *ObjectStatus {
	i := slices.IndexFunc(s.Objects, func(o ObjectStatus) bool { return o.Ref() == ref })
	if i < 0 {
		return nil
	}
	return &s.Objects[i]
}

// boundedObjects returns as many objects as fit, and the number of the rest.
func (s *Status) boundedObjects() ([]ObjectStatus, int) {
	kept := slices.Clone(s.Objects[:min(len(s.Objects), maxObjects)])
	for i := range kept {
		kept[i].Message = cut(kept[i].Message, maxObjectMessage)
		kept[i].Since = kept[i].Since.UTC().Truncate(time.Second)
	}
	return kept, s.MoreObjects + len(s.Objects) - len(kept)
}
