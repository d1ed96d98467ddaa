package ui

import (
	"fmt"
	"strconv"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// groupedRuns has the objects of runs that stand in groups.
type groupedRuns struct {
	*changeset.Set
	places  []runPlace // of the changes in the set
	grouped map[runPlace]bool
	expand  Expand
}

// runPlace is the place of a run in a list, that of a node in the run, and that of an object in
// the node.
type runPlace struct{ run, node, object int }

// groupRuns groups the objects to which runs did the same. It refuses a number that no group
// has.
func groupRuns(runs []Run, e Expand) (*groupedRuns, error) {
	g := &groupedRuns{grouped: map[runPlace]bool{}, expand: e}
	var changes []changeset.Change
	nodes := 0
	for i := range runs {
		for j := range runs[i].Nodes {
			n := &runs[i].Nodes[j]
			id := &lynq.NodeID{Hub: runs[i].Hub, Form: lynq.FormKey{Namespace: n.FormNamespace, Name: n.Form}, Namespace: n.Namespace, Name: n.Name}
			for k := range n.Objects {
				o := &n.Objects[k]
				changes = append(changes, changeset.Change{Node: id, Ref: o.Ref(), ID: o.ID, Action: o.Action, Words: Commas(o.Action, o.Outcome), Cause: o.Reason})
				g.places = append(g.places, runPlace{i, j, k})
			}
		}
		nodes += len(runs[i].Nodes)
	}
	g.Set = changeset.Of(changes, nodes)
	if err := e.Check(g.Set); err != nil {
		return nil, err
	}
	for i := range g.Groups {
		for _, m := range g.Groups[i].Members {
			g.grouped[g.places[m]] = folded(g.Set, i, e)
		}
	}
	return g, nil
}

// add adds the groups of a run to a list, and the nodes with their other objects. A node whose
// objects all stand in groups has no line of its own, unless something is wrong with it.
func (g *groupedRuns) add(l *list.List, run int, r Run) {
	folds := false
	for i := range g.Groups {
		if members := g.Groups[i].Members; folded(g.Set, i, g.expand) && g.places[members[0]].run == run {
			folds = true
			l.Items = append(l.Items, g.item(i, r))
		}
	}
	for j := range r.Nodes {
		n := r.Nodes[j]
		n.Objects = nil
		for k, o := range r.Nodes[j].Objects {
			if !g.grouped[runPlace{run, j, k}] {
				n.Objects = append(n.Objects, o)
			}
		}
		if whole := len(n.Objects) == len(r.Nodes[j].Objects); whole || len(n.Objects)+n.MoreObjects > 0 || n.Message != "" {
			addNode(l, &n)
		}
	}
	if folds {
		l.Footer = append(l.Footer, "A group stands for the same change in each of its nodes. To list each object, pass --expand=N.")
	}
}

// item returns the line of a group.
func (g *groupedRuns) item(i int, r Run) list.Item {
	group := &g.Groups[i]
	p := g.places[group.Members[0]]
	o := &r.Nodes[p.node].Objects[p.object]
	text := "#" + strconv.Itoa(i+1) + "  " + o.Ref().GroupKind()
	if o.ID != "" {
		text += " " + o.ID
	}
	return list.Item{
		Cells: []string{fmt.Sprintf("%s in %s (%s)", text, phrase.Count(group.Nodes, "node"), g.NodeNames(group)), ActionShown(o.Action), Shown(o.Reason), o.Outcome, o.ID},
		Tone:  stepTone(o.Outcome),
	}
}
