package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// notes makes the lasting lines: on a terminal they stay above the view, and in a log they
// are everything. It isn't safe for concurrent use.
type notes struct {
	paint tty.Paint
	// changes adds a line for each changed object. quiet keeps only failures.
	changes, quiet bool

	// repeats are the problems that had their lines.
	repeats Repeats
	// skipped has the skipped nodes by reason. When a rollout stops, many share one.
	skipped map[string][]string
	// interrupted has the nodes that the run broke off, by hub.
	interrupted map[string][]string
	// unknown has the nodes by the reads that failed. Many may share one.
	unknown map[string][]string
	// tally counts the changes without a line.
	tally tally
	// next has the commands that show more of nodes, by namespace.
	next map[string][]string
}

func newNotes(o *Options) *notes {
	return &notes{
		paint: o.Err.Paint(), quiet: o.Quiet, changes: !o.DryRun && !o.Quiet,
		skipped: map[string][]string{}, interrupted: map[string][]string{}, unknown: map[string][]string{}, next: map[string][]string{},
	}
}

// note returns the line for an event, or "". For a summary, it may return several.
func (n *notes) note(e *report.Event) string {
	switch e.Type {
	case report.EventPlan:
		return n.plan(e)
	case report.EventObject:
		return n.object(e)
	case report.EventNode:
		return n.node(e)
	case report.EventLeaving:
		return n.leaving(e)
	case report.EventWarning:
		return n.warning(e)
	case report.EventSummary:
		return n.summary(e)
	}
	return ""
}

func (n *notes) plan(e *report.Event) string {
	n.tally.nodes += e.Nodes
	counts := planCounts(e.Counts, e.AdoptedCounts)
	if !n.changes || counts == "" { // nodes may still have something to record, or wait
		return ""
	}
	return "hub " + tty.Safe(e.Hub.String()) + ": " + phrase.Count(e.Nodes, "node") + " to change: " + counts
}

func (n *notes) object(e *report.Event) string {
	if e.Interrupted {
		return "" // the summary says it once for all
	}
	switch e.Outcome {
	case report.OutcomeFailed, report.OutcomeConflicted, report.OutcomeNotReady:
	case report.OutcomeSkipped:
		if n.quiet {
			return ""
		}
	case report.OutcomeDone:
		if !n.changes || !changes(e.Action) {
			return ""
		}
	default:
		return ""
	}
	became := ended(e.Action, e.Outcome)
	if e.Outcome == report.OutcomeDone || e.Reason == plan.ReasonExcluded {
		if n.tally.takes(e.Action, became) {
			return ""
		}
	} else if n.repeats.Again(e.NodeID, &e.Details) {
		return ""
	}
	line := n.about(e) + "  " + n.paint.Outcome(e.Outcome, became)
	if e.Reason != "" {
		line += " (" + tty.Safe(Shown(string(e.Reason))) + ")"
	}
	return line + colon(tty.Safe(e.Message))
}

// node returns the line for a node that failed, with the causes that its objects' lines
// don't have.
func (n *notes) node(e *report.Event) string {
	switch e.Outcome {
	case report.OutcomeDone, report.OutcomeUnchanged:
		return ""
	case report.OutcomeSkipped:
		n.skipped[e.Message] = append(n.skipped[e.Message], e.Name)
		return ""
	case report.OutcomeInterrupted:
		hub := e.Hub.String()
		n.interrupted[hub] = append(n.interrupted[hub], e.Name)
		return ""
	}
	if e.Reason == plan.ReasonUnknown {
		n.unknown[e.Message] = append(n.unknown[e.Message], e.Name)
		return ""
	}
	if e.Next != "" {
		n.next[e.Namespace] = append(n.next[e.Namespace], e.Next)
	}
	rest, objects := untold(e)
	if rest.Message == "" && objects > 0 || n.repeats.Again(e.NodeID, &rest) {
		return ""
	}
	line := n.paint.Bold(e.Name) + "  " + n.paint.Outcome(e.Outcome, endWord(string(e.Outcome)))
	if objects > 0 {
		line += " (" + phrase.Count(objects, "object") + ")"
	}
	return line + colon(tty.Safe(rest.Message))
}

// details returns the commands that show more of nodes, one for each namespace.
func (n *notes) details() []string {
	var lines []string
	for namespace, commands := range n.next {
		command := commands[0]
		if len(commands) > 1 {
			command = "lynqctl status node NAME -n " + namespace
		}
		lines = append(lines, tty.Safe("Run '"+command+"' for details."))
	}
	slices.Sort(lines)
	return lines
}

// nextGoesOn says what happens to nodes that a run didn't finish.
const nextGoesOn = "progress is saved; run the same command again to continue"

// untold returns the problems of a node that no line of an object has, and the number of objects
// with such a line.
func untold(e *report.Event) (rest report.Details, objects int) {
	if len(e.Problems) == 0 {
		return report.Details{Message: e.Message}, 0
	}
	var texts []string
	for i := range e.Problems {
		if p := &e.Problems[i]; p.Outcome != "" && !p.Interrupted {
			objects++
		} else {
			texts, rest.Shared = append(texts, p.Problem()), p.Shared
		}
	}
	if rest.Message = strings.Join(texts, "; "); len(texts) != 1 {
		rest.Shared = ""
	}
	return rest, objects
}

