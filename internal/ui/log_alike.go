package ui

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// alike are the groups of changes in a round of a hub. One edit of a form changes thousands of
// objects in the same way, and a person reads it once.
type alike struct {
	groups map[string]*alikeGroup
	order  []*alikeGroup
}

// alikeGroup is the changes of one shape.
type alikeGroup struct {
	first   report.Event
	objects int
	names   []string // the first nodes
}

const (
	// alikeApart is the number of objects of a group that have lines of their own.
	alikeApart = 10
	// alikeNamed is the number of nodes that the line of a group names.
	alikeNamed = 3
)

// one reports whether an object is one of so many in its group that it gets no line of its
// own. Programs that read JSON get a record for each object.
func (l *Log) one(e *report.Event) bool {
	if l.json {
		return false
	}
	c := changeset.Change{
		Node: e.NodeID, Ref: e.Object, ID: e.ID, Action: string(e.Action), Words: Commas(string(e.Action), string(e.Outcome)), Cause: Commas(string(e.Reason), e.Message),
	}
	shape := c.Shape()
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.alike[e.Hub]
	if of == nil {
		of = &alike{groups: map[string]*alikeGroup{}}
		l.alike[e.Hub] = of
	}
	g := of.groups[shape]
	if g == nil {
		g = &alikeGroup{first: *e}
		of.groups[shape], of.order = g, append(of.order, g)
	}
	if g.objects++; len(g.names) < alikeNamed {
		g.names = append(g.names, e.Name)
	}
	return g.objects > alikeApart
}

// groups writes a record for each group of which not every object had one, at the end of a
// round.
func (l *Log) groups(hubs []lynq.HubKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, hub := range hubs {
		of := l.alike[hub]
		delete(l.alike, hub)
		if of == nil {
			continue
		}
		for _, g := range of.order {
			if g.objects > alikeApart {
				l.to.Info("objects", g.attributes()...)
			}
		}
	}
}

// attributes returns the attributes of a group's record.
func (g *alikeGroup) attributes() []any {
	e := &g.first
	all := []any{
		"hub", e.Hub.String(), "form", e.Form.String(), "kind", e.Object.GroupKind(), "action", string(e.Action), "reason", string(e.Reason),
		"outcome", string(e.Outcome), "objects", g.objects,
		"nodes", fmt.Sprintf("%s and %d more", strings.Join(g.names, ", "), g.objects-len(g.names)),
	}
	if e.Message != "" {
		all = append(all, "message", e.Message)
	}
	return all
}
