package report

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Reporter is told what a run does, as it happens. It must be safe for
// concurrent use, and quick.
type Reporter interface {
	Report(Event)
}

// EventType names the subject of an Event.
type EventType string

// The types of events. Each run has one EventPlan per hub, one EventNodeStart
// and one EventNode per node that has something to do, and one EventSummary at
// its end.
const (
	EventPlan      EventType = "plan"       // Counts, AdoptedCounts, Evidence
	EventNodeStart EventType = "node-start" // Node
	EventObject    EventType = "object"     // Node, Object, ID, Action, Reason, Outcome, Message, Adopted
	EventWait      EventType = "wait"       // Node, Object, ID, Message: not ready yet, and why
	EventReady     EventType = "ready"      // Node, Object, ID
	EventNode      EventType = "node"       // Node, Outcome, Message, Next, and Reason where there is a word: the node is done
	EventLeaving   EventType = "leaving"    // Node, Message, Since, Until: the node is kept for its grace period
	EventWarning   EventType = "warning"    // Message, and Node, Object, ID where it has them
	EventSummary   EventType = "summary"    // Summary
)

// Outcome says how a step or a node ended.
type Outcome string

// The outcomes. A node's is the worst of its objects'.
const (
	OutcomeDone       Outcome = "done"
	OutcomeUnchanged  Outcome = "unchanged"
	OutcomeSkipped    Outcome = "skipped"    // a dependency failed, or it is left alone
	OutcomeConflicted Outcome = "conflicted" // another owner's
	OutcomeNotReady   Outcome = "not-ready"  // written, and not ready in time
	OutcomeFailed     Outcome = "failed"
	// OutcomeInterrupted is only a node's: the run ended before the node did, and
	// the next one goes on with it.
	OutcomeInterrupted Outcome = "interrupted"
)

// Event is one thing that happened. Which fields it has depends on its type.
type Event struct {
	Time time.Time
	Type EventType
	// NodeID is the node. An event about a hub has only the hub, and one about the run
	// has none. What belongs to no form has no form.
	lynq.NodeID
	Object lynq.Ref
	ID     string // of the resource in its form
	Action plan.Action
	Reason reason.Reason
	// Conflict is the object's policy, of an EventObject.
	Conflict lynq.ConflictPolicy
	Outcome  Outcome
	Message  string // for people; may say what to do
	// Next is the command that shows more of a node that did not end well, "" where
	// there is none.
	Next    string
	Adopted bool // EventObject: the object was there before the node had it
	// Interrupted: of an EventObject, the run ended before it was done.
	Interrupted bool
	Counts      map[plan.Action]int
	// AdoptedCounts are how many of those that leave were adopted.
	AdoptedCounts map[plan.Action]int
	Nodes         int // EventPlan: nodes that have something to do
	// Since is when a run first saw the row of a node gone, and Until when it is deleted; of
	// an EventLeaving. Begins: this run saw it first.
	Since, Until time.Time
	Begins       bool
	// Evidence of an EventPlan tells how the rows differ from those of the last run.
	Evidence *evidence.Evidence
	Summary  *Summary
}

// LeavingText says what becomes of a node that is kept for its grace period.
func LeavingText(l *plan.Leaving) string {
	return "its row is inactive or missing, and lynqctl deletes the node at " + l.Until.UTC().Format(time.RFC3339) + " (deletionGracePeriod)"
}
