package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// The states of nodes and objects: all words there are for them.
const (
	Ready       = inventory.ConditionReady
	Progressing = inventory.ConditionProgressing // not ready yet
	Degraded    = inventory.ConditionDegraded    // not as its row wants it
	Leaving     = "Leaving"                      // it is being deleted
	InGrace     = Leaving + ": Grace"            // its row is gone, and it is kept for its grace period
	Excluded    = string(reason.Excluded)        // a rule excludes an object
	Orphaned    = "Orphaned"                     // an object has the marks of an orphan
	Unknown     = "Unknown"                      // of a node: no run that began it has ended; of an object: it could not be looked at
	Unreadable  = "Unreadable"                   // its record cannot be read
)

// inactive is what Inventory.Activate says of a node that goes.
const inactive = "false"

// Node says how a node is: by its record, or now.
type Node struct {
	lynq.NodeID `json:"-"`
	// Well: all that is wanted of it is there and ready.
	Well bool `json:"well"`
	// Recorded: this is what the last run recorded, and not all objects were looked at.
	Recorded   bool      `json:"recorded,omitempty"`
	Condition  string    `json:"condition"`
	Since      time.Time `json:"since,omitzero"`
	Message    string    `json:"message,omitempty"` // why it is not well
	Desired    int       `json:"desired"`
	Ready      int       `json:"ready"`
	Failed     int       `json:"failed"`
	Skipped    int       `json:"skipped"`
	Conflicted int       `json:"conflicted"`
	Excluded   int       `json:"excluded,omitempty"`
	Created    time.Time `json:"created,omitzero"` // its record
	// LeavingSince is when a run first saw its row gone, and LeavingUntil when lynqctl
	// deletes it; zero for a node that isn't kept for its grace period.
	LeavingSince time.Time `json:"leavingSince,omitzero"`
	LeavingUntil time.Time `json:"leavingUntil,omitzero"`
	// Expires is when its row expires, as the last run saw it, zero for never.
	Expires time.Time `json:"expires,omitzero"`
}

// Of tells how a node is whose record can be read.
func Of(inv *inventory.Inventory) Node {
	n := Node{
		NodeID: inv.Node.Full(), Created: inv.Created, Expires: inv.Expires,
		Desired: inv.Status.Desired, Ready: inv.Status.Ready,
		Failed: inv.Status.Failed, Skipped: inv.Status.Skipped, Conflicted: inv.Status.Conflicted, Excluded: inv.Status.Excluded,
	}
	n.Condition, n.Since = Condition(inv)
	if n.Condition == InGrace {
		n.LeavingSince, n.LeavingUntil, n.Well = inv.LeavingSince, inv.LeavingUntil, true
		n.Message = "its row is inactive or missing; lynqctl deletes the node at " + inv.LeavingUntil.Format(time.RFC3339)
		return n
	}
	n.Well = n.Condition == inventory.ConditionReady
	for _, what := range []string{inventory.ConditionDegraded, inventory.ConditionProgressing} {
		if c := condition(inv, what); c != nil && inv.Status.Is(what) {
			n.Message = c.Message
			break
		}
	}
	return n
}

// OfBroken tells how a node is whose record cannot be read: that is unknown, so it
// is not well.
func OfBroken(b *inventory.UnreadableError) Node {
	return Node{
		NodeID:    b.Node.Full(),
		Condition: Unreadable, Message: b.Error(),
	}
}

// OfUnrendered tells how a node is that has no inventory, since its row could not be
// rendered.
func OfUnrendered(u *inventory.Unrendered, at time.Time) Node {
	return Node{
		NodeID:    u.Node,
		Condition: inventory.ConditionDegraded + ": " + inventory.ReasonRenderFailed, Since: at, Message: u.Message,
	}
}

// Condition is a node's state in a word or two, and since when it is in that,
// zero where it was not noted.
func Condition(inv *inventory.Inventory) (string, time.Time) {
	switch {
	case inv.Deleting:
		return Leaving, time.Time{}
	case !inv.LeavingSince.IsZero() && inv.Activate != inactive:
		return InGrace, inv.LeavingSince
	}
	for _, what := range []string{inventory.ConditionDegraded, inventory.ConditionProgressing, inventory.ConditionReady} {
		c := condition(inv, what)
		switch {
		case c == nil || !inv.Status.Is(what):
			continue
		case what == inventory.ConditionDegraded && c.Reason != "":
			return what + ": " + c.Reason, c.LastTransitionTime
		case inv.Activate == inactive: // it was so before it began to go
			return Leaving, time.Time{}
		}
		return what, c.LastTransitionTime
	}
	return Unknown, time.Time{}
}

// condition is the condition of a type, nil where there is none.
func condition(inv *inventory.Inventory, what string) *inventory.Condition {
	i := slices.IndexFunc(inv.Status.Conditions, func(c inventory.Condition) bool { return c.Type == what })
	if i < 0 {
		return nil
	}
	return &inv.Status.Conditions[i]
}

// Recorded is the state of an object in a word or two, as the last run recorded it. One
// that no run confirmed is on its way.
func Recorded(inv *inventory.Inventory, r *inventory.Entry) string {
	told := inv.Status.Object(r.Ref)
	switch {
	case told != nil && slices.Contains([]string{inventory.ObjectConflict, inventory.ObjectFailed, inventory.ObjectNotReady, inventory.ObjectTimedOut}, told.Reason):
		return Degraded + ": " + told.Reason
	case r.Hook():
		return cmp.Or(string(r.Phase), "-")
	case r.Phase == inventory.PhaseCompleted:
		return Ready + ": " + string(r.Phase)
	case r.Ready && r.UID != "" && r.Digest != "":
		return Ready
	}
	return Progressing
}

// Sort sorts nodes by namespace and name.
func Sort(nodes []Node) {
	slices.SortFunc(nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
