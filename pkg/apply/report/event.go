package report

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Reporter receives the events of a run as they happen. It must be safe for concurrent use,
// and quick.
type Reporter interface {
	Report(Event)
}

// EventType names the subject of an Event.
type EventType string

// The types of events, with the fields that each one has. A run has one EventPlan for each
// hub and one EventSummary at its end. Each node with changes has one EventNodeStart and
// one EventNode.
const (
	EventPlan      EventType = "plan"       // Counts, AdoptedCounts, Evidence
	EventNodeStart EventType = "node-start" // Node
	EventObject    EventType = "object"     // Node, Object, ID, Action, Reason, Outcome, Message, Adopted
	EventWait      EventType = "wait"       // Node, Object, ID, Message: the object isn't ready yet, and why
	EventReady     EventType = "ready"      // Node, Object, ID
	EventNode      EventType = "node"       // Node, Outcome, Message, Next, and Reason if there is a word for it: the node ended
	EventLeaving   EventType = "leaving"    // Node, Message, Since, Until: lynqctl keeps the node for its grace period
	EventWarning   EventType = "warning"    // Message, and Node, Object, ID if it is about them
	EventSummary   EventType = "summary"    // Summary
)

// Outcome is the result of a step or a node.
type Outcome string

// The outcomes. A node has the worst outcome of its objects.
const (
	OutcomeDone       Outcome = "done"
	OutcomeUnchanged  Outcome = "unchanged"
	OutcomeSkipped    Outcome = "skipped"    // a dependency failed, or lynqctl leaves it alone
	OutcomeConflicted Outcome = "conflicted" // the object has another owner
	OutcomeNotReady   Outcome = "not-ready"  // written, but not ready in time
	OutcomeFailed     Outcome = "failed"
	// OutcomeInterrupted is for nodes only. The run ended before the node did, and the next
	// run continues.
	OutcomeInterrupted Outcome = "interrupted"
)

// Details say what a run does with an object or a node, and what became of that. Events,
// reports and their JSON share them: a field here is a field of all.
type Details struct {
	Object lynq.Ref    `json:"-"`            // none if they are about a node
	ID     string      `json:"id,omitempty"` // of the resource in its form
	Action plan.Action `json:"action,omitempty"`
	Reason plan.Reason `json:"reason,omitempty"`
	// Cause says why lynqctl renders the object otherwise than before, "" if nobody looked.
	Cause   string  `json:"cause,omitempty"`
	Outcome Outcome `json:"outcome,omitempty"`
	Message string  `json:"message,omitempty"` // for people, and may say what to do
	// Shared is the message without what only this node has, such as its row. It is usually "".
	Shared string `json:"-"`
	// Next is the command that shows more of a failed node, or "".
	Next string `json:"next,omitempty"`
	// Adopted is set if the object existed before the node owned it.
	Adopted bool `json:"adopted,omitempty"`
	// Interrupted is set if the run ended before the step did.
	Interrupted bool `json:"-"`
}

// Event is one event of a run. Its type decides which fields it has.
type Event struct {
	Time time.Time
	Type EventType
	// NodeID is the node. An event about a hub has only the hub, and an event about the run
	// has neither. An object without a form has no form.
	lynq.NodeID
	Details
	// Conflict is the object's policy. Only an EventObject has it.
	Conflict lynq.ConflictPolicy
	// Problems are those of an EventNode. Its Message has all of them.
	Problems []Details
	Counts   map[plan.Action]int
	// AdoptedCounts counts the adopted objects among those that leave the nodes.
	AdoptedCounts map[plan.Action]int
	Nodes         int // EventPlan: the number of nodes with changes
	// Since is when a run first saw that the node's row is gone. Until is when lynqctl
	// deletes the node. Begins is set if this run saw it first. Only an EventLeaving has
	// them.
	Since, Until time.Time
	Begins       bool
	// Evidence describes how the rows differ from those of the last run. Only an EventPlan
	// has it.
	Evidence *evidence.Evidence
	Summary  *Summary
}

// LeavingText says when lynqctl deletes a node that is in its grace period.
func LeavingText(l *plan.Leaving) string {
	return "its row is inactive or missing, and lynqctl deletes the node at " + l.Until.UTC().Format(time.RFC3339) + " (deletionGracePeriod)"
}
