package ui

import (
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/changeset"
)

// groupedLine explains the groups of a plan.
const groupedLine = "A group stands for the same step of each of its nodes. To list each, pass --dry-run=client --expand=N.\n"

// planGroups returns the steps that are the same for many nodes as text, and the nodes with
// their other steps. Nodes that fail or are skipped keep all steps. total is the number of
// nodes of the plan. It refuses a number that no group has.
func planGroups(nodes []nodeResult, total int, e Expand, out tty.Stream) (text string, rest []nodeResult, err error) {
	var changes []changeset.Change
	var places []stepPlace // of the changes
	for i := range nodes {
		for k := range nodes[i].steps {
			if c, ok := nodes[i].change(k); ok {
				changes, places = append(changes, c), append(places, stepPlace{i, k})
			}
		}
	}
	s := changeset.Of(changes, total)
	if err := e.Check(s); err != nil {
		return "", nil, err
	}
	grouped := map[stepPlace]bool{}
	var b strings.Builder
	for i := range s.Groups {
		if !folded(s, i, e) {
			continue
		}
		for _, m := range s.Groups[i].Members {
			grouped[places[m]] = true
		}
		b.WriteString(groupText(s, i, "", out))
	}
	if len(grouped) == 0 {
		return "", nodes, nil
	}
	b.WriteString(out.Fitted(groupedLine) + "\n")
	return b.String(), withoutSteps(nodes, grouped), nil
}

// stepPlace is the place of a node in a list, and that of a step in the node.
type stepPlace struct{ node, step int }

// withoutSteps leaves out the steps in groups, and nodes that have no other.
func withoutSteps(nodes []nodeResult, grouped map[stepPlace]bool) []nodeResult {
	var rest []nodeResult
	for i := range nodes {
		n := nodes[i]
		n.steps = nil
		for k, s := range nodes[i].steps {
			if !grouped[stepPlace{i, k}] {
				n.steps = append(n.steps, s)
			}
		}
		if len(n.steps) > 0 && n.works() || n.bad() || n.outcome == report.OutcomeSkipped {
			rest = append(rest, n)
		}
	}
	return rest
}

// change returns a step of the node as a change. Steps that change nothing, and those of
// nodes with problems, are none: people read each of them.
func (n *nodeResult) change(k int) (c changeset.Change, ok bool) {
	s := &n.steps[k]
	if s.Action == plan.ActionSkip || s.Action == plan.ActionKeep || s.Action == plan.ActionBlock || n.bad() || bad(s.Outcome) || n.outcome == report.OutcomeSkipped {
		return c, false
	}
	c = changeset.Change{Node: &n.NodeID, Ref: s.Object, ID: s.ID, Action: string(s.Action), Words: actionWord(s.Action), Cause: why(s)}
	if s.Adopted && leaves(s.Action) {
		c.Words += " (adopted)"
	}
	if s.Message != "" {
		c.Cause = Commas(c.Cause, s.Message)
	}
	return c, true
}
