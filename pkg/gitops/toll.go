package gitops

import (
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

// hubToll has the deletions of a run for a hub.
type hubToll struct {
	hub lynq.HubKey
	toll.Toll
}

// tolls counts the tree's nodes of each hub, with the run's hubs first. The plan shows
// which files of each node remain, change and disappear. It ignores the scope of the run,
// because Argo CD or Flux delete an object that no file has. Nodes of other forms count
// only if they lose something.
func (in *Input) tolls(p *Plan) []hubToll {
	var tolls []hubToll
	for _, h := range in.Hubs {
		tolls = append(tolls, hubToll{hub: h.HubKey})
	}
	for _, n := range in.treeNodes(p) {
		change := n.change()
		if !in.TakesPart(n.entry) && change.Fate() == toll.FateStays {
			continue
		}
		hub := in.HubOf(n.entry)
		i := slices.IndexFunc(tolls, func(t hubToll) bool { return t.hub == hub })
		if i < 0 {
			tolls, i = append(tolls, hubToll{hub: hub}), len(tolls)
		}
		tolls[i].Add(n.entry.Node.Namespace, change)
	}
	return tolls
}

// treeNode is a node in the tree, with its future.
type treeNode struct {
	entry *index.Entry // one of its files
	stays bool         // the run keeps or writes one of its files
	moves bool         // other files have all its objects after the run
	now   *Node        // the rendered node; nil if the run doesn't render it
	to    string       // the new namespace if its row moves it
	lost  []toll.Held  // objects that no file has after the run
}

// change returns the guard's data about the node.
func (n *treeNode) change() *toll.NodeChange {
	c := &toll.NodeChange{Before: n.lost, Exists: func(lynq.Ref) bool { return false }}
	if n.now == nil {
		c.Leaves, c.To, c.Objects = !n.stays && !n.moves, n.to, 1 // a remaining node has at least one object
		return c
	}
	c.NotIncluded = n.now.NotIncluded
	for i := range n.now.Objects {
		if n.now.Objects[i].ID != HookID {
			c.Objects++
		}
	}
	return c
}

// treeNodes returns the nodes with a file in the tree. A node without a file doesn't
// count. A killed run may not have written it, or somebody removed it.
func (in *Input) treeNodes(p *Plan) []*treeNode {
	found := map[lynq.NodeKey]*treeNode{}
	var nodes []*treeNode
	see := func(e *index.Entry) *treeNode {
		n := found[e.Node]
		if n == nil {
			n = &treeNode{entry: e}
			found[e.Node], nodes = n, append(nodes, n)
		}
		return n
	}
	for _, e := range p.Kept {
		if !e.Shared() && !isApp(e.Path) {
			see(e).stays = true
		}
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.had() {
			see(s.Old)
		}
	}
	for i := range p.Steps {
		if f := p.Steps[i].File; f != nil && found[f.Node] != nil {
			found[f.Node].stays = true
		}
	}
	for _, n := range in.Nodes {
		if old := found[n.Key()]; old != nil {
			old.now = n
		}
	}
	in.move(nodes)
	in.lose(p, found)
	return nodes
}

// had reports whether the tree has a node's file before the step.
func (s *Step) had() bool {
	return s.Old != nil && !s.Old.Shared() && !isApp(s.Path) && s.State.There
}

// move notes the nodes that move to another namespace.
func (in *Input) move(nodes []*treeNode) {
	type name struct{ hub, form, node string }
	old := map[name]*treeNode{}
	for _, n := range nodes {
		if e := n.entry; n.now == nil {
			old[name{e.Hub.Name, e.Form.Name, e.Node.Name}] = n
		}
	}
	for _, n := range in.Nodes {
		if o := old[name{n.Hub.Name, n.Form.Name, n.Name}]; o != nil && o.entry.Node != n.Key() {
			o.to = n.Namespace
		}
	}
}

// lose notes the objects that remaining nodes lose.
func (in *Input) lose(p *Plan, found map[lynq.NodeKey]*treeNode) {
	exists := sync.OnceValue(p.refs)
	for _, n := range found {
		n.moves = in.Apps == nil && n.now == nil && !n.stays && n.to == ""
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.had() || !s.drops() {
			continue
		}
		n := found[s.Old.Node]
		if n.now == nil && !n.stays {
			n.moves = n.moves && !slices.ContainsFunc(s.Old.Objects, func(k index.ObjectKey) bool { return !exists()[k.Ref] })
			continue
		}
		for _, key := range s.Old.Objects {
			if !s.keeps(key.Ref) && !exists()[key.Ref] {
				held := heldIn(s.State.Content, key, in.Target)
				held.Data = held.Data || n.now != nil && slices.Contains(n.now.HoldsData, key.ID)
				n.lost = append(n.lost, held)
			}
		}
	}
}

// drops reports whether a step removes something from the tree. A file that others changed
// and that no node needs counts too, because nothing lists it any more.
func (s *Step) drops() bool {
	return s.Action == ActionUpdate || s.Action == ActionRemove || s.Action == ActionConflict && s.File == nil
}

// keeps reports whether the file still has an object.
func (s *Step) keeps(ref lynq.Ref) bool {
	return s.File != nil && slices.ContainsFunc(s.File.Objects, func(k index.ObjectKey) bool { return k.Ref == ref })
}

// refs returns the tree's objects after a plan. A file that others changed keeps its old
// objects.
func (p *Plan) refs() map[lynq.Ref]bool {
	refs := map[lynq.Ref]bool{}
	add := func(keys []index.ObjectKey) {
		for _, k := range keys {
			refs[k.Ref] = true
		}
	}
	for _, e := range p.Kept {
		add(e.Objects)
	}
	for i := range p.Steps {
		switch s := &p.Steps[i]; {
		case s.File == nil:
		case s.Action == ActionConflict:
			add(s.Old.Objects)
		default:
			add(s.File.Objects)
		}
	}
	return refs
}
