package ui

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// foldedLine explains the rows of fold.
const foldedLine = "+N stands for N more nodes with the same result. To list each, pass -o wide.\n"

// fold joins nodes with the same key into the first of them, which gets their number and
// sums. It keeps each node of a short list, and nodes without a key. below is a line that
// explains the rows, or "" if each row is one node.
func fold(nodes []nodeResult, key func(*nodeResult) string) (rows []nodeResult, below string) {
	if len(nodes) <= list.Few {
		return nodes, ""
	}
	count, first := map[string]int{}, map[string]int{}
	for i := range nodes {
		count[key(&nodes[i])]++
	}
	for i := range nodes {
		n := nodes[i]
		k := key(&n)
		if k == "" || count[k] <= list.MostOfCause {
			rows = append(rows, n)
			continue
		}
		if at, known := first[k]; known {
			rows[at].join(&n)
			below = foldedLine
			continue
		}
		first[k] = len(rows)
		rows = append(rows, n)
	}
	return rows, below
}

// join adds another node's numbers.
func (n *nodeResult) join(other *nodeResult) {
	n.others++
	n.objects += other.objects
	n.changed += other.changed
	n.ready += other.ready
}

// shownName returns the node's name, with the number of nodes that its row stands for.
func (n *nodeResult) shownName() string {
	if n.others == 0 {
		return tty.Safe(n.Name)
	}
	return tty.Safe(n.Name) + fmt.Sprintf(" +%d", n.others)
}

// endKey returns the same key for nodes of a form with the same result and cause.
func (n *nodeResult) endKey() string {
	keys := append([]string{n.Namespace, n.Form.Name, n.status}, n.causes...)
	return strings.Join(keys, "\n")
}

// planKey returns the same key for nodes that fail or are skipped for the same cause, with
// the same steps. It returns "" for all others, because people read each of them.
func (n *nodeResult) planKey() string {
	if !n.bad() && n.outcome != report.OutcomeSkipped {
		return ""
	}
	keys := []string{n.endKey()}
	for _, s := range n.steps {
		keys = append(keys, s.Object.Kind, string(s.Action), string(s.Reason), string(s.Outcome))
	}
	return strings.Join(keys, "\n")
}
