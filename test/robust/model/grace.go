package model

import "time"

// Gone has the leaving nodes, with the time when a run first saw that. Their rows are gone,
// or other nodes replace them and may leave some of their objects behind.
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

// Forget removes nodes that have their rows again after a run, or are gone themselves. exit
// is the run's exit code, or negative if it was killed.
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

// goes reports whether the inputs say that a node leaves, or that another one replaces it.
func (in Inputs) goes(n Node) bool { return in.state(n) == leaves || in.Now(n) != n }

// early reports whether the grace period of a node isn't over.
func (c Command) early(n Node) bool {
	hub := c.Inputs.Hub(n.Hub)
	if hub == nil || hub.Grace == 0 || !c.Inputs.goes(n) {
		return false
	}
	since, seen := c.Gone[n]
	return !seen || c.At.Before(since.Add(hub.Grace))
}
