package history

import (
	"cmp"
	"slices"
	"strings"
)

// The bounds of what an entry has beside nodes and objects.
const (
	maxText     = 1024
	maxRefusals = 20
	maxForms    = 100
)

// line is an object of an entry, or a node without any.
type line struct {
	node, object int // object is -1 for the node itself
	rank         int
}

// rank orders lines by how much they matter: what was taken away, what failed, the rest.
func rank(action bool, outcome string) int {
	switch {
	case action:
		return 0
	case outcome != "done":
		return 1
	}
	return 2
}

// lines are all of an entry, those that matter most first.
func (e *Entry) lines() []line {
	var all []line
	for i := range e.Nodes {
		n := &e.Nodes[i]
		if len(n.Objects) == 0 {
			all = append(all, line{i, -1, rank(false, n.Outcome)})
		}
		for k := range n.Objects {
			all = append(all, line{i, k, rank(n.Objects[k].takes(), n.Objects[k].Outcome)})
		}
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.rank, b.rank) })
	return all
}

// shortened is the entry with so many objects at most, and with texts of bounded length. What
// it leaves out it counts.
func (e *Entry) shortened(most int) *Entry {
	short := *e
	short.Forms = e.Forms[:min(len(e.Forms), maxForms)]
	short.Refusals = nil
	for _, r := range e.Refusals[:min(len(e.Refusals), maxRefusals)] {
		short.Refusals = append(short.Refusals, Refusal{r.Guard, cut(r.What)})
	}
	all := e.lines()
	kept := make([]map[int]bool, len(e.Nodes))
	for _, l := range all[:min(len(all), most)] {
		if kept[l.node] == nil {
			kept[l.node] = map[int]bool{}
		}
		kept[l.node][l.object] = true
	}
	short.Nodes = nil
	for i := range e.Nodes {
		n := e.Nodes[i]
		if kept[i] == nil {
			short.MoreNodes++
			short.MoreObjects += len(n.Objects) + n.MoreObjects
			continue
		}
		n.Message = cut(n.Message)
		n.Objects = nil
		for k, o := range e.Nodes[i].Objects {
			if kept[i][k] {
				n.Objects = append(n.Objects, o)
			} else {
				n.MoreObjects++
			}
		}
		short.Nodes = append(short.Nodes, n)
	}
	return &short
}

// cut keeps a text short.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
