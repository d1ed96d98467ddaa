package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// sharedProblem is a problem of several nodes.
type sharedProblem struct {
	why   Text
	nodes []string
}

// Text is what nodes with one cause say. Its zero value is empty.
type Text struct {
	first   report.Details
	differs bool // others say it in other words, such as the name of their own release
}

// Add notes the problem of one more node.
func (t *Text) Add(problem *report.Details) {
	if t.first.Message == "" {
		t.first = *problem
	} else {
		t.differs = t.differs || problem.Why() != t.first.Why()
	}
}

// String returns the problem of the first node.
func (t Text) String() string { return t.first.Problem() }

// of returns the text for a number of nodes.
func (t Text) of(count int) string {
	if count <= 1 {
		return t.first.Problem()
	}
	if t.differs {
		return "for example, " + t.first.Why()
	}
	return t.first.Why()
}

// sharedByFew is the largest number of nodes for which no common line follows, because each
// had its own line just before.
const sharedByFew = 2

// Repeats counts the nodes with a problem. Its zero value is empty. It isn't safe for
// concurrent use.
type Repeats struct {
	// seen has the first nodes with a problem, by the problem's key.
	seen map[string][]lynq.NodeKey
}

// Again notes a node's problem. It reports whether the node needs no line, because two
// other nodes had one. Causes counts them all later.
func (r *Repeats) Again(of lynq.NodeID, problem *report.Details) bool {
	key := report.CauseOf(of, problem)
	if slices.Contains(r.seen[key], of.Key()) {
		return false
	}
	if len(r.seen[key]) >= sharedByFew {
		return true
	}
	if r.seen == nil {
		r.seen = map[string][]lynq.NodeKey{}
	}
	r.seen[key] = append(r.seen[key], of.Key())
	return false
}

// Causes returns a line for each problem that more than two nodes have. The line names the
// problem, counts the nodes, and names some of them.
func Causes(failed []report.NodeResult) []string {
	var lines []string
	for _, s := range shared(failed) {
		lines = append(lines, s.line())
	}
	return lines
}

// shared finds the problems that several nodes share, in the order of the nodes.
func shared(failed []report.NodeResult) []sharedProblem {
	index := map[string]int{}
	var all []sharedProblem
	for i := range failed {
		f := &failed[i]
		told := map[string]bool{}
		for k := range f.Problems {
			problem := &f.Problems[k]
			key := report.CauseOf(f.NodeID, problem)
			at, known := index[key]
			switch {
			case told[key]:
				continue
			case !known:
				at = len(all)
				index[key], all = at, append(all, sharedProblem{})
			}
			told[key] = true
			all[at].why.Add(problem)
			all[at].nodes = append(all[at].nodes, f.Name)
		}
	}
	return slices.DeleteFunc(all, func(s sharedProblem) bool { return len(s.nodes) <= sharedByFew })
}

// line counts the nodes that have the problem, and names the problem without the object of
// the first node.
func (s sharedProblem) line() string { return CauseLine(s.why, s.nodes, len(s.nodes)) }

// CauseLine says that many nodes have a problem, and names the first of them.
func CauseLine(why Text, nodes []string, count int) string {
	named := nodes[:min(len(nodes), list.NamedOfCause)]
	who := strings.Join(named, ", ")
	if more := count - len(named); more > 0 {
		who += fmt.Sprintf(", and %d more", more)
	}
	return tty.Safe(fmt.Sprintf("%s (%s): %s", phrase.Count(count, "node"), who, why.of(count)))
}
