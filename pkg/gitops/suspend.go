package gitops

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// A person can suspend a node of a tree. Its index says so, as an inventory does in a
// cluster, and package decide leaves the node alone in the same way.

// Suspend makes the run keep the files of suspended nodes, and of nodes that continue them
// under another name. It takes their objects away, so that nothing processes these. Decide
// calls it, too.
func (in *Input) Suspend() {
	in.suspended = map[lynq.NodeKey]*inventory.Suspension{}
	for _, s := range in.notEnded() {
		in.suspended[s.Node] = &s.Suspension
	}
	if len(in.suspended) == 0 {
		return
	}
	nodes := nodesOfRun(in)
	for i := range in.Hubs {
		in.suspendContinuing(&in.Hubs[i], nodes)
	}
	for key := range in.suspended {
		nodes[key].suspend()
	}
}

// notEnded returns the suspensions in the index that last at the time of the run.
func (in *Input) notEnded() []index.Suspension {
	return slices.DeleteFunc(slices.Clone(in.Index.Suspended), func(s index.Suspension) bool { return s.Ended(in.Now) })
}

// suspend keeps the files of a node, which may be nil.
func (n *Node) suspend() {
	if n != nil && !n.Suspended {
		n.Suspended = true
		n.Claim()
	}
}

// suspendContinuing suspends the nodes of a hub that continue suspended ones.
func (in *Input) suspendContinuing(h *index.HubScope, nodes map[lynq.NodeKey]*Node) {
	renames := in.renamesOf(h.HubKey)
	if renames == nil {
		return
	}
	var made []*plan.Node
	for _, n := range in.Nodes {
		if n.Hub == h.HubKey {
			made = append(made, &plan.Node{NodeID: Identify(n.NodeID)})
		}
	}
	var forms []lynq.FormKey
	for _, f := range h.Forms {
		forms = append(forms, formOf(h.HubKey, f))
	}
	known := newUIDs(made, forms, renames)
	for i := range in.Index.Entries {
		e := &in.Index.Entries[i]
		if e.Hub != h.HubKey || in.suspended[e.Node] == nil || nodes[e.Node] != nil {
			continue
		}
		r := &recordedNode{NodeID: lynq.NodeID{Hub: e.Hub, Form: e.Form, Namespace: e.Node.Namespace, Name: e.Node.Name}}
		if now, renamed := r.continuedAs(known.of(r), renames); renamed {
			nodes[known.present[now]].suspend()
		}
	}
}

// SuspendedNode is a suspended node of a run.
type SuspendedNode struct {
	lynq.NodeID
	inventory.Suspension
}

// String says for people when the suspension ends, and why somebody suspended the node.
func (s *SuspendedNode) String() string {
	var said []string
	if s.Reason != "" {
		said = append(said, s.Reason)
	}
	if !s.Until.IsZero() {
		said = append(said, "until "+s.Until.Format(time.RFC3339))
	}
	if len(said) == 0 {
		return s.Name
	}
	return s.Name + " (" + strings.Join(said, ", ") + ")"
}

// suspendedFields is the JSON form of a SuspendedNode.
type suspendedFields struct {
	nodeFields
	inventory.Suspension
}

// MarshalJSON implements json.Marshaler.
func (s SuspendedNode) MarshalJSON() ([]byte, error) {
	text, err := phrase.JSON(suspendedFields{nodeFieldsOf(s.NodeID), s.Suspension})
	return []byte(text), err
}

// suspendedNodes returns the suspended nodes of the run, sorted by name.
func (in *Input) suspendedNodes() []SuspendedNode {
	if len(in.suspended) == 0 {
		return nil
	}
	concerned := map[lynq.NodeKey]lynq.NodeID{}
	for _, n := range in.Nodes {
		concerned[n.Key()] = n.NodeID
	}
	for i := range in.Index.Entries {
		if e := &in.Index.Entries[i]; in.suspended[e.Node] != nil && in.Covers(e) {
			concerned[e.Node] = lynq.NodeID{Hub: e.Hub, Form: e.Form, Namespace: e.Node.Namespace, Name: e.Node.Name}
		}
	}
	var all []SuspendedNode
	for key, s := range in.suspended {
		if id, known := concerned[key]; known {
			all = append(all, SuspendedNode{id, *s})
		}
	}
	slices.SortFunc(all, func(a, b SuspendedNode) int { return compareNodes(a.Key(), b.Key()) })
	return all
}

// SaveIndex replaces the index of a tree, and writes no other file. If it can't start, the
// error is a *RootError or a *BusyError.
func (d *Dir) SaveIndex(ctx context.Context, x *index.Index) error {
	return d.locked(ctx, &diskFolder{root: d.root}, func(w *writer) error { return w.saveIndex(x) })
}
