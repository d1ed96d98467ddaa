package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// Nodes holds the states of nodes and hubs. It has warnings about failed reads, and about
// inventories that don't count.
type Nodes struct {
	Nodes             []status.Node
	Hubs              []status.Hub
	Warnings, Ignored []string
}

// NodeView says which nodes a list shows.
type NodeView struct {
	// Namespace is the namespace of the nodes, or "" for several.
	Namespace string
	// Where names the searched namespaces: "any namespace".
	Where string
	// FailedOnly shows only nodes that aren't Ready.
	FailedOnly bool
	// Recorded shows the state that the last runs recorded.
	Recorded bool
}

// Columns returns the columns of the table. It shows the namespace if the nodes may have
// several.
func (v *NodeView) Columns() []list.Column {
	return []list.Column{
		{Name: "NAMESPACE", Flexible: true, Wide: v.Namespace != ""}, {Name: "NODE", Flexible: true},
		{Name: "READY"}, {Name: "FAILED", Wide: true}, {Name: "SKIPPED", Wide: true}, {Name: "CONFLICTED", Wide: true},
		{Name: "STATUS", Flexible: true, Toned: true}, {Name: "AGE"},
		{Name: "LAST CHANGE", Wide: true}, {Name: "HUB", Wide: true}, {Name: "FORM", Wide: true},
		{Name: "UID", Wide: true}, {Name: "MESSAGE", Wide: true},
	}
}

// columns returns the columns of a list. Only failing nodes show their causes at once.
func (v *NodeView) columns() []list.Column {
	columns := v.Columns()
	if v.FailedOnly {
		columns[len(columns)-1] = list.Column{Name: "MESSAGE", Flexible: true, Wrapped: true}
	}
	return columns
}

// List lists nodes, and their sums.
func (v *NodeView) List(s *Nodes, now time.Time) *list.List {
	l := &list.List{
		Columns: v.columns(), Title: "status", At: now, Urgent: true,
		Empty: "No nodes found in " + v.Where, Warnings: slices.Concat(s.Warnings, s.Ignored), Sums: s.Hubs,
	}
	called := namesOf(s.Nodes)
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Well || !v.FailedOnly {
			l.Items = append(l.Items, v.item(n, called, now))
		}
	}
	if v.FailedOnly && len(s.Nodes) > 0 {
		l.Empty = allReady(len(s.Nodes), "ready")
	}
	for i := range s.Hubs {
		l.Footer = append(l.Footer, linesOfHub(&s.Hubs[i], now)...)
	}
	if len(s.Nodes) > 0 {
		l.Footer = append(l.Footer, v.shown())
	}
	l.Advice = advice(s.Nodes)
	return l
}

// allReady says that no node failed: "All 599 nodes are ready".
func allReady(nodes int, as string) string {
	if nodes == 1 {
		return "The only node is " + as
	}
	return "All " + phrase.Count(nodes, "node") + " are " + as
}

// adviceMost limits the nodes for which a terminal shows why they aren't ready.
const adviceMost = 3

// advice says why nodes aren't ready, once for each cause, and how to see more.
func advice(nodes []status.Node) []string {
	var failed []report.NodeResult
	for i := range nodes {
		if n := &nodes[i]; !n.Well && n.Message != "" {
			failed = append(failed, report.NodeResult{NodeID: n.NodeID, Problems: []report.Details{{Message: n.Message}}})
		}
	}
	if len(failed) == 0 {
		return nil
	}
	lines := Causes(failed)
	if len(lines) == 0 {
		for i := range failed[:min(len(failed), adviceMost)] {
			lines = append(lines, failed[i].Name+": "+failed[i].Problems[0].Message)
		}
	}
	return append(lines, "Run 'lynqctl status node "+failed[0].Name+" -n "+failed[0].Namespace+"' for details.")
}

// Items returns rows for some of the shown nodes.
func (v *NodeView) Items(some, shown []status.Node, now time.Time) []list.Item {
	called := namesOf(shown)
	items := make([]list.Item, len(some))
	for i := range some {
		items[i] = v.item(&some[i], called, now)
	}
	return items
}

// shown says whether the list shows the live or the recorded state.
func (v *NodeView) shown() string {
	if v.Recorded {
		return "Showing recorded state. lynqctl checked no objects."
	}
	return "Showing live state. Pass --recorded to show the state of the last run."
}

// conditionOf returns a node's condition. It marks a recorded one in a list of live states.
func (v *NodeView) conditionOf(n *status.Node, now time.Time) string {
	text := Shown(n.Condition)
	switch {
	case n.Condition == status.InGrace:
		text = leavingText(n, now)
	case n.Recorded && !v.Recorded:
		text += " (recorded)"
	}
	return markSuspended(text, n.Suspended, now)
}

