package progress

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// State says whether a step had its turn.
type State uint8

// The states.
const (
	Pending State = iota // its turn is yet to come
	Waiting              // written, not ready yet
	Done
)

// Step is a step of a plan and how far it came. The plan's step stays as it is: when it is
// decided again the run goes by another one.
type Step struct {
	*plan.Step
	State    State
	Outcome  report.Outcome
	Says     string           // why it ended so, for people
	Record   *inventory.Entry // what is recorded of it from now on
	Leaving  bool             // it is waited for until it is gone
	Deadline time.Time
	Last     ready.Readiness
	Resource lynq.APIResource
	Tries    int  // that found the object changed
	Touched  bool // some write to the object succeeded
	// Unrecorded: the record does not name the object yet, and must before a write.
	Unrecorded bool
	Same       bool     // the last write changed nothing
	IsReady    bool     // the object is known to be ready
	Notes      []string // of why and from whom, from before it was deleted to be created again
	// Interrupted: the run ended before the step did.
	Interrupted bool
	// Why is a word for how the step ended, where its outcome is not enough.
	Why string
	// Since is from when on it is waited for; Expired is when its time was over, if that
	// was before this run looked.
	Since   time.Time
	Expired time.Time
	Watched bool // a watch tells of it
	// Collected: it is left to the garbage collector, and recorded until the
	// inventory is gone.
	Collected bool
}

// Becomes has a step go on as another one.
func (s *Step) Becomes(next plan.Step) { s.Step = &next }

// Result tells how the step ended.
func (s *Step) Result() report.StepResult {
	return report.StepResult{Step: s.Step, Outcome: s.Outcome, Message: s.Says, Ready: s.IsReady, Interrupted: s.Interrupted}
}

// Hook tells whether a step runs a hook of a node that goes.
func (s *Step) Hook() bool { return s.Object != nil && s.Object.Policy.Hook() }

// complaint is a word for why an object is not as the node wants it, "" where it is.
func (s *Step) complaint() string {
	switch {
	case s.Interrupted:
		return inventory.ObjectInterrupted
	case s.Why != "":
		return s.Why
	case s.Outcome == report.OutcomeFailed:
		return inventory.ObjectFailed
	case s.Outcome == report.OutcomeConflicted:
		return inventory.ObjectConflict
	case s.Outcome == report.OutcomeNotReady:
		return inventory.ObjectNotReady
	case s.Outcome == report.OutcomeSkipped && s.Action == plan.ActionSkip:
		return string(s.Reason)
	case s.Outcome == report.OutcomeSkipped:
		return inventory.ObjectSkipped
	case s.Unready():
		return inventory.ObjectNotWaitedFor
	}
	return ""
}

// Unready tells whether an object that the node has is to become ready, and was not
// seen so.
func (s *Step) Unready() bool {
	o := s.Object
	return o != nil && s.Record != nil && !s.Record.Ready && o.Awaited()
}

// Told gives what the report says of an object that was deleted: which tombstone named it, or
// that its data is lost; "" for most.
func (s *Step) Told() string {
	if s.Reason == reason.Tombstone || s.Loss() {
		return s.Message
	}
	return ""
}
