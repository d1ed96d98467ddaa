package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// resultText returns the report of a run. It is "" if nothing changed and nothing failed,
// because the summary says that. It never contains unchanged nodes.
func resultText(all []nodeResult, summary *report.Summary, format tty.Format, out tty.Stream) (string, error) {
	var shown []nodeResult
	for _, n := range all {
		if n.shown() {
			shown = append(shown, n)
		}
	}
	switch format {
	case tty.YAML:
		return yamlText(shown, summary)
	case tty.Name:
		return namesText(shown), nil
	}
	if len(shown) == 0 {
		return "", nil
	}
	// The summary has the nodes that an interrupted run didn't reach.
	shown = slices.DeleteFunc(shown, func(n nodeResult) bool { return n.outcome == report.OutcomeInterrupted && n.changed == 0 })
	if len(shown) == 0 {
		return "", nil
	}
	if format == tty.Wide {
		return tableText(briefly(shown), true, out), nil
	}
	rows, below := fold(shown, (*nodeResult).endKey)
	return tableText(briefly(rows), false, out) + below, nil
}

// tableText returns a row per node, or per fold of nodes. The message is the first problem,
// with the number of others. The wide table has all problems, one below the other.
func tableText(nodes []nodeResult, wide bool, out tty.Stream) string {
	p := out.Paint()
	rows := [][]string{{"NODE", "NAMESPACE", "FORM", "OBJECTS", "CHANGED", "READY", "STATUS"}}
	if wide {
		rows[0] = append(rows[0], "HUB", "UID")
	}
	rows[0] = append(rows[0], "MESSAGE")
	for i := range nodes {
		n := &nodes[i]
		row := []string{
			n.shownName(), tty.Safe(n.Namespace), tty.Safe(n.Form.Name),
			strconv.Itoa(n.objects), strconv.Itoa(n.changed), n.readiness(),
			p.Outcome(n.outcome, endWord(n.status)),
		}
		if wide {
			row = append(row, tty.Safe(n.Hub.Name), tty.Safe(n.UID))
		}
		rows = append(rows, messages(row, n.problems, wide)...)
	}
	if wide {
		return tty.Align("", tty.ColumnGap, rows)
	}
	return tty.FlowBy("", tty.FlowGap("", rows, out.Columns()), rows, out.Columns(), true)
}

// readiness counts the ready objects. It returns "-" for a deleted node, or if nobody
// checked.
func (n *nodeResult) readiness() string {
	if n.outcome == report.OutcomeDone && (n.ready == 0 || n.status == statusDeleted || n.status == statusMoved) || n.objects == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", n.ready, n.objects)
}

// messages adds a row's problems to it.
func messages(row, problems []string, wide bool) [][]string {
	if len(problems) == 0 {
		return [][]string{append(row, "")}
	}
	first, rest := problems[0], problems[1:]
	if !wide && len(rest) > 0 {
		first += fmt.Sprintf(" (and %d more)", len(rest))
	}
	rows := [][]string{append(row, first)}
	if wide {
		for _, p := range rest {
			rows = append(rows, append(make([]string, len(row)), p))
		}
	}
	return rows
}

// namesText returns names for --node.
func namesText(nodes []nodeResult) string {
	var b strings.Builder
	for i := range nodes {
		b.WriteString(tty.Safe(nodes[i].Name) + "\n")
	}
	return b.String()
}

// yamlReport is the report as YAML. Its fields mean the same as in events.
type yamlReport struct {
	Summary *wireSummary `json:"summary,omitempty"`
	Nodes   []yamlNode   `json:"nodes"`
}

type yamlNode struct {
	NodeFields
	Objects  int            `json:"objects"`
	Changed  int            `json:"changed"`
	Ready    int            `json:"ready"`
	Status   string         `json:"status,omitempty"`
	Problems []string       `json:"problems,omitempty"`
	Steps    []detailFields `json:"steps,omitempty"`
}

func yamlText(nodes []nodeResult, summary *report.Summary) (string, error) {
	r := yamlReport{Summary: wireOf(summary), Nodes: make([]yamlNode, 0, len(nodes))}
	for i := range nodes {
		n := &nodes[i]
		y := yamlNode{
			NodeFields: NodeFieldsOf(n.NodeID),
			Objects:    n.objects, Changed: n.changed, Ready: n.ready, Status: n.status, Problems: n.problems,
		}
		for _, s := range n.steps {
			y.Steps = append(y.Steps, detailFieldsOf(&s))
		}
		r.Nodes = append(r.Nodes, y)
	}
	return list.YAML(r)
}
