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

// Fingerprint has the parts of an object that show whether its next change matters.
type Fingerprint struct {
	UID             types.UID
	Generation      int64 // 0 for kinds without one
	ResourceVersion string
	Deleting        bool
	// Ours is set if lynqctl wrote last, except for the status. Times are whole seconds, so a
	// client that wrote in the same second may have been later.
	Ours bool
	// Wrote is the time of lynqctl's last write in whole seconds, 0 for never.
	Wrote int64
	// Writers is a hash of the managers with their fields and times, except for the status.
	Writers uint64
	// Applied is set if lynqctl wrote all of its fields by server-side apply. Then Decided, a
	// hash of the facts for a plan, changes exactly if a client takes a field from lynqctl.
	Applied bool
	Decided uint64
	// Approved is the value of annotation lynq.sh/approved of a hub record.
	Approved string
	// Suspended and Asked are the values of annotations lynq.sh/suspended and
	// lynq.sh/reconcile-at of a record.
	Suspended, Asked string
}

// FingerprintOf returns the fingerprint of an object with this metadata.
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

// decided returns a hash of the facts by which a plan decides about an object that lynqctl
// applied. Other changes of the object don't change it.
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

// ObjectMatters reports whether lynqctl must look at a node because one of its objects changed.
// It needn't for changes of the status, for its own writes, and for fields that it didn't
// apply, such as those in ignoreFields. before is nil for a new object. It is a pure function.
//
// managedFields don't name a client that removes a field: the entry of the field's manager loses
// it, and no time changes. So a change is lynqctl's only if the time of its last write changed.
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

// wroteSince reports whether lynqctl wrote the change. lynqctl never updates an object that it
// applies, so another client under its name wrote such an update.
func (s *Fingerprint) wroteSince(before *Fingerprint) bool {
	return s.Ours && s.Wrote != before.Wrote && (s.Applied || !before.Applied)
}

// Asks reports whether a person asked to check the hub of the record since before.
func (s Fingerprint) Asks(before *Fingerprint) bool {
	return s.Asked != "" && before != nil && s.Asked != before.Asked
}

// RecordMatters is ObjectMatters for a record. Other clients write records to delete them, to
// approve held deletions, to suspend a node, or to ask for a check of the hub.
func RecordMatters(before *Fingerprint, now Fingerprint) bool {
	if before == nil {
		return now.Deleting || !now.Ours
	}
	return now.Deleting && !before.Deleting || now.Approved != "" && now.Approved != before.Approved ||
		now.Suspended != before.Suspended || now.Asks(before) ||
		!now.Ours && now.ResourceVersion != before.ResourceVersion
}
