package model

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Check compares a cluster before and after a command, and names the command's violations.
// exit is its exit code, or negative if it was killed.
func Check(c Command, before, after *Cluster, exit int) []string {
	c.rendered = c.Inputs.Rendered()
	wrong, deleted := c.losses(before, after)
	wrong = append(wrong, c.changes(before, after)...)
	wrong = append(wrong, c.guard(before, deleted)...)
	wrong = append(wrong, c.staged(before, after)...)
	wrong = append(wrong, c.unplanned(before, after, exit)...)
	wrong = append(wrong, c.unsharded(before, after)...)
	wrong = append(wrong, c.repeated(before, after)...)
	if c.Verb != "wait" {
		wrong = append(wrong, unrecorded(before, after)...)
	}
	if c.Verb == "apply" && exit == 0 && c.Label == "" && c.Plan == nil {
		wrong = append(wrong, c.missing(after)...)
	}
	if c.Verb == "handover" {
		wrong = append(wrong, stranded(before, after, exit)...)
	}
	return wrong
}

// stranded returns the objects of deleted LynqNodes that no inventory lists. After a
// successful handover, it also returns the remaining LynqNodes.
func stranded(before, after *Cluster, exit int) []string {
	var wrong []string
	for i := range before.Operated {
		n := &before.Operated[i]
		if after.stays(n) {
			if exit == 0 {
				wrong = append(wrong, fmt.Sprintf("LynqNode %s is there, and the handover succeeded", n.Name))
			}
			continue
		}
		for _, o := range before.sorted() {
			now, is := after.Objects[o.UID]
			if !is || !n.has(o) {
				continue // a missing object is a loss
			}
			if holder, _ := after.Holder(now); holder == nil {
				wrong = append(wrong, fmt.Sprintf("LynqNode %s has gone, and no inventory has its %s", n.Name, o.Ref))
			}
		}
	}
	return wrong
}

// losses returns the objects that the command deleted, and the violations among them.
func (c Command) losses(before, after *Cluster) (wrong []string, deleted []Object) {
	for _, o := range before.sorted() {
		if now, is := after.Objects[o.UID]; before.Condemned(o) || is && !after.Condemned(now) {
			continue
		}
		deleted = append(deleted, o)
		if why := c.Stays(before, o); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s was deleted: %s", o.Ref, why))
		}
	}
	return wrong, deleted
}