// leaving returns the line for a node in its grace period: once, or in each dry run.
func (n *notes) leaving(e *report.Event) string {
	if n.quiet || n.changes && !e.Begins {
		return ""
	}
	return n.about(e) + "  " + n.paint.Worry("is leaving") + colon(tty.Safe(e.Message))
}

func (n *notes) warning(e *report.Event) string {
	if n.quiet {
		return ""
	}
	about := n.about(e)
	if about != "" {
		about += ": "
	}
	return n.paint.Worry("warning: ") + about + tty.Safe(e.Message)
}

// about names the subject of an event: a node, an object, or a hub.
func (n *notes) about(e *report.Event) string {
	node := n.paint.Bold(e.Name)
	switch {
	case e.Object.Kind != "" && node != "":
		return node + "  " + leavingName(e.Object, e.Action, e.Adopted)
	case e.Object.Kind != "":
		return leavingName(e.Object, e.Action, e.Adopted)
	case node != "":
		return node
	case e.Hub.Name != "":
		return "hub " + tty.Safe(e.Hub.String())
	}
	return ""
}

func (n *notes) summary(e *report.Event) string {
	if e.Summary == nil {
		return ""
	}
	var lines []string
	if line := n.tally.line(); line != "" {
		lines = append(lines, line)
	}
	lines = append(lines, n.together(n.skipped, report.OutcomeSkipped)...)
	lines = append(lines, n.brokenOff()...)
	lines = append(lines, n.together(n.unknown, report.OutcomeFailed)...)
	lines = append(lines, Causes(n.untoldTogether(e.Summary.Failed))...)
	lines = append(lines, n.details()...)
	if !n.quiet {
		for _, line := range unready(e.Summary.Unready) {
			lines = append(lines, n.paint.Worry("warning: ")+tty.Safe(line))
		}
		lines = append(lines, n.paint.Bold(summaryLine(e.Summary)))
	}
	return strings.Join(lines, "\n")
}

// untoldTogether returns the failed nodes that have no common line.
func (n *notes) untoldTogether(failed []report.NodeResult) []report.NodeResult {
	var told []string
	for nodes := range maps.Values(n.unknown) {
		told = append(told, nodes...)
	}
	return slices.DeleteFunc(slices.Clone(failed), func(f report.NodeResult) bool {
		return !bad(f.Outcome) || slices.Contains(told, f.Name)
	})
}

// brokenOff returns a line for each hub whose nodes the run didn't finish.
func (n *notes) brokenOff() []string {
	var lines []string
	for hub, nodes := range n.interrupted {
		who := tty.Safe(nodes[0])
		if len(nodes) > 1 {
			who = phrase.Count(len(nodes), "node") + " of hub " + tty.Safe(hub)
		}
		lines = append(lines, n.paint.Bold(who)+"  "+n.paint.Outcome(report.OutcomeInterrupted, string(report.OutcomeInterrupted))+colon(nextGoesOn))
	}
	slices.Sort(lines)
	return lines
}

// unreadyNamed limits how many objects that aren't ready a line names.
const unreadyNamed = 3

// unready returns a line about the unchanged objects that aren't ready, and one about those
// that are degraded and count as ready.
func unready(all []report.Unready) []string {
	var broken, degraded []string
	for i := range all {
		u := &all[i]
		named := u.Object.String() + " (" + u.Message + ")"
		if u.Ready {
			degraded = append(degraded, named)
		} else {
			broken = append(broken, named)
		}
	}
	return append(unreadyLine(broken, "unchanged but not ready", "--failed"), unreadyLine(degraded, "degraded", "-o wide")...)
}

// unreadyLine names some objects in one line, or returns nothing for none.
func unreadyLine(objects []string, are, flag string) []string {
	if len(objects) == 0 {
		return nil
	}
	verb := "are"
	if len(objects) == 1 {
		verb = "is"
	}
	named := objects[:min(len(objects), unreadyNamed)]
	if more := len(objects) - len(named); more > 0 {
		named = append(slices.Clone(named), fmt.Sprintf("and %d more", more))
	}
	return []string{fmt.Sprintf("%s %s %s: %s; lynqctl status %s shows the nodes", phrase.Count(len(objects), "object"), verb, are, strings.Join(named, ", "), flag)}
}

// together returns a line for each reason, with the number of nodes.
func (n *notes) together(reasons map[string][]string, o report.Outcome) []string {
	var lines []string
	for why, nodes := range reasons {
		who := tty.Safe(nodes[0])
		if len(nodes) > 1 {
			who = phrase.Count(len(nodes), "node")
		}
		lines = append(lines, n.paint.Bold(who)+"  "+n.paint.Outcome(o, endWord(string(o)))+colon(tty.Safe(why)))
	}
	slices.Sort(lines)
	return lines
}
