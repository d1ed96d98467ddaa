package watch

import (
	"fmt"
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Fingerprint keeps the parts of an object that tell whether its next change matters.
type Fingerprint struct {
	UID             types.UID
	Generation      int64 // 0 for kinds that have none
	ResourceVersion string
	Deleting        bool
	// Ours: no other client has written to it since lynq last did, but to its status. Times are whole seconds: who wrote in the same second may have been later.
	Ours bool
	// Wrote is when lynq last wrote to it, in whole seconds, 0 for never.
	Wrote int64
	// Writers is a hash of who manages which fields since when, but for its status.
	Writers uint64
	// Applied: all that lynq wrote to it, it wrote by server-side apply. Then Decided, a
	// hash of what a plan decides by, changes with every field that is taken from lynq, and
	// with no other.
	Applied bool
	Decided uint64
	// Approved is what annotation lynq.sh/approved of a hub's record says.
	Approved string
	// Suspended and Asked are what annotations lynq.sh/suspended and lynq.sh/reconcile-at of
	// a record say.
	Suspended, Asked string
}

// FingerprintOf takes from an object's metadata what is kept of it.
func FingerprintOf(ref lynq.Ref, m *metav1.PartialObjectMetadata) Fingerprint {
	s := Fingerprint{
		UID: m.UID, Generation: m.Generation, ResourceVersion: m.ResourceVersion, Deleting: m.DeletionTimestamp != nil,
		Approved:  m.Annotations[wellknown.AnnotationApproved],
		Suspended: m.Annotations[wellknown.AnnotationSuspended], Asked: m.Annotations[wellknown.AnnotationReconcileAt],
	}
	s.Decided, s.Applied = decided(ref, m)
	h := fnv.New64a()
	var ours, others time.Time
	timed := true
	for i := range m.ManagedFields {
		e := &m.ManagedFields[i]
		if e.Subresource == "status" {
			continue
		}
		for _, text := range []string{e.Manager, string(e.Operation), e.APIVersion, e.Subresource, e.FieldsV1.GetRawString()} {
			_, _ = h.Write([]byte(text + "\x00")) // a hash takes all
		}
		if e.Time == nil {
			timed = false
			continue
		}
		_, _ = h.Write([]byte(e.Time.UTC().Format(time.RFC3339)))
		if e.Manager == wellknown.FieldManager && e.Subresource == "" {
			if e.Time.After(ours) {
				ours = e.Time.Time
			}
		} else if e.Time.After(others) {
			others = e.Time.Time
		}
	}
	s.Writers, s.Ours = h.Sum64(), timed && ours.After(others)
	if !ours.IsZero() {
		s.Wrote = ours.Unix()
	}
	return s
}

// decided is a hash of what a plan decides by of an object that lynq applied, whatever
// else changes of it.
func decided(ref lynq.Ref, m *metav1.PartialObjectMetadata) (hash uint64, applied bool) {
	l := tracking.LiveOf(ref, m)
	l.ResourceVersion, l.Generation, l.Last, l.LastButStatus = "", 0, false, false
	few := l.Rare()
	few.Updates, few.Ours, few.Others = nil, nil, nil // Fields changes if one of lynq's fields does
	l.Few = nil
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%#v %#v", l, few) // a hash takes all, and Live's String is that of its Ref
	return h.Sum64(), l.Fields != "" && !l.Updated
}

// ObjectMatters reports whether a change of a node's object calls for a look at the node:
// not one of its status alone, nor one that lynq wrote, nor one of fields that lynq did not
// apply, such as those that ignoreFields names. before is nil for an object that was not
// there. It is a pure function.
//
// A client that removes a field is not named in managedFields: the field goes from the
// entry of its manager, and no time changes. So lynq wrote only a change that has another
// time of lynq's last write.
func ObjectMatters(before *Fingerprint, now Fingerprint) bool {
	switch {
	case now.Deleting:
		return before == nil || !before.Deleting
	case before == nil || before.UID != now.UID:
		return !now.Ours
	case now.wroteSince(before):
		return false
	case now.Applied && before.Applied:
		return now.Decided != before.Decided
	case now.Generation == 0 && !now.Ours:
		return now.ResourceVersion != before.ResourceVersion
	}
	return now.Generation != before.Generation || now.Writers != before.Writers
}

// wroteSince reports whether lynq wrote the change. lynq updates no object that it applies:
// another client that borrowed lynq's name wrote such an update.
func (s *Fingerprint) wroteSince(before *Fingerprint) bool {
	return s.Ours && s.Wrote != before.Wrote && (s.Applied || !before.Applied)
}

// Asks reports whether a person asked to check the hub of a record since before.
func (s Fingerprint) Asks(before *Fingerprint) bool {
	return s.Asked != "" && before != nil && s.Asked != before.Asked
}

// RecordMatters is ObjectMatters for a record, which other clients write to have it deleted,
// to approve what is held, to suspend a node, or to have the hub checked.
func RecordMatters(before *Fingerprint, now Fingerprint) bool {
	if before == nil {
		return now.Deleting || !now.Ours
	}
	return now.Deleting && !before.Deleting || now.Approved != "" && now.Approved != before.Approved ||
		now.Suspended != before.Suspended || now.Asks(before) ||
		!now.Ours && now.ResourceVersion != before.ResourceVersion
}
