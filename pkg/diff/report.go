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
	// Nodes are those of which something is to be told, in the order of their
	// names, and Total how many there are.
	Nodes []Node
	Total int
	// Leaving are nodes whose rows are gone, and which apply keeps for their grace period.
	Leaving []Leaving
	// Refusals are why guards would refuse the apply.
	Refusals []limits.Refusal
	// Evidence tells how the rows of each hub differ from those of the last run.
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

// Node is a node and those of its objects of which something is to be told.
type Node struct {
	lynq.NodeID
	// Problem is why nothing of it could be planned, "" where it could.
	Problem string
	// Shared is the problem without what only this node has, or "".
	Shared  string
	Objects []Object
}

// Counts sum a report up.
type Counts struct {
	Nodes    int // that would change
	Objects  int // that would change
	Adopted  int // of those: that would be adopted
	Deleted  int // of those: that would be deleted, though they were adopted
	Problems int // nodes and objects that have one
}

// Counts counts.
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

// Actions as plans name them.
const (
	actionAdopt   = "adopt"
	actionDelete  = "delete"
	actionCollect = "collect"
)

// deleted reports whether the object would be gone.
func (o *Object) deleted() bool { return o.Action == actionDelete || o.Action == actionCollect }

// What is the action, in words: of one that deletes it says whether the object was
// adopted.
func (o *Object) What() string {
	if o.Adopted && o.deleted() {
		return o.Action + " (adopted)"
	}
	return o.Action
}

// Owners says of the objects that would change how many lynqctl did not make, ""
// where it made all.
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