func (c *Cluster) sorted() []Object {
	return slices.SortedFunc(maps.Values(c.Objects), func(a, b Object) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
}

// unrecorded returns the objects that lynqctl created and no inventory lists, so that
// nothing would ever delete them. None may exist, even after a kill.
func unrecorded(before, after *Cluster) []string {
	var wrong []string
	for _, o := range after.sorted() {
		_, was := before.Objects[o.UID]
		if was || o.Labels["lynq.sh/hub"] == "" || after.Condemned(o) || after.recorded(o.Ref, func(string) bool { return true }) {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s was created, and no inventory names it", o.Ref))
	}
	return wrong
}

// changes returns the objects that the command must not have written.
func (c Command) changes(before, after *Cluster) []string {
	var wrong []string
	for _, o := range before.sorted() {
		now, is := after.Objects[o.UID]
		if !is || before.Condemned(o) || after.Condemned(now) {
			continue
		}
		why, whole := c.frozen(before, o)
		switch {
		case c.Verb != "wait" && now.Theirs != o.Theirs:
			wrong = append(wrong, fmt.Sprintf("%s lost a field that no form sets", o.Ref))
		case why == "":
		case now.Body != o.Body:
			wrong = append(wrong, fmt.Sprintf("%s was changed: %s\n--- before\n%s\n--- after\n%s", o.Ref, why, o.Body, now.Body))
		case whole && now.Whole != o.Whole && !loosened(before, after, o.Ref):
			wrong = append(wrong, fmt.Sprintf("the tracking of %s was changed: %s\n--- before\n%s\n--- after\n%s", o.Ref, why, o.Whole, now.Whole))
		}
	}
	return wrong
}

// frozen says why the command must not write an object, or returns "". whole says that this
// includes its tracking.
func (c Command) frozen(before *Cluster, o Object) (why string, whole bool) {
	holder, entry := before.Holder(o)
	untouched := !before.touched(o)
	switch c.Verb {
	case "look":
		return "the command only reads", true
	case "wait":
		return "", false
	case "restore", "rebuild", "adopt":
		if holder != nil && entry.Excluded {
			return "it is recorded as excluded", true
		}
		return "the command doesn't write content", untouched
	case "delete", "finalize", "prune":
		return "the command doesn't write content", untouched
	case "handover":
		return "the command doesn't write content", !before.operated(o)
	}
	wanted, excluded := c.wanted(o)
	switch {
	case holder != nil && !c.covers(c.Inputs.Now(holder.Node)) && c.holds(holder.Node, o):
		return "its node " + holder.Node.Name() + " is not of this run, and renders it", true
	case wanted && (holder != nil || c.adopts(before, o)):
		return "", false
	case holder != nil && excludedBy(o.Ref, c.Inputs.rules(holder.Node)):
		return "it is excluded", true
	case holder != nil && excluded:
		// Another node's form excludes it. Until that node owns it, the current one may
		// restore its tracking.
		return "it is excluded", false
	case holder == nil:
		return "it isn't ours, and nothing may adopt it", untouched
	case !c.covers(c.Inputs.Now(holder.Node)) && !c.continues(holder.Node):
		return "its node is not of this run", true
	}
	return "nothing renders it", false
}

// holds reports whether a node renders its object, and no other node may take it.
func (c Command) holds(n Node, o Object) bool {
	renders, taken := false, false
	for _, r := range c.rendered {
		renders = renders || r.Ref == o.Ref && r.Node == n
		taken = taken || r.Ref == o.Ref && c.covers(r.Node) && r.Resource.Adoption == Always
	}
	return renders && !taken
}

// continues reports whether the run has a node of another hub that replaces a node, because
// that hub has its row now.
func (c Command) continues(n Node) bool {
	return c.Inputs.state(n) == leaves && slices.ContainsFunc(c.rendered, func(r Rendered) bool {
		return r.Node.Hub != n.Hub && r.Node.Row == n.Row && c.covers(r.Node)
	})
}

// wanted reports whether the run may write the object, and whether a rule excludes it.
func (c Command) wanted(o Object) (wanted, excluded bool) {
	for _, r := range c.rendered {
		if r.Ref == o.Ref && c.covers(r.Node) {
			wanted = wanted || !r.Excluded
			excluded = excluded || r.Excluded
		}
	}
	return wanted, excluded
}

// adopts reports whether a resource of the run may adopt the object.
func (c Command) adopts(before *Cluster, o Object) bool {
	if unmanaged(o) {
		return false
	}
	return !c.AdoptNever && slices.ContainsFunc(c.rendered, func(r Rendered) bool {
		unowned := r.Resource.Adoption == IfUnowned && !before.foreign(o)
		return r.Ref == o.Ref && c.covers(r.Node) && !r.Excluded && (unowned || r.Resource.Adoption == Always)
	})
}

// guard counts the nodes that lost objects because they left, and those that lost data. It
// compares the number with --max-delete.
func (c Command) guard(before *Cluster, deleted []Object) []string {
	if c.Verb != "apply" {
		return nil
	}
	lost := map[string]map[Node]bool{}
	for _, o := range deleted {
		holder, entry := before.Holder(o)
		if holder == nil || c.Inputs.state(holder.Node) == stays && (!data(o) && !entry.Data || c.purges(holder.Node, o)) {
			continue
		}
		if lost[holder.Node.Hub] == nil {
			lost[holder.Node.Hub] = map[Node]bool{}
		}
		lost[holder.Node.Hub][holder.Node] = true
	}
	var wrong []string
	for _, hub := range slices.Sorted(maps.Keys(lost)) {
		if most := c.mostDeleted(before, hub); len(lost[hub]) > most {
			wrong = append(wrong, fmt.Sprintf("%d nodes of hub %s lost objects, and --max-delete=%s lets %d", len(lost[hub]), hub, c.MaxDelete, most))
		}
	}
	return wrong
}

// purges reports whether a node's form deletes an object when its work is done.
func (c Command) purges(n Node, o Object) bool {
	return slices.ContainsFunc(c.rendered, func(r Rendered) bool {
		return r.Ref == o.Ref && r.Node == c.Inputs.Now(n) && r.Resource.Purge
	})
}

// mostDeleted returns how many nodes of a hub the run may delete.
func (c Command) mostDeleted(before *Cluster, hub string) int {
	share, isShare := strings.CutSuffix(c.MaxDelete, "%")
	n, err := strconv.Atoi(share)
	if err != nil || !isShare {
		return n
	}
	nodes := map[Node]bool{}
	for _, i := range before.Inventories {
		nodes[i.Node] = nodes[i.Node] || i.Node.Hub == hub
	}
	for _, r := range c.rendered {
		nodes[r.Node] = nodes[r.Node] || r.Node.Hub == hub
	}
	count := 0
	for _, of := range nodes {
		if of {
			count++
		}
	}
	const percent = 100
	return max(1, int(math.Ceil(float64(count*n)/percent)))
}

// missing returns the objects that a successful apply must have left in the cluster.
func (c Command) missing(after *Cluster) []string {
	var wrong []string
	for _, r := range c.rendered {
		waits := len(c.Inputs.Hub(r.Node.Hub).Form(r.Node.Form).Stages) > 0 // perhaps, at a pause
		if waits || !c.covers(r.Node) || r.Excluded || !r.Certain || r.Resource.Purge || slices.Contains(c.Unseen, r.Ref.Kind) {
			continue
		}
		o, is := after.At(r.Ref)
		if !is && r.Resource.Ends && after.ended(r) {
			continue
		}
		if !is {
			wrong = append(wrong, fmt.Sprintf("%s is missing, the run succeeded, and node %s renders it", r.Ref, r.Node.Name()))
			continue
		}
		if unmanaged(o) || c.Watches && after.foreign(o) {
			continue
		}
		if row := c.Inputs.Hub(r.Node.Hub).Row(r.Node.Row); !c.Watches && (r.Ref.Kind == Config || r.Ref.Kind == Widget) && o.Plan != row.Columns["plan"] {
			wrong = append(wrong, fmt.Sprintf("%s has plan %q, the run succeeded, and node %s renders %q", r.Ref, o.Plan, r.Node.Name(), row.Columns["plan"]))
		}
		holder, entry := after.Holder(o)
		switch {
		case holder == nil || holder.Node != r.Node:
			wrong = append(wrong, fmt.Sprintf("%s is not tracked and recorded by its node %s, and the run succeeded", r.Ref, r.Node.Name()))
		case entry.Deletion != r.Resource.Deletion || o.Annotations["lynq.sh/deletion-policy"] != r.Resource.Deletion:
			wrong = append(wrong, fmt.Sprintf("%s is recorded as %s and marked as %s, and its form says %s", r.Ref, entry.Deletion, o.Annotations["lynq.sh/deletion-policy"], r.Resource.Deletion))
		}
	}
	return wrong
}
