package history

import (
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// These are the results of runs.
const (
	OutcomeDone        = "done"
	OutcomeFailed      = "failed"      // some nodes failed
	OutcomeHeld        = "held"        // guards held deletions, and lynqctl did the rest
	OutcomeRefused     = "refused"     // guards refused the whole run
	OutcomeInterrupted = "interrupted" // the next run continues
	OutcomeApproved    = "approved"    // a user approved held deletions
	OutcomeSuspended   = "suspended"   // a user suspended a node
	OutcomeResumed     = "resumed"     // a user let lynqctl continue with a node
)

// These are the ways to confirm a run.
const (
	ApprovalPrompt = "prompt"        // a user confirmed it in a terminal
	ApprovalYes    = "--yes"         // the user passed the flag
	ApprovalPlan   = "plan"          // a user reviewed the plan file
	ApprovalWatch  = "watch approve" // a user approved held deletions
)

// Entry describes what one run did to one hub. It has no values of rows.
type Entry struct {
	// Run is the run's name. Names sort by time.
	Run     string    `json:"run"`
	Time    time.Time `json:"time"` // the start of the run
	Seconds float64   `json:"seconds,omitempty"`
	Command string    `json:"command"`
	// Flags are the given flags that turn guards off or change them.
	Flags   []string `json:"flags,omitempty"`
	Version string   `json:"version,omitempty"` // the version of lynqctl
	// By is the holder of the hub's Lease, and Job the URL of the CI job.
	By  string `json:"by,omitempty"`
	Job string `json:"job,omitempty"`
	// Plan is the ID of the executed plan file. Approval is the way of confirmation.
	// Approved is the digest of the held deletions that a user approved.
	Plan     string `json:"plan,omitempty"`
	Approval string `json:"approval,omitempty"`
	Approved string `json:"approved,omitempty"`
	Inputs
	Outcome  string    `json:"outcome"`
	Refusals []Refusal `json:"refusals,omitempty"`
	Counts   Counts    `json:"counts,omitzero"`
	Nodes    []Node    `json:"nodes,omitempty"`
	// MoreNodes counts the nodes that didn't fit, and MoreObjects their objects. A listed
	// node counts its missing objects itself.
	MoreNodes   int `json:"moreNodes,omitempty"`
	MoreObjects int `json:"moreObjects,omitempty"`
}

// Inputs are the files and rows that the run rendered.
type Inputs struct {
	Forms []Form `json:"forms,omitempty"`
	Rows  *Rows  `json:"rows,omitempty"`
	// Evidence says how the rows differ from those of the last run, without values.
	Evidence []string `json:"evidence,omitempty"`
}

// Form is a form, with a digest of its templates that ignores the rows.
type Form struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Digest    string `json:"digest"`
}

// Rows has the number of the hub's rows. Digest covers all rendered objects.
type Rows struct {
	Rows   int    `json:"rows"`
	Active int    `json:"active"`
	Digest string `json:"digest,omitempty"`
}

// Refusal says why a guard refused the run or its deletions.
type Refusal struct {
	Guard string `json:"guard"`
	What  string `json:"what"`
}

// Counts count nodes and objects by result, and objects by action.
type Counts struct {
	Nodes   map[string]int `json:"nodes,omitempty"`
	Objects map[string]int `json:"objects,omitempty"`
	Actions map[string]int `json:"actions,omitempty"`
}

// Node describes what the run did to a node.
type Node struct {
	Namespace     string   `json:"namespace"`
	Name          string   `json:"name"`
	FormNamespace string   `json:"formNamespace,omitempty"`
	Form          string   `json:"form,omitempty"`
	Row           string   `json:"row,omitempty"` // the row's uid
	Outcome       string   `json:"outcome"`
	Reason        string   `json:"reason,omitempty"`
	Message       string   `json:"message,omitempty"` // its values are masked
	Objects       []Object `json:"objects,omitempty"`
	MoreObjects   int      `json:"moreObjects,omitempty"`
}

// Object describes what the run did to an object, and why.
type Object struct {
	lynq.RefFields
	ID      string `json:"id,omitempty"`
	Action  string `json:"action"`
	Reason  string `json:"reason,omitempty"`
	Outcome string `json:"outcome"`
}

// NameRun returns a run's name from its time and from letters that make it unique.
func NameRun(began time.Time, random string) string {
	return strings.ReplaceAll(began.UTC().Format("20060102-150405.000"), ".", "") + "-" + random[:4]
}

// takes reports whether the run deleted or released the object.
func (o *Object) takes() bool {
	switch o.Action {
	case "delete", "collect", "recreate", "purge", "orphan", "release":
		return true
	}
	return false
}
