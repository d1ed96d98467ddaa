package model

import "time"

// Gone are the nodes that are to leave, by when a run first saw that: their rows are gone,
// or they go on as other nodes, which may leave objects of theirs behind.
type Gone map[Node]time.Time

// See notes what a run sees that begins at a time.
func (g Gone) See(c Command, before *Cluster, at time.Time) {
	if c.Verb != "apply" {
		return
	}
	for _, i := range before.Inventories {
		if _, known := g[i.Node]; !known && c.Inputs.goes(i.Node) && c.Shard.has(c.Inputs.Now(i.Node).Row) {
			g[i.Node] = at
		}
	}
}

// Forget notes which nodes have their rows again after a run, or are gone themselves.
// Exit is the run's exit code, or negative where it was killed.
func (g Gone) Forget(c Command, after *Cluster, exit int) {
	if c.Verb != "apply" || exit != 0 || c.Label != "" {
		return
	}
	there := map[Node]bool{}
	for _, i := range after.Inventories {
		there[i.Node] = true
	}
	for n := range g {
		if !there[n] || c.covers(n) && !c.Inputs.goes(n) && c.Inputs.state(n) == stays {
			delete(g, n)
		}
	}
}

// goes tells whether the inputs say that a node is to leave, or to go on as another one.
func (in Inputs) goes(n Node) bool { return in.state(n) == leaves || in.Now(n) != n }

// early tells whether the grace period of a node isn't over.
func (c Command) early(n Node) bool {
	hub := c.Inputs.Hub(n.Hub)
	if hub == nil || hub.Grace == 0 || !c.Inputs.goes(n) {
		return false
	}
	since, seen := c.Gone[n]
	return !seen || c.At.Before(since.Add(hub.Grace))
}
