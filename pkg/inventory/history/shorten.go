package history

import (
	"cmp"
	"slices"
	"strings"
)

// These limits apply to the parts of an entry beside nodes and objects.
const (
	maxText     = 1024
	maxRefusals = 20
	maxForms    = 100
)

// line is an object of an entry, or a node without objects.
type line struct {
	node, object int // object is -1 for the node
	rank         int
}

// rank orders lines by importance. Removed objects come first, then failures, then the
// rest.
func rank(action bool, outcome string) int {
	switch {
	case action:
		return 0
	case outcome != "done":
		return 1
	}
	return 2
}

// lines returns all lines of an entry, the most important first.
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

// shortened returns the entry with a limited number of objects and shorter texts. It
// counts what it drops.
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

// cut shortens a text.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
