package apply

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// State says whether a step had its turn.
type State uint8

// The states.
const (
	Pending State = iota // its turn comes later
	Waiting              // written, but not ready yet
	Done
)

// Step is a step of a plan with its progress. The plan's step never changes. If lynqctl
// decides the step again, the run uses a new one.
type Step struct {
	report.StepResult
	State    State
	Record   *inventory.Entry // the entry to record from now on
	Leaving  bool             // the wait lasts until the object is deleted
	Deadline time.Time
	Last     ready.Readiness
	Resource lynq.APIResource
	Tries    int  // attempts that found a changed object
	Touched  bool // some write to the object succeeded
	// Unrecorded is set if the inventory doesn't name the object yet. It must, before a
	// write.
	Unrecorded bool
	Same       bool     // the last write changed nothing
	Notes      []string // notes about causes and owners, from before lynqctl deleted the object to recreate it
	// Why is a word for the result of the step, if its outcome doesn't say enough.
	Why string
	// Since is the start of the wait. Expired is the end of the timeout, if that was before
	// this run checked.
	Since   time.Time
	Expired time.Time
	// Check is when lynqctl looks for a cause that doesn't pass, and Stuck is since when it
	// knows one.
	Check, Stuck time.Time
	Watched      bool // a watch reports the object
	// Early is set if the object is deleted before the node's other objects are ready. After
	// is the step with an object that must be deleted before this one is written.
	Early bool
	After *Step
	// Collected is set if lynqctl leaves the object to the garbage collector. Its entry
	// remains until the inventory is deleted.
	Collected bool
}

// newStep returns a step before its turn.
func newStep(s *plan.Step) Step { return Step{StepResult: report.StepResult{Step: s}} }

// Becomes makes a step continue as another one.
func (s *Step) Becomes(next plan.Step) { s.Step = &next }

// Result returns the result of the step.
func (s *Step) Result() report.StepResult {
	r := s.StepResult
	r.Ended = s.Record != nil && s.Record.Ended
	return r
}

// Hook reports whether a step runs a deletion hook.
func (s *Step) Hook() bool { return s.Object != nil && s.Object.Policy.Hook() }

// complaint returns a word for why an object isn't in its desired state, or "".
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

// Unready reports whether the run waits for an object of the node and hasn't seen it ready.
func (s *Step) Unready() bool {
	o := s.Object
	return o != nil && s.Record != nil && !s.Record.Ready && o.Awaited()
}

// Told returns the report's text about a deleted object. It names a tombstone, or says that
// data is lost. It is "" for most objects.
func (s *Step) Told() string {
	if s.Reason == plan.ReasonTombstone || s.Loss() {
		return s.Message
	}
	return ""
}
