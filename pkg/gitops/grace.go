package gitops

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Leaving is a node in its grace period. Its row is gone, and its files remain in the
// tree.
type Leaving struct {
	lynq.NodeID
	// Since is when a run first found the row gone, and Until when lynqctl removes the
	// files.
	Since, Until time.Time
}

// String describes the node's future for people.
func (l *Leaving) String() string {
	return fmt.Sprintf("node %s is leaving: its row is inactive or missing, and its files are removed at %s (deletionGracePeriod)", l.Name, l.Until.UTC().Format(time.RFC3339))
}

// Leave finds the tree's nodes whose rows are gone and whose grace period hasn't ended.
// Their files remain, and the index stores the time. A node that renders again loses the
// time. Times are rounded up to seconds. A time in the future remains, because a clock
// that jumped back should keep files longer.
func (in *Input) Leave(now time.Time) {
	rendered := map[lynq.NodeKey]bool{}
	for _, n := range in.Nodes {
		rendered[n.Key()] = true
	}
	next := *in.Index
	next.Entries = slices.Clone(next.Entries)
	by := map[lynq.NodeKey][]*index.Entry{}
	for i := range next.Entries {
		switch e := &next.Entries[i]; {
		case e.Shared():
		case rendered[e.Node]:
			e.LeavingSince = time.Time{}
		case !in.Selected && in.Covers(e):
			by[e.Node] = append(by[e.Node], e)
		}
	}
	in.leaving = map[lynq.NodeKey]*Leaving{}
	objects := sync.OnceValue(in.rendered)
	for key, entries := range by {
		period, since := in.Period(entries[0]), leavingSince(entries, now)
		until := since.Add(period)
		if period == 0 || !now.Before(until) || moves(entries, objects()) {
			continue
		}
		in.leaving[key] = &Leaving{NodeID: lynq.NodeID{Hub: entries[0].Hub, Form: entries[0].Form, Namespace: key.Namespace, Name: key.Name}, Since: since, Until: until}
		for _, e := range entries {
			e.LeavingSince = since
		}
	}
	in.Index = &next
}

// rendered returns the objects of the run's nodes. If each node has its own Application or
// Kustomization, it returns none. Another node can't take objects over then, because the
// target may delete the old node's objects.
func (in *Input) rendered() map[lynq.Ref]bool {
	objects := map[lynq.Ref]bool{}
	if in.Apps != nil {
		return objects
	}
	for _, n := range in.Nodes {
		for i := range n.Objects {
			objects[n.Objects[i].Ref] = true
		}
	}
	return objects
}

// moves reports whether nodes of the run have all objects of a node that no longer
// renders. An example is a renamed form.
func moves(entries []*index.Entry, to map[lynq.Ref]bool) bool {
	return len(to) > 0 && !slices.ContainsFunc(entries, func(e *index.Entry) bool {
		return slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return !to[k.Ref] })
	})
}

// leavingSince returns the time at which a node's row was gone, from its files. If the
// files differ, because Git merged two branches, the time starts again.
func leavingSince(entries []*index.Entry, now time.Time) time.Time {
	since, whole := entries[0].LeavingSince, true
	for _, e := range entries {
		whole = whole && !e.LeavingSince.IsZero()
		if e.LeavingSince.After(since) {
			since = e.LeavingSince
		}
	}
	if !whole && now.After(since) {
		since = now
	}
	if t := since.UTC().Truncate(time.Second); t.Before(since) {
		return t.Add(time.Second)
	}
	return since.UTC()
}

// keepsLeaving reports whether a file remains because its node is in its grace period.
func (in *Input) keepsLeaving(e *index.Entry) bool { return in.leaving[e.Node] != nil }

// leavingIn returns the plan's nodes in their grace period, sorted by name. It omits a
// node whose files somebody removed.
func (in *Input) leavingIn(p *Plan) []Leaving {
	found := map[lynq.NodeKey]bool{}
	var all []Leaving
	for _, e := range p.Kept {
		if l := in.leaving[e.Node]; l != nil && !e.Shared() && !found[e.Node] {
			found[e.Node] = true
			all = append(all, *l)
		}
	}
	slices.SortFunc(all, func(a, b Leaving) int { return compareNodes(a.Key(), b.Key()) })
	return all
}

// leavingFields is the JSON form of a Leaving.
type leavingFields struct {
	Hub           string    `json:"hub"`
	Form          string    `json:"form"`
	HubNamespace  string    `json:"hubNamespace,omitempty"`
	FormNamespace string    `json:"formNamespace,omitempty"`
	Namespace     string    `json:"namespace"`
	Node          string    `json:"node"`
	Since         time.Time `json:"since"`
	Until         time.Time `json:"until"`
}

// MarshalJSON implements json.Marshaler.
func (l Leaving) MarshalJSON() ([]byte, error) {
	text, err := phrase.JSON(leavingFields{l.Hub.Name, l.Form.Name, l.Hub.Namespace, l.Form.Namespace, l.Namespace, l.Name, l.Since, l.Until})
	return []byte(text), err
}
