package apply

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// objects are those that are not as the node wants them, and why.
func (n *nodeRun) objects() []inventory.ObjectStatus {
	var objects []inventory.ObjectStatus
	for i := range n.steps {
		s := &n.steps[i]
		if s.Reason == plan.ReasonLeftOut { // nothing was learned of it
			if told := n.told(s.ref()); told != nil {
				objects = append(objects, *told)
			}
			continue
		}
		if why := s.reason(); why != "" {
			ref := s.ref()
			objects = append(objects, inventory.ObjectStatus{
				ID: s.id(), Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
				Reason: why, Message: s.message, Since: n.waitedSince(s),
			})
		}
	}
	return objects
}

// reason is a word for why an object is not as the node wants it, "" where it is.
func (s *stepRun) reason() string {
	switch {
	case s.interrupted:
		return inventory.ObjectInterrupted
	case s.why != "":
		return s.why
	case s.outcome == OutcomeFailed:
		return inventory.ObjectFailed
	case s.outcome == OutcomeConflicted:
		return inventory.ObjectConflict
	case s.outcome == OutcomeNotReady:
		return inventory.ObjectNotReady
	case s.outcome == OutcomeSkipped && s.Action == plan.ActionSkip:
		return string(s.Reason)
	case s.outcome == OutcomeSkipped:
		return inventory.ObjectSkipped
	case s.unready():
		return inventory.ObjectNotWaitedFor
	}
	return ""
}

// unready tells whether an object that the node has is to become ready, and was not
// seen so.
func (s *stepRun) unready() bool {
	o := s.Object
	return o != nil && s.entry != nil && !s.entry.Ready && o.Awaited()
}

// told is what the last run recorded of an object, nil for nothing.
func (n *nodeRun) told(ref lynq.Ref) *inventory.ObjectStatus {
	if n.plan.Inventory == nil {
		return nil
	}
	return n.plan.Inventory.Status.Object(ref)
}

// waitedSince is from when on an object is waited for that is not ready: since this
// run wrote it, or since it is recorded, for what is not written is not waited for
// from the beginning in each run. Zero where it is not waited for.
func (n *nodeRun) waitedSince(s *stepRun) time.Time {
	if !s.unready() {
		return time.Time{}
	}
	if s.Action == plan.ActionKeep && !s.hook() { // each run waits for a hook as long as it may take
		if told := n.told(s.ref()); told != nil && !told.Since.IsZero() && told.Since.Before(n.Now()) {
			return told.Since
		}
	}
	if s.since.IsZero() {
		return n.began
	}
	return s.since
}