// markSuspended adds to the text of a node's condition that somebody suspended the node.
func markSuspended(text string, s inventory.Suspension, now time.Time) string {
	if suspendedText(s, now) != "" {
		text += " (suspended)"
	}
	return text
}

// suspendedText says who suspended a node and until when, or returns "".
func suspendedText(s inventory.Suspension, now time.Time) string {
	if s == (inventory.Suspension{}) || s.Ended(now) {
		return ""
	}
	return s.String()
}

// shortNames has the names of the shown hubs and forms.
type shortNames struct{ hubs, forms lynq.ShortNames }

func newShortNames() shortNames { return shortNames{lynq.ShortNames{}, lynq.ShortNames{}} }

func namesOf(nodes []status.Node) shortNames {
	s := newShortNames()
	for i := range nodes {
		s.see(nodes[i].Hub, nodes[i].Form)
	}
	return s
}

func (s shortNames) see(hub lynq.HubKey, form lynq.FormKey) {
	s.hubs.See(hub.Namespace, hub.Name)
	s.forms.See(form.Namespace, form.Name)
}

func (s shortNames) seeNode(id *lynq.NodeID) {
	full := id.Full()
	s.see(full.Hub, full.Form)
}

func (s shortNames) hub(key lynq.HubKey) string   { return s.hubs.Of(key.Namespace, key.Name) }
func (s shortNames) form(key lynq.FormKey) string { return s.forms.Of(key.Namespace, key.Name) }

func (v *NodeView) item(n *status.Node, called shortNames, now time.Time) list.Item {
	cells := []string{n.Namespace, n.Name}
	if n.Condition == status.Unreadable {
		cells = append(cells, "", "", "", "", n.Condition, "")
	} else {
		cells = append(cells, ofTotal(n.Ready, n.Desired))
		for _, count := range []int{n.Failed, n.Skipped, n.Conflicted} {
			cells = append(cells, strconv.Itoa(count))
		}
		cells = append(cells, v.conditionOf(n, now), ago(now, n.Created))
	}
	cause := ""
	if !n.Well && n.Message != "" {
		cause = report.CauseOf(n.NodeID, &report.Details{Message: n.Message})
	}
	return list.Item{
		Cause: cause,
		Cells: append(cells, ago(now, n.Since), called.hub(n.Hub), called.form(n.Form), n.UID, messageOf(n, now)),
		Name:  n.Name, Data: statusData{rowFieldsOf(n.NodeID), n.Well, n}, Tone: conditionTone(n),
	}
}

// leavingText says how long lynqctl still keeps a node after its row disappeared.
func leavingText(n *status.Node, now time.Time) string {
	if !now.Before(n.LeavingUntil) {
		return "Leaving: due"
	}
	return "Leaving: " + lynq.Span(n.LeavingUntil.Sub(now)) + " left"
}

// messageOf says who suspended a node, and why it isn't healthy, or else when its row
// expires.
func messageOf(n *status.Node, now time.Time) string {
	message := cmp.Or(n.Message, expiryText(n.Expires, now))
	if suspended := suspendedText(n.Suspended, now); suspended != "" {
		return strings.TrimSuffix(suspended+"; "+message, "; ")
	}
	return message
}

// expiryText says when a row expires, or "" for never.
func expiryText(end, now time.Time) string {
	switch {
	case end.IsZero():
		return ""
	case now.Before(end):
		return "its row expires in " + lynq.Span(end.Sub(now))
	}
	return "its row expired " + lynq.Span(now.Sub(end)) + " ago"
}

// conditionTone returns the tone of a node's condition. A node in progress may still get
// Ready.
func conditionTone(n *status.Node) tty.Tone {
	switch {
	case n.Condition == status.InGrace, n.Degraded():
		return tty.Worry
	case n.Well:
		return tty.Good
	case n.Condition == status.Progressing, n.Condition == status.Leaving, n.Condition == status.Unknown:
		return tty.Worry
	}
	return tty.Bad
}

