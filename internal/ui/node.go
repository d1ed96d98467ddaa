package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// NodeNow is the live state of a node and its objects.
type NodeNow struct {
	status.Node
	// Recorded is the state that the last run recorded.
	Recorded status.Node
	Objects  []status.Object
	Orphans  []orphan.Orphan // that the node left behind
	Events   []status.Event
	Warnings []string // about reads that failed
}

// statusData is the state of a node in JSON and YAML (docs/status.md).
type statusData struct {
	rowFields
	Healthy bool `json:"healthy"` // the same as the older name, well
	*status.Node
}

// nodeData is a node in full in JSON and YAML (docs/status.md).
type nodeData struct {
	statusData
	Objects  []status.Object `json:"objects"`
	Orphans  []*orphanData   `json:"orphans,omitempty"`
	Events   []status.Event  `json:"events,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
}

func (n *NodeNow) data() *nodeData {
	d := &nodeData{statusData: statusData{rowFieldsOf(n.NodeID), n.Well, &n.Node}, Objects: n.Objects, Events: n.Events, Warnings: n.Warnings}
	for i := range n.Orphans {
		d.Orphans = append(d.Orphans, orphanDataOf(&n.Orphans[i]))
	}
	return d
}

// Details returns the node for people and programs.
func (n *NodeNow) Details(now time.Time) *list.Details {
	condition, r := Shown(n.Condition), &n.Recorded
	if n.Condition == status.InGrace {
		condition = leavingText(&n.Node, now)
	}
	if n.Node.Recorded {
		condition += " (recorded)"
	}
	condition = markSuspended(condition, n.Suspended, now)
	lastRun := Shown(r.Condition)
	if !r.Since.IsZero() {
		lastRun += ", since " + when(now, r.Since)
	}
	if r.Message != n.Message && r.Message != "" {
		lastRun += ": " + r.Message
	}
	d := &list.Details{
		Facts: []list.Fact{
			{Name: "Node", Text: n.Name},
			{Name: "Namespace", Text: n.Namespace},
			{Name: "Hub", Text: n.Hub.Name + " (namespace " + n.Hub.Namespace + ")"},
			{Name: "Form", Text: detailed(n.Form.Name, namespaceText(n.Form.Namespace))},
			{Name: "Row", Text: n.UID},
			{Name: "Age", Text: ago(now, n.Created)},
			{Name: "Status", Text: condition},
			{Name: "Message", Text: n.Message},
			{Name: "Last run", Text: lastRun},
		},
		Parts: n.tree(now),
		More:  []list.Section{{Title: "Orphans", List: *OrphanList(n.Orphans, now)}, {Title: "Events", List: n.eventList(now)}},
		Data:  n.data(),
	}
	if suspended := suspendedText(n.Suspended, now); suspended != "" {
		d.Facts = append(d.Facts, list.Fact{Name: "Suspended", Text: strings.TrimPrefix(suspended, "suspended ")})
	}
	if !n.Expires.IsZero() {
		d.Facts = append(d.Facts, list.Fact{Name: "Expires", Text: n.Expires.Format(time.RFC3339) + ": " + expiryText(n.Expires, now)})
	}
	if !n.Created.IsZero() {
		d.Facts = append(d.Facts, list.Fact{Name: "Desired", Text: fmt.Sprintf("%s: %d ready%s", phrase.Count(r.Desired, "object"), r.Ready, troubles(&status.Counts{
			Failed: r.Failed, Skipped: r.Skipped, Conflicted: r.Conflicted, Excluded: r.Excluded,
		}))}, list.Fact{Name: "Now", Text: tallied(n.Objects)})
	}
	return d
}

// tallied counts the objects by state.
func tallied(objects []status.Object) string {
	counts := status.Tally(objects)
	var parts []string
	for _, state := range status.States() {
		if counts[state] > 0 || state == status.Ready {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], Shown(state)))
		}
	}
	return phrase.Count(len(objects), "object") + ": " + strings.Join(parts, ", ")
}

// tree lists the objects with their own objects below. It shows a namespace only if it
// differs from the node's.
func (n *NodeNow) tree(now time.Time) list.List {
	l := list.List{Title: "status node", At: now, Columns: []list.Column{
		{Name: "OBJECT", Flexible: true}, {Name: "STATUS", Toned: true}, {Name: "AGE"}, {Name: "POLICIES"}, {Name: "MESSAGE", Wrapped: true},
		{Name: "ID", Wide: true}, {Name: "UID", Wide: true},
	}}
	var add func(objects []status.Object, depth int)
	add = func(objects []status.Object, depth int) {
		for i := range objects {
			o := &objects[i]
			policies := ""
			if o.Policies != nil {
				policies = strings.Join(o.Policies.Unusual(), ",")
			}
			l.Items = append(l.Items, list.Item{
				Cells: []string{n.called(o.Kind, o.Namespace, o.Name), Shown(o.Condition()), ago(now, o.Created), policies, o.Message, o.ID, string(o.UID)},
				Name:  o.Ref().Full(), Tone: stateTone(o.State), Depth: depth,
			})
			add(o.Owned, depth+1)
		}
	}
	add(n.Objects, 0)
	return l
}

func stateTone(state string) tty.Tone {
	switch state {
	case status.Ready:
		return tty.Good
	case status.Degraded:
		return tty.Bad
	}
	return tty.Worry
}

// called returns an object's name, without the node's own namespace.
func (n *NodeNow) called(kind, namespace, name string) string {
	if namespace == "" || namespace == n.Namespace {
		return kind + "/" + name
	}
	return kind + "/" + namespace + "/" + name
}

// recentEvents limits the events for people, the newest of all. JSON and YAML have every
// event that the server still has.
const recentEvents = 12

func (n *NodeNow) eventList(now time.Time) list.List {
	l := list.List{Columns: []list.Column{
		{Name: "AGE"}, {Name: "TYPE", Toned: true}, {Name: "REASON"}, {Name: "OBJECT", Flexible: true}, {Name: "TIMES", Wide: true}, {Name: "MESSAGE", Wrapped: true},
	}}
	for _, e := range n.Events[max(len(n.Events)-recentEvents, 0):] {
		tone := tty.Plain
		if e.Type == "Warning" {
			tone = tty.Worry
		}
		l.Items = append(l.Items, list.Item{Tone: tone, Cells: []string{
			ago(now, e.Time), e.Type, e.Reason, n.called(e.Kind, e.Namespace, e.Name), strconv.FormatInt(e.Count, 10), e.Message,
		}})
	}
	return l
}
