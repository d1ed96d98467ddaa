package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/status"
)

func (a *app) statusNodeCommand() *cobra.Command {
	var f inventoryFlags
	cmd := &cobra.Command{
		Use:   "node NAME...",
		Short: "Show nodes with their objects as they are now",
		Long: `Show one node, or several: how the last run left it, its objects as they are
now, in the order in which they are applied, with what belongs to them, what the
node left behind, and recent events. What is in Secrets and ConfigMaps is not
read.

Exit codes: 0 the nodes are Ready: no run failed on them, and their objects are
ready now; 1 one is not; 2 bad usage, no such node, or a cluster that cannot be
read.`,
		Example: `  lynqctl status node acme-web
  lynqctl status node acme-web bolt-web -n shop -o json`,
		Args: someNodes("status node", "lynqctl status"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.Nodes, err = nodeNames(args); err != nil {
				return engine.BadUsage(err)
			}
			return a.statusNodes(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	f.registerIgnore(cmd.Flags())
	return cmd
}

// statusNodes shows the nodes that the flags name. What there is of them is shown also
// where a name is unknown.
func (a *app) statusNodes(ctx context.Context, f *inventoryFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	nodes, notFound := a.engine("").StatusNodes(ctx, &f.InventoryOptions)
	var all []*ui.Details
	for _, s := range nodes {
		n := newNodeNow(s)
		ui.Warn(a.noteOut(), s.Warnings)
		all = append(all, n.details(time.Now()))
	}
	if err := f.printDetails(a, all); err != nil || notFound != nil {
		return cmp.Or(err, notFound)
	}
	return engine.NotReady(nodes)
}

// nodeNow is a node with its objects as they are now; as JSON and YAML have it
// (docs/status.md).
type nodeNow struct {
	status.Node
	Objects  []status.Object `json:"objects"`
	Orphans  []*orphanData   `json:"orphans,omitempty"`
	Events   []status.Event  `json:"events,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`

	orphans  []orphan.Orphan
	recorded status.Node
}

func newNodeNow(s *engine.NodeStatus) *nodeNow {
	n := &nodeNow{Node: s.Node, Objects: s.Objects, Events: s.Events, Warnings: s.Warnings, orphans: s.Orphans, recorded: s.Recorded}
	for i := range s.Orphans {
		n.Orphans = append(n.Orphans, orphanDataOf(&s.Orphans[i]))
	}
	return n
}

func (n *nodeNow) details(now time.Time) *ui.Details {
	condition, r := n.Condition, &n.recorded
	if n.Recorded {
		condition += " (recorded)"
	}
	lastRun := r.Condition
	if !r.Since.IsZero() {
		lastRun += ", since " + when(now, &r.Since)
	}
	if r.Message != n.Message && r.Message != "" {
		lastRun += ": " + r.Message
	}
	d := &ui.Details{
		Facts: []ui.Fact{
			{Name: "Node", Text: n.Name},
			{Name: "Namespace", Text: n.Namespace},
			{Name: "Hub", Text: n.Hub + " (namespace " + n.HubNamespace + ")"},
			{Name: "Form", Text: detailed(n.Form, namespaceText(n.FormNamespace))},
			{Name: "Row", Text: n.UID},
			{Name: "Age", Text: ago(now, atTime(n.Created))},
			{Name: "Condition", Text: condition},
			{Name: "Message", Text: n.Message},
			{Name: "Last run", Text: lastRun},
		},
		Parts: n.tree(now),
		More:  []ui.Section{{Title: "Orphans", List: *orphanList(n.orphans, now)}, {Title: "Events", List: n.eventList(now)}},
		Data:  n,
	}
	if !n.Created.IsZero() {
		d.Facts = append(d.Facts, ui.Fact{Name: "Wanted", Text: fmt.Sprintf("%s: %d ready%s", lynq.Count(r.Desired, "object"), r.Ready, troubles(&status.Counts{
			Failed: r.Failed, Skipped: r.Skipped, Conflicted: r.Conflicted, Excluded: r.Excluded,
		}))}, ui.Fact{Name: "Now", Text: tallied(n.Objects)})
	}
	return d
}

// tallied are the objects by how they are now.
func tallied(objects []status.Object) string {
	counts := status.Tally(objects)
	var parts []string
	for _, state := range status.States() {
		if counts[state] > 0 || state == status.Ready {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
		}
	}
	return lynq.Count(len(objects), "object") + ": " + strings.Join(parts, ", ")
}

// tree lists the objects with what belongs to them. Their namespaces are told
// where they are not the node's.
func (n *nodeNow) tree(now time.Time) ui.List {
	l := ui.List{Columns: []ui.Column{
		{Name: "OBJECT", Flexible: true}, {Name: "STATE", Toned: true}, {Name: "AGE"}, {Name: "POLICIES"}, {Name: "MESSAGE", Wrapped: true},
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
			l.Items = append(l.Items, ui.Item{
				Cells: []string{n.called(o.Kind, o.Namespace, o.Name), o.Condition(), ago(now, atTime(o.Created)), policies, o.Message, o.ID, string(o.UID)},
				Name:  o.Ref().Full(), Tone: stateTone(o.State), Depth: depth,
			})
			add(o.Owned, depth+1)
		}
	}
	add(n.Objects, 0)
	return l
}

func stateTone(state string) ui.Tone {
	switch state {
	case status.Ready:
		return ui.Good
	case status.Degraded:
		return ui.Bad
	}
	return ui.Worry
}

// called is how an object is called where it is clear which namespace is meant.
func (n *nodeNow) called(kind, namespace, name string) string {
	if namespace == "" || namespace == n.Namespace {
		return kind + "/" + name
	}
	return kind + "/" + namespace + "/" + name
}

// recentEvents is how many events are shown: the last ones. JSON and YAML have
// all that the server still has.
const recentEvents = 12

func (n *nodeNow) eventList(now time.Time) ui.List {
	l := ui.List{Columns: []ui.Column{
		{Name: "AGE"}, {Name: "TYPE", Toned: true}, {Name: "REASON"}, {Name: "OBJECT", Flexible: true}, {Name: "TIMES", Wide: true}, {Name: "MESSAGE", Wrapped: true},
	}}
	for _, e := range n.Events[max(len(n.Events)-recentEvents, 0):] {
		tone := ui.Plain
		if e.Type == "Warning" {
			tone = ui.Worry
		}
		l.Items = append(l.Items, ui.Item{Tone: tone, Cells: []string{
			ago(now, atTime(e.Time)), e.Type, e.Reason, n.called(e.Kind, e.Namespace, e.Name), strconv.FormatInt(e.Count, 10), e.Message,
		}})
	}
	return l
}
