package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// These are all states of nodes and objects.
const (
	Ready       = inventory.ConditionReady
	Progressing = inventory.ConditionProgressing // not ready yet
	Degraded    = inventory.ConditionDegraded    // differs from what its row wants
	Leaving     = "Leaving"                      // Kubernetes or lynqctl is deleting it
	InGrace     = Leaving + ": Grace"            // its row is gone, and lynqctl keeps it for its grace period
	Excluded    = string(plan.ReasonExcluded)    // a rule excludes an object
	Orphaned    = "Orphaned"                     // an object is marked as an orphan
	Unknown     = "Unknown"                      // no finished run recorded the node, or lynqctl couldn't read the object
	Unreadable  = "Unreadable"                   // lynqctl can't read its inventory
)

// inactive is the value of Inventory.Activate for a node that lynqctl deletes.
const inactive = "false"

// Node is the state of a node, either recorded or current.
type Node struct {
	lynq.NodeID `json:"-"`
	// Well is set if all wanted objects exist and are ready. Objects that only lost pods count
	// as ready.
	Well bool `json:"well"`
	// Recorded is set if the state comes from the last run, because lynqctl didn't check
	// all objects.
	Recorded  bool      `json:"recorded,omitempty"`
	Condition string    `json:"condition"`
	Since     time.Time `json:"since,omitzero"`
	Message   string    `json:"message,omitempty"` // why the node isn't well
	Desired   int       `json:"desired"`
	Ready     int       `json:"ready"`
	Failed    int       `json:"failed"`
	// Missing and Drifted count objects that another client deleted or changed.
	Missing    int       `json:"missingObjects,omitempty"`
	Drifted    int       `json:"driftedObjects,omitempty"`
	Skipped    int       `json:"skipped"`
	Conflicted int       `json:"conflicted"`
	Excluded   int       `json:"excluded,omitempty"`
	Created    time.Time `json:"created,omitzero"` // when its inventory was created
	// LeavingSince is when a run first found the row gone. LeavingUntil is when lynqctl
	// deletes the node. Both are zero for a node without a grace period.
	LeavingSince time.Time `json:"leavingSince,omitzero"`
	LeavingUntil time.Time `json:"leavingUntil,omitzero"`
	// Expires is when the row expires, as the last run read it. It is zero if the row
	// never expires.
	Expires time.Time `json:"expires,omitzero"`
	// Suspended says that a person keeps lynqctl off the node, and is zero for most nodes. It
	// may have ended.
	Suspended inventory.Suspension `json:"suspended,omitzero"`
}

// Of returns the recorded state of a node from its inventory.
func Of(inv *inventory.Inventory) Node {
	n := Node{
		NodeID: inv.Node.Full(), Created: inv.Created, Expires: inv.Expires,
		Desired: inv.Status.Desired, Ready: inv.Status.Ready,
		Failed: inv.Status.Failed, Skipped: inv.Status.Skipped, Conflicted: inv.Status.Conflicted, Excluded: inv.Status.Excluded,
	}
	if s := inv.Suspended(time.Time{}); s != nil {
		n.Suspended = *s
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

// OfBroken returns the state of a node whose inventory can't be read. Its state is
// unknown, so it isn't well.
func OfBroken(b *inventory.UnreadableError) Node {
	return Node{
		NodeID:    b.Node.Full(),
		Condition: Unreadable, Message: b.Error(),
	}
}

// OfUnrendered returns the state of a node without an inventory, because its row failed to
// render.
func OfUnrendered(u *inventory.Unrendered, at time.Time) Node {
	return Node{
		NodeID:    u.Node,
		Condition: inventory.ConditionDegraded + ": " + inventory.ReasonRenderFailed, Since: at, Message: u.Message,
	}
}

// Condition returns a node's recorded state and since when. The time is zero if none is
// recorded.
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
		case inv.Activate == inactive: // its ready condition is from before the deletion
			return Leaving, time.Time{}
		}
		return what, c.LastTransitionTime
	}
	return Unknown, time.Time{}
}

// condition returns the condition of this type, or nil.
func condition(inv *inventory.Inventory, what string) *inventory.Condition {
	i := slices.IndexFunc(inv.Status.Conditions, func(c inventory.Condition) bool { return c.Type == what })
	if i < 0 {
		return nil
	}
	return &inv.Status.Conditions[i]
}

// Recorded returns an object's state as the last run recorded it. An object that no run
// confirmed is Progressing.
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
