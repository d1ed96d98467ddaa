package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// notes makes the lines that stay: on a terminal above the view, in a log all
// there is. It is not safe for concurrent use.
type notes struct {
	paint tty.Paint
	// changes: objects that changed get a line too. quiet: only what went
	// wrong.
	changes, quiet bool

	// told is what went wrong with a node's objects, as its own message will
	// repeat it.
	told map[lynq.NodeKey][]string
	// repeats are problems that have had their lines.
	repeats Repeats
	// skipped are nodes by why they were: when a rollout stops, that is many at
	// once, for the same reason.
	skipped map[string][]string
	// interrupted are those that the run broke off, by their hubs.
	interrupted map[string][]string
	// unknown are nodes by what could not be looked at, which many may share.
	unknown map[string][]string
	// tally are the changes that have no line.
	tally tally
	// next are the commands that show more of nodes, by their namespaces.
	next map[string][]string
}

func newNotes(o *Options) *notes {
	return &notes{
		paint: o.Err.Paint(), quiet: o.Quiet, changes: !o.DryRun && !o.Quiet,
		told: map[lynq.NodeKey][]string{}, skipped: map[string][]string{}, interrupted: map[string][]string{}, unknown: map[string][]string{}, next: map[string][]string{},
	}
}

// note is the line for an event, "" where it has none; for a summary it may be
// more than one.
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
	if !n.changes || counts == "" { // nodes may have something to record or to wait for
		return ""
	}
	return "hub " + tty.Safe(e.Hub.String()) + ": " + phrase.Count(e.Nodes, "node") + " to change: " + counts
}

func (n *notes) object(e *report.Event) string {
	if e.Interrupted {
		return "" // the summary tells, once for all
	}
	switch e.Outcome {
	case report.OutcomeFailed, report.OutcomeConflicted, report.OutcomeNotReady:
		n.told[e.Key()] = append(n.told[e.Key()], e.Object.String()+": "+e.Message)
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
	if e.Outcome == report.OutcomeDone || e.Reason == reason.Excluded {
		if n.tally.takes(e.Action, became) {
			return ""
		}
	} else if n.repeats.Again(e.NodeID, e.Object.String()+": "+e.Message) {
		return ""
	}
	line := n.about(e) + "  " + n.paint.Outcome(e.Outcome, became)
	if e.Reason != "" {
		line += " (" + tty.Safe(Shown(string(e.Reason))) + ")"
	}
	return line + colon(tty.Safe(e.Message))
}

// node tells of a node that did not end well, and why, as far as the lines of
// its objects have not told.
func (n *notes) node(e *report.Event) string {
	told := n.told[e.Key()]
	delete(n.told, e.Key())
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
	if e.Reason == reason.Unknown {
		n.unknown[e.Message] = append(n.unknown[e.Message], e.Name)
		return ""
	}
	if e.Next != "" {
		n.next[e.Namespace] = append(n.next[e.Namespace], e.Next)
	}
	rest := untold(e.Message, told)
	if rest == "" && len(told) > 0 || n.repeats.Again(e.NodeID, rest) {
		return ""
	}
	line := n.paint.Bold(e.Name) + "  " + n.paint.Outcome(e.Outcome, endWord(string(e.Outcome)))
	if len(told) > 0 {
		line += " (" + phrase.Count(len(told), "object") + ")"
	}
	return line + colon(tty.Safe(rest))
}

// details are lines that say which command shows more of nodes, one for each namespace.
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

// nextGoesOn is what becomes of nodes that a run did not get done with.
const nextGoesOn = "progress is saved; run the same command again to continue"

// untold is a message without the parts that were told. The parts are joined by
// semicolons.
func untold(message string, told []string) string {
	for _, part := range told {
		if before, after, found := strings.Cut(message, part); found {
			message = before + strings.TrimPrefix(after, "; ")
		}
	}
	return strings.TrimSuffix(message, "; ")
}

// leaving tells of a node that is kept for its grace period: once, or in each dry run.
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

// about is what an event is about: node, object, or hub.
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
	if line := unready(e.Summary.Unready); line != "" && !n.quiet {
		lines = append(lines, n.paint.Worry("warning: ")+tty.Safe(line))
	}
	if !n.quiet {
		lines = append(lines, n.paint.Bold(summaryLine(e.Summary)))
	}
	return strings.Join(lines, "\n")
}

// untoldTogether are the nodes that failed but those that have a line together.
func (n *notes) untoldTogether(failed []report.NodeResult) []report.NodeResult {
	var told []string
	for nodes := range maps.Values(n.unknown) {
		told = append(told, nodes...)
	}
	return slices.DeleteFunc(slices.Clone(failed), func(f report.NodeResult) bool {
		return !bad(f.Outcome) || slices.Contains(told, f.Name)
	})
}

// brokenOff is a line for each hub whose nodes the run did not get done with.
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

// unreadyNamed is how many objects are named that are not ready.
const unreadyNamed = 3

// unready says which objects are unchanged but not ready, "" where all are.
func unready(all []report.Unready) string {
	if len(all) == 0 {
		return ""
	}
	verb := "are"
	if len(all) == 1 {
		verb = "is"
	}
	var named []string
	for _, u := range all[:min(len(all), unreadyNamed)] {
		named = append(named, u.Object.String()+" ("+u.Message+")")
	}
	if more := len(all) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s %s unchanged but not ready: %s; lynqctl status --failed shows the nodes", phrase.Count(len(all), "object"), verb, strings.Join(named, ", "))
}

// together is a line for each reason that nodes ended for, and how many did.
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
