package history

import (
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// How a run ended.
const (
	OutcomeDone        = "done"
	OutcomeFailed      = "failed"      // some nodes did
	OutcomeHeld        = "held"        // guards held deletions, and the rest was done
	OutcomeRefused     = "refused"     // guards refused all of it
	OutcomeInterrupted = "interrupted" // the next run goes on
	OutcomeApproved    = "approved"    // a person approved deletions that are held
)

// How a person, or a flag, agreed to a run.
const (
	ApprovalPrompt = "prompt"        // a person confirmed it in a terminal
	ApprovalYes    = "--yes"         // the flag
	ApprovalPlan   = "plan"          // the plan file was reviewed
	ApprovalWatch  = "watch approve" // a person approved held deletions
)

// Entry tells what one run did to one hub. It has no values of rows.
type Entry struct {
	// Run names the run. Names sort by time.
	Run     string    `json:"run"`
	Time    time.Time `json:"time"` // when it began
	Seconds float64   `json:"seconds,omitempty"`
	Command string    `json:"command"`
	// Flags are those that were given and turn guards off or change them.
	Flags   []string `json:"flags,omitempty"`
	Version string   `json:"version,omitempty"` // of lynqctl
	// By is who had the hub's Lease, and Job the page of the CI job.
	By  string `json:"by,omitempty"`
	Job string `json:"job,omitempty"`
	// Plan is the ID of the plan file that was carried out, Approval how somebody agreed, and
	// Approved the digest of the held deletions that a person approved.
	Plan     string `json:"plan,omitempty"`
	Approval string `json:"approval,omitempty"`
	Approved string `json:"approved,omitempty"`
	Inputs
	Outcome  string    `json:"outcome"`
	Refusals []Refusal `json:"refusals,omitempty"`
	Counts   Counts    `json:"counts,omitzero"`
	Nodes    []Node    `json:"nodes,omitempty"`
	// MoreNodes and MoreObjects are how many of them there was no room for. An object of a
	// node that is there counts with its node.
	MoreNodes   int `json:"moreNodes,omitempty"`
	MoreObjects int `json:"moreObjects,omitempty"`
}

// Inputs name what the run rendered.
type Inputs struct {
	Forms []Form `json:"forms,omitempty"`
	Rows  *Rows  `json:"rows,omitempty"`
}

// Form is a form, and a digest of what it says of objects, whatever the row.
type Form struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Digest    string `json:"digest"`
}

// Rows counts the rows of the hub. Digest is of all objects that they render.
type Rows struct {
	Rows   int    `json:"rows"`
	Active int    `json:"active"`
	Digest string `json:"digest,omitempty"`
}

// Refusal tells why a guard refused the run, or its deletions.
type Refusal struct {
	Guard string `json:"guard"`
	What  string `json:"what"`
}

// Counts count nodes and objects by how they ended, and objects by what was done.
type Counts struct {
	Nodes   map[string]int `json:"nodes,omitempty"`
	Objects map[string]int `json:"objects,omitempty"`
	Actions map[string]int `json:"actions,omitempty"`
}

// Node tells what the run did to a node.
type Node struct {
	Namespace     string   `json:"namespace"`
	Name          string   `json:"name"`
	FormNamespace string   `json:"formNamespace,omitempty"`
	Form          string   `json:"form,omitempty"`
	Row           string   `json:"row,omitempty"` // its uid
	Outcome       string   `json:"outcome"`
	Reason        string   `json:"reason,omitempty"`
	Message       string   `json:"message,omitempty"` // values in it are masked
	Objects       []Object `json:"objects,omitempty"`
	MoreObjects   int      `json:"moreObjects,omitempty"`
}

// Object tells what the run did to an object, and why.
type Object struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	ID        string `json:"id,omitempty"`
	Action    string `json:"action"`
	Reason    string `json:"reason,omitempty"`
	Outcome   string `json:"outcome"`
}

// NameRun names a run by its time, and by some letters that no other run of that time has.
func NameRun(began time.Time, random string) string {
	return strings.ReplaceAll(began.UTC().Format("20060102-150405.000"), ".", "") + "-" + random[:4]
}

// Ref names the object.
func (o *Object) Ref() lynq.Ref {
	return lynq.Ref{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// takes tells whether the object was taken away, or given up.
func (o *Object) takes() bool {
	switch o.Action {
	case "delete", "collect", "recreate", "purge", "orphan", "release":
		return true
	}
	return false
}
