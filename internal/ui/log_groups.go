package ui

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// roundGroups are the groups of changes in a round of a hub. One edit of a form changes thousands of
// objects in the same way, and a person reads it once.
type roundGroups struct {
	groups map[string]*roundGroup
	order  []*roundGroup
}

// roundGroup is the changes of one shape.
type roundGroup struct {
	first   report.Event
	objects int
	names   []string // the first nodes
}

const (
	// roundApart is the number of objects of a group that have lines of their own.
	roundApart = 10
	// roundNamed is the number of nodes that the line of a group names.
	roundNamed = 3
)

// folds reports whether an object gets no line of its own, because its group has so many.
// Programs that read JSON get a record for each object.
func (l *Log) folds(e *report.Event) bool {
	if l.json {
		return false
	}
	c := changeset.Change{
		Node: &e.NodeID, Ref: e.Object, ID: e.ID, Action: string(e.Action), Words: Commas(string(e.Action), string(e.Outcome)), Cause: Commas(string(e.Reason), e.Message),
	}
	shape := c.Shape()
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.rounds[e.Hub]
	if of == nil {
		of = &roundGroups{groups: map[string]*roundGroup{}}
		l.rounds[e.Hub] = of
	}
	g := of.groups[shape]
	if g == nil {
		g = &roundGroup{first: *e}
		of.groups[shape], of.order = g, append(of.order, g)
	}
	if g.objects++; len(g.names) < roundNamed {
		g.names = append(g.names, e.Name)
	}
	return g.objects > roundApart
}

// groups writes a record for each group of which not every object had one, at the end of a
// round.
func (l *Log) groups(hubs []lynq.HubKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, hub := range hubs {
		of := l.rounds[hub]
		delete(l.rounds, hub)
		if of == nil {
			continue
		}
		for _, g := range of.order {
			if g.objects > roundApart {
				l.to.Info("objects", g.attributes()...)
			}
		}
	}
}

// attributes returns the attributes of a group's record.
func (g *roundGroup) attributes() []any {
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
