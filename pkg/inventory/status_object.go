package inventory

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ObjectStatus says why an object is not as its node wants it: a run skipped it, or
// never wrote it, or it is not ready.
type ObjectStatus struct {
	ID        string `json:"id"` // of the resource in its form
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Reason    string `json:"reason"`
	Message   string `json:"message,omitempty"`
	// Since is from when on its readiness was waited for: since it was written, as
	// far as that is known. Zero of one that is not waited for.
	Since time.Time `json:"since,omitzero"`
}

// The reasons, beside those of steps that leave an object alone on purpose.
const (
	ObjectConflict         = "Conflict"         // it has another owner
	ObjectDependencyFailed = "DependencyFailed" // what it depends on did not come about
	ObjectFailed           = "Failed"           // it could not be written
	ObjectInterrupted      = "Interrupted"      // the run ended before its turn, or while it was waited for
	ObjectNodeFailed       = "NodeFailed"       // it stays, since the node did not end well
	ObjectNotReady         = "NotReady"         // its controller gave up, or it is gone
	ObjectNotWaitedFor     = "NotWaitedFor"     // the run did not wait
	ObjectSkipped          = "Skipped"          // it has to stay for now
	ObjectTimedOut         = "TimedOut"         // its timeoutSeconds are used up
)

// What a record has room for.
const (
	maxObjects       = 40
	maxObjectMessage = 256
)

// Ref is the object.
func (o *ObjectStatus) Ref() lynq.Ref {
	return lynq.Ref{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

func (o ObjectStatus) equal(other ObjectStatus) bool {
	same := o.Since.Equal(other.Since)
	o.Since, other.Since = time.Time{}, time.Time{}
	return same && o == other
}

// Object returns what the status says of an object; nil for nothing.
func (s *Status) Object(ref lynq.Ref) *ObjectStatus {
	i := slices.IndexFunc(s.Objects, func(o ObjectStatus) bool { return o.Ref() == ref })
	if i < 0 {
		return nil
	}
	return &s.Objects[i]
}

// boundedObjects are as many objects as there is room for, and how many more there are.
func (s *Status) boundedObjects() ([]ObjectStatus, int) {
	kept := slices.Clone(s.Objects[:min(len(s.Objects), maxObjects)])
	for i := range kept {
		kept[i].Message = cut(kept[i].Message, maxObjectMessage)
		kept[i].Since = kept[i].Since.UTC().Truncate(time.Second)
	}
	return kept, s.MoreObjects + len(s.Objects) - len(kept)
}
