package diff

import (
	"fmt"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// Report lists what an apply would change.
type Report struct {
	// Nodes are the nodes with something to report, in the order of their names. Total is the number
	// of all nodes.
	Nodes []Node
	Total int
	// Leaving are nodes whose rows are gone, and which apply keeps for their grace period.
	Leaving []Leaving
	// Refusals are those of guards that would refuse the apply.
	Refusals []limits.Refusal
	// Evidence says how the rows of each hub differ from those of the last run.
	Evidence []evidence.Evidence

	changes *Changes // see Changes
}

// Leaving is a node that apply keeps until a time.
type Leaving struct {
	lynq.NodeID
	Since, Until time.Time
	// Message says why, for people.
	Message string
}

// Node is a node with its objects about which there is something to report.
type Node struct {
	lynq.NodeID
	// Problem says why lynqctl couldn't plan it, "" if it could.
	Problem string
	// Shared is the problem without what only this node has, or "".
	Shared  string
	Objects []Object
}

// Counts sum a report up.
type Counts struct {
	Nodes    int // that would change
	Objects  int // that would change
	Adopted  int // of these, those that lynqctl would adopt
	Deleted  int // of these, those that it would delete, and adopted before
	Problems int // nodes and objects with a problem
}

// Counts returns the sums of the report.
func (r *Report) Counts() Counts {
	var c Counts
	for i := range r.Nodes {
		n := &r.Nodes[i]
		changes := 0
		for j := range n.Objects {
			o := &n.Objects[j]
			switch {
			case o.Problem != "":
				c.Problems++
			case !o.Skipped && o.Changes():
				changes++
				switch {
				case o.Action == actionAdopt:
					c.Adopted++
				case o.Adopted && o.deleted():
					c.Deleted++
				}
			}
		}
		if n.Problem != "" {
			c.Problems++
		}
		if changes > 0 {
			c.Nodes++
		}
		c.Objects += changes
	}
	return c
}

// Actions with the names of plans.
const (
	actionAdopt   = "adopt"
	actionDelete  = "delete"
	actionCollect = "collect"
)

// deleted reports whether lynqctl would delete the object.
func (o *Object) deleted() bool { return o.Action == actionDelete || o.Action == actionCollect }

// What returns the action in words. For a deletion, it says whether lynqctl adopted the object.
func (o *Object) What() string {
	if o.Adopted && o.deleted() {
		return o.Action + " (adopted)"
	}
	return o.Action
}

// Owners says how many of the changed objects lynqctl didn't create, "" for none.
func (c Counts) Owners() string {
	var parts []string
	if c.Adopted > 0 {
		parts = append(parts, fmt.Sprintf("%d to adopt", c.Adopted))
	}
	if c.Deleted > 0 {
		parts = append(parts, fmt.Sprintf("%d to delete that %s adopted", c.Deleted, wasWere(c.Deleted)))
	}
	return strings.Join(parts, ", ")
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// Failed counts the nodes of which nothing could be planned, for each cause. It has the count
// for the first node with the cause.
func (r *Report) Failed() map[*Node]int {
	nodes, first := map[*Node]int{}, map[string]*Node{}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Problem == "" {
			continue
		}
		cause := report.CauseOf(n.NodeID, &report.Details{Message: n.Problem, Shared: n.Shared})
		if first[cause] == nil {
			first[cause] = n
		}
		nodes[first[cause]]++
	}
	return nodes
}