// hubLines sums up a hub, and each of its forms below.
func linesOfHub(h *status.Hub, now time.Time) []string {
	head := fmt.Sprintf("hub %s/%s: ", h.Namespace, h.Name)
	if h.Run == nil {
		head += "the last run is unknown, because its record is missing or unreadable"
	} else {
		head += fmt.Sprintf("%d of %s active, %s%s", h.Run.Active, phrase.Count(h.Run.Rows, "row"), phrase.Count(h.Run.Nodes, "node"), lastRun(h.Run, now))
	}
	if h.Unrecorded > 0 {
		head += fmt.Sprintf(", %d not recorded", h.Unrecorded)
	}
	if h.Deleting {
		head += "; its record is being deleted"
	}
	lines, called := []string{head}, newShortNames()
	lines = append(lines, heldLines(h)...)
	lines = append(lines, unrenderedLines(h)...)
	lines = append(lines, troubleLines(h)...)
	for i := range h.Forms {
		called.forms.See(h.Forms[i].Namespace, h.Forms[i].Name)
	}
	for i := range h.Forms {
		f := &h.Forms[i]
		name := noForm
		if f.Name != "" {
			name = called.form(lynq.FormKey{Namespace: f.Namespace, Name: f.Name})
		}
		lines = append(lines, "  form "+name+chosen(f.Partial)+": "+countsLine(&f.Counts)+rolloutText(f.Rollout)+absentText(f.Absent))
	}
	if len(h.Forms) > 1 {
		lines = append(lines, "  all forms"+chosen(h.Partial)+": "+countsLine(&h.Counts))
	}
	return lines
}

// noForm is the form of a node whose inventory names none.
const noForm = "<none>"

// heldLines say which deletions a guard holds, and how to approve them.
func heldLines(h *status.Hub) []string {
	switch {
	case h.Run == nil || h.Run.Held == nil:
		return nil
	case h.Run.Approved:
		return []string{"  deletions are approved, and the next round carries them out: " + h.Run.Held.Message}
	}
	return []string{fmt.Sprintf("  deletions are held (%s): %s. To approve them, run lynqctl watch approve %s -n %s", h.Run.Held.Guard, h.Run.Held.Message, h.Name, h.Namespace)}
}

// unrenderedLines say which rows failed to render, and what that prevents.
func unrenderedLines(h *status.Hub) []string {
	if h.Run == nil || len(h.Run.Unrendered) == 0 {
		return nil
	}
	return []string{"  " + inventory.UnrenderedText(h.Run.Unrendered, h.Run.MoreUnrendered)}
}

// troubleLines name other troubles that need a person.
func troubleLines(h *status.Hub) []string {
	if h.Run == nil {
		return nil
	}
	var lines []string
	for _, t := range h.Run.Troubles {
		lines = append(lines, "  "+t.Message)
	}
	return lines
}

// chosen says that sums don't cover all nodes.
func chosen(partial bool) string {
	if partial {
		return ", chosen nodes only"
	}
	return ""
}

// lastRun says when the last run was, and whether it finished.
func lastRun(r *status.Run, now time.Time) string {
	if !r.Interrupted.IsZero() {
		return "; last run interrupted " + when(now, r.Interrupted)
	}
	return " (last run " + orNever(ago(now, r.Time)) + ")"
}

// rolloutText shows the progress of a form's rollout.
func rolloutText(r *status.Rollout) string {
	if r == nil {
		return ""
	}
	text := fmt.Sprintf("; rollout %s: %d/%s updated", r.Phase, r.Updated, phrase.Count(r.Total, "node"))
	if r.Stages > 0 {
		text += fmt.Sprintf(", stage %d of %d", r.Stage, r.Stages)
	}
	return text
}

func absentText(absent bool) string {
	if absent {
		return "; not in the inputs of the last run"
	}
	return ""
}

func countsLine(c *status.Counts) string {
	leaving := ""
	if c.Leaving > 0 {
		leaving = fmt.Sprintf(", %d leaving", c.Leaving)
	}
	if c.Degraded > 0 {
		leaving = fmt.Sprintf(" (%d degraded)", c.Degraded) + leaving
	}
	return fmt.Sprintf("%d/%s Ready%s, %d/%s ready%s", c.Well-c.Leaving, phrase.Count(c.Nodes, "node"), leaving, c.Ready, phrase.Count(c.Desired, "object"), troubles(c))
}

func orNever(ago string) string {
	if ago == "" {
		return "at an unknown time"
	}
	return ago + " ago"
}

// troubles counts the objects that failed or were left out: ", 1 failed, 2 skipped".
func troubles(c *status.Counts) string {
	var b strings.Builder
	for _, part := range []struct {
		n    int
		word string
	}{{c.Failed, "failed"}, {c.Missing, "missing"}, {c.Drifted, "drifted"}, {c.Skipped, "skipped"}, {c.Conflicted, "conflicted"}, {c.Excluded, "excluded"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %d %s", part.n, part.word)
		}
	}
	return b.String()
}
