package orphan

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Wanted indexes the objects that rows and forms render now.
type Wanted struct {
	hubs    map[string]bool
	nodes   map[lynq.NodeKey]*plan.Node
	objects map[lynq.Ref]bool
}

// NewWanted indexes the nodes of some hubs.
func NewWanted(hubs []string, nodes []*plan.Node) *Wanted {
	w := &Wanted{hubs: map[string]bool{}, nodes: map[lynq.NodeKey]*plan.Node{}, objects: map[lynq.Ref]bool{}}
	for _, h := range hubs {
		w.hubs[h] = true
	}
	for _, n := range nodes {
		w.nodes[n.Key()] = n
		plain := lynq.NodeKey{Namespace: n.Namespace, Name: naming.PlainNodeName(n.UID, n.Form.Name)}
		if w.nodes[plain] == nil {
			w.nodes[plain] = n // finds orphans from the time when the node had this name
		}
		for i := range n.Objects {
			w.objects[n.Objects[i].Ref] = true
		}
	}
	return w
}

// Concerns reports whether an orphan comes from one of the hubs, or whether they render
// it.
func (w *Wanted) Concerns(o *Orphan) bool { return w.objects[o.Ref] || w.hubs[o.From.Hub.Name] }

// Why says why nothing renders an orphan, so that apply doesn't adopt it. It returns "" if
// a node renders it.
func (w *Wanted) Why(o *Orphan) string {
	from := o.From
	node := w.nodes[from.Key()]
	switch {
	case w.objects[o.Ref]:
		return ""
	case from.Hub.Name == "" || from.Name == "":
		return "nothing renders it, and its labels name no node"
	case !w.hubs[from.Hub.Name]:
		return fmt.Sprintf("it is from hub %q, which isn't in your files", from.Hub.Name)
	case node == nil:
		return fmt.Sprintf("no active row and form produce its node %s any more", from.NodeID)
	case node.Failed != nil:
		return fmt.Sprintf("its node %s failed to render", from.NodeID)
	}
	for i := range node.Objects {
		if node.Objects[i].ID == from.ID {
			return fmt.Sprintf("its resource %q renders %s now", from.ID, node.Objects[i].Full())
		}
	}
	return fmt.Sprintf("its form has no resource %q any more", from.ID)
}
