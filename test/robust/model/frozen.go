package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Frozen is a plan file, with the state on which it was decided.
type Frozen struct {
	Inputs  Inputs
	Cluster *Cluster
	Nodes   []Node   // that it names
	Changes []Ref    // objects that it changes or deletes
	Began   *Cluster // at the start of the run that carries it out
}

// unplanned names the changes that an apply of a plan file must not have made. If something
// changed on which the plan depends, these are all changes. Otherwise they are the changes
// that the plan lacks.
func (c Command) unplanned(before, after *Cluster, exit int) []string {
	if c.Plan == nil {
		return nil
	}
	var wrong []string
	stale := c.stale()
	if stale != "" && exit == 0 {
		wrong = append(wrong, "the run succeeded: "+stale)
	}
	for _, ref := range different(before, after) {
		switch {
		case stale != "":
			wrong = append(wrong, fmt.Sprintf("%s was changed: %s", ref, stale))
		case !slices.Contains(c.Plan.Changes, ref) && !restored(before, after, ref) && !loosened(before, after, ref):
			wrong = append(wrong, fmt.Sprintf("%s was changed, and the plan doesn't say so", ref))
		}
	}
	return wrong
}

// restored reports whether a run changed only an object's owner, which was a deleted
// inventory. A plan warns that a new one replaces it.
func restored(before, after *Cluster, ref Ref) bool {
	for uid, was := range before.Objects {
		is, stays := after.Objects[uid]
		if was.Ref == ref {
			return stays && !after.Condemned(is) && is.Body == was.Body && slices.ContainsFunc(before.Inventories, func(i Inventory) bool {
				return i.Deleting && slices.ContainsFunc(was.Owners, func(o Owner) bool { return o.UID == i.UID })
			})
		}
	}
	return false
}

// loosened reports whether a run only removed owners from an object: inventories that don't
// list it, because a person copied it. A plan warns of copies, and people may create more
// later.
func loosened(before, after *Cluster, ref Ref) bool {
	was, is := before.At(ref)
	if !is {
		return false
	}
	now := after.Objects[was.UID]
	same := now.Ref == ref && now.Body == was.Body && maps.Equal(now.Labels, was.Labels) && maps.Equal(now.Annotations, was.Annotations)
	return same && len(now.Owners) < len(was.Owners) && !after.Condemned(now) && !slices.ContainsFunc(now.Owners, func(o Owner) bool { return !slices.Contains(was.Owners, o) }) &&
		!slices.ContainsFunc(was.Owners, func(o Owner) bool { return !slices.Contains(now.Owners, o) && !before.copied(ref, o.UID) })
}

// copied reports whether an owner is an inventory that doesn't list the object.
func (c *Cluster) copied(ref Ref, owner string) bool {
	return slices.ContainsFunc(c.Inventories, func(i Inventory) bool {
		return i.UID == owner && !slices.ContainsFunc(i.Entries, func(e Entry) bool { return e.Ref == ref })
	})
}

// different returns the objects that differ in two pictures.
func different(a, b *Cluster) []Ref {
	refs := map[Ref]bool{}
	for _, uid := range slices.Concat(slices.Collect(maps.Keys(a.Objects)), slices.Collect(maps.Keys(b.Objects))) {
		was, is := a.Objects[uid], b.Objects[uid]
		if was.Labels["set"]+is.Labels["set"] != "" {
			continue // a claim of a StatefulSet comes and leaves with it
		}
		gone, going := was.UID == "" || a.Condemned(was), is.UID == "" || b.Condemned(is)
		if gone != going || !gone && was.Whole != is.Whole {
			refs[was.Ref], refs[is.Ref] = true, true
		}
	}
	delete(refs, Ref{})
	return slices.SortedFunc(maps.Keys(refs), func(a, b Ref) int { return strings.Compare(a.String(), b.String()) })
}

// stale says what changed of the plan's conditions, or returns "".
func (c Command) stale() string {
	changed := different(c.Plan.Cluster, c.Plan.Began)
	for _, ref := range c.Plan.Changes {
		if slices.Contains(changed, ref) {
			return ref.String() + " has changed since the plan"
		}
	}
	for _, n := range c.Plan.Nodes {
		switch {
		case c.Plan.Inputs.state(n) != c.Inputs.state(n):
			return "row " + n.Row + " came or went since the plan"
		case !slices.Equal(c.Plan.Inputs.wants(n), c.Inputs.wants(n)) && !c.Plan.Inputs.contested(n):
			return "the form or row of node " + n.Name() + " has changed since the plan"
		case c.Plan.Cluster.recordOf(n) != c.Plan.Began.recordOf(n):
			return "the inventory of node " + n.Name() + " has changed since the plan"
		}
	}
	return ""
}

// want is an object that a node wants, with everything that its content depends on.
type want struct {
	Rendered
	Revision int
	Plan     string
}

// wants returns the objects that a node wants.
func (in Inputs) wants(n Node) []want {
	var wants []want
	for _, r := range in.Rendered() {
		if r.Node == n {
			r.Resource.When = "" // the row includes it
			w := want{r, in.Hub(n.Hub).Form(n.Form).Revision, ""}
			if r.Ref.Kind != Claim && r.Ref.Kind != Kind { // their content is the same for all rows
				w.Plan = in.Hub(n.Hub).Row(n.Row).Columns["plan"]
			}
			wants = append(wants, w)
		}
	}
	return wants
}

// contested reports whether another node wants an object of a node. Then both nodes fail, and
// a plan changes nothing of them.
func (in Inputs) contested(n Node) bool {
	wanted := map[Ref]bool{}
	all := slices.DeleteFunc(in.Rendered(), func(r Rendered) bool { return !r.Certain || r.Excluded })
	for _, r := range all {
		wanted[r.Ref] = wanted[r.Ref] || r.Node == n
	}
	return slices.ContainsFunc(all, func(r Rendered) bool { return r.Node != n && wanted[r.Ref] })
}

// recordOf returns the text of a node's inventory.
func (c *Cluster) recordOf(n Node) string {
	for _, i := range c.Inventories {
		if i.Node == n && !i.Copy {
			return fmt.Sprint(i)
		}
	}
	return ""
}
