package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// groupedRuns has the objects of runs that stand in groups, and the nodes that ended badly.
type groupedRuns struct {
	*changeset.Set
	places  []runPlace // of the changes in the set
	grouped map[runPlace]bool
	expand  Expand
}

// runPlace is the place of a run in a list, that of a node in the run, and that of an object in
// the node, or wholeNode.
type runPlace struct{ run, node, object int }

const wholeNode = -1

// groupRuns groups the objects to which runs did the same, and the nodes that ended badly for
// the same cause. It refuses a number that no group has.
func groupRuns(runs []Run, e Expand) (*groupedRuns, error) {
	g := &groupedRuns{grouped: map[runPlace]bool{}, expand: e}
	var changes []changeset.Change
	nodes := 0
	for i := range runs {
		for j := range runs[i].Nodes {
			n := &runs[i].Nodes[j]
			id := &lynq.NodeID{Hub: runs[i].Hub, Form: lynq.FormKey{Namespace: n.FormNamespace, Name: n.Form}, Namespace: n.Namespace, Name: n.Name}
			if !report.Outcome(n.Outcome).Well() {
				changes = append(changes, changeset.Change{Node: id, Words: n.Outcome, Cause: Commas(n.Reason, report.CauseOf(*id, &report.Details{Message: n.Message}))})
				g.places = append(g.places, runPlace{i, j, wholeNode})
			}
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

// add adds the groups of a run to a list, and the nodes with their other objects. A node has no
// line of its own if groups have all that the run did with it.
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
		alone := len(r.Nodes[j].Objects) == 0 || !report.Outcome(n.Outcome).Well()
		if len(n.Objects)+n.MoreObjects > 0 || alone && !g.grouped[runPlace{run, j, wholeNode}] {
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
	number, nodes := "#"+strconv.Itoa(i+1)+"  ", fmt.Sprintf("%s (%s)", phrase.Count(group.Nodes, "node"), g.NodeNames(group))
	n := r.Nodes[p.node]
	if p.object == wholeNode {
		var messages Text
		for _, m := range group.Members {
			messages.Add(&report.Details{Message: r.Nodes[g.places[m].node].Message})
		}
		n.Message = messages.of(group.Nodes)
		return list.Item{Cells: []string{number + nodes, "", nodeWhy(&n), n.Outcome, ""}, Tone: stepTone(n.Outcome)}
	}
	o := &n.Objects[p.object]
	return list.Item{
		Cells: []string{number + strings.TrimSpace(o.Ref().GroupKind()+" "+o.ID) + " in " + nodes, ActionShown(o.Action), Shown(o.Reason), o.Outcome, o.ID},
		Tone:  stepTone(o.Outcome),
	}
}
