package model

import (
	"slices"
	"time"
)

// Command is an execution of lynqctl.
type Command struct {
	// Verb is apply, delete, finalize, prune, restore, rebuild, adopt or handover. It is
	// look for a command that changes nothing, and wait if no command runs.
	Verb   string
	Inputs Inputs // those that -f names
	// Nodes, Forms and Hubs narrow an apply, and name the targets of a delete.
	Nodes, Forms, Hubs []string
	Label              string // the tenant to which -l narrows an apply
	MaxDelete          string
	IncludeData        bool
	CascadeOrphan      bool
	AdoptNever         bool
	Continue           bool // past a pause
	Watches            bool // a watch, which says of no conflict by an exit code
	Stage              int  // the last stage of rollouts, counted from 1; 0 for all
	Shard              Shard
	Plan               *Frozen  // the plan file that an apply carries out
	Writes             []Ref    // in the order in which the server carried them out
	Unseen             []string // kinds that the command can't read
	// At is the time at which the command ended. Gone has the nodes in their grace periods.
	At   time.Time
	Gone Gone
	// Ended has the Jobs that Kubernetes deleted after their work.
	Ended Ended

	rendered []Rendered // by the inputs
}

// covers reports whether the command covers a node.
func (c Command) covers(n Node) bool {
	return (len(c.Nodes) == 0 || slices.Contains(c.Nodes, n.Name())) &&
		(len(c.Forms) == 0 || slices.Contains(c.Forms, n.Form)) &&
		(len(c.Hubs) == 0 || slices.Contains(c.Hubs, n.Hub)) && c.Shard.has(n.Row)
}

// Stays says why the command must not delete an object, or returns "".
func (c Command) Stays(before *Cluster, o Object) string {
	if owner, is := before.owner(o); is && owner.TakesClaims {
		if why := c.Stays(before, owner); why != "" {
			return "its StatefulSet stays: " + why
		}
		return ""
	}
	switch {
	case slices.Contains(c.Unseen, o.Kind):
		return "the command could not read its kind"
	case before.foreign(o):
		return "another tool owns it"
	case unmanaged(o):
		return "it is marked as unmanaged"
	}
	switch c.Verb {
	case "apply":
		if c.tombstone(before, o) == "" {
			return ""
		}
		return c.staysInApply(before, o)
	case "delete", "finalize":
		return c.staysInDelete(before, o)
	case "prune":
		return c.staysInPrune(before, o)
	}
	return "the command deletes no objects"
}

// unnamed is about an entry of a run that was killed before it created its object, or one
// that somebody forged.
const unnamed = "a person created it, and its entry has no uid"

func (c Command) staysInApply(before *Cluster, o Object) string {
	holder, entry := before.Holder(o)
	if holder == nil {
		return "it isn't ours: no inventory lists it and tracks it"
	}
	if entry.UID == "" && o.Strange {
		return unnamed
	}
	if c.Label != "" && o.Labels["tenant"] != c.Label {
		return "its labels are not of this run"
	}
	leavesAsNamed := c.Inputs.state(holder.Node) == leaves && c.covers(holder.Node) // by the name in its inventory
	if !c.covers(c.Inputs.Now(holder.Node)) && !leavesAsNamed {
		return "its node " + holder.Node.Name() + " is not of this run"
	}
	if excludedBy(o.Ref, c.Inputs.rules(holder.Node)) {
		return "it is excluded"
	}
	for _, r := range c.rendered {
		if r.Ref != o.Ref {
			continue
		}
		again := (r.Resource.Purge || r.Resource.Recreate && !data(o) && !entry.Data) && (r.Node == c.Inputs.Now(holder.Node) || c.gives(holder.Node, r))
		if !again {
			return "row " + r.Node.Row + " of form " + r.Node.Form + " renders it"
		}
		if entry.Adopted || o.Annotations["lynq.sh/adopted"] != "" {
			return "it was adopted"
		}
		return ""
	}
	if c.early(holder.Node) {
		return "its node's grace period isn't over"
	}
	if c.Label != "" {
		return "a run with -l deletes only to purge and to recreate"
	}
	switch c.Inputs.state(holder.Node) {
	case unknown:
		return "the inputs lack its form"
	case broken:
		return "its row doesn't render"
	case stays:
		return kept(o, entry, RetainOnApply)
	}
	return kept(o, entry, RetainOnDelete)
}

// gives reports whether a node gives an object to the node that renders it now. That node
// may then do what its form says. An object that moves with its row to another hub moves at
// once.
func (c Command) gives(n Node, r Rendered) bool {
	state := c.Inputs.state(n)
	return c.covers(r.Node) && (state == stays || state == leaves && (!c.early(n) || r.Node.Row == n.Row))
}

// kept says which policy keeps the object: its own, or the recorded one. It returns "" for
// none.
func kept(o Object, e Entry, also string) string {
	for _, policy := range []string{o.Annotations["lynq.sh/deletion-policy"], e.Deletion} {
		if policy == Retain || policy == also {
			return "its deletion policy is " + policy
		}
	}
	return ""
}

func (c Command) staysInDelete(before *Cluster, o Object) string {
	holder, entry := before.Holder(o)
	switch {
	case holder == nil:
		return "it isn't ours: no inventory lists it and tracks it"
	case c.Verb == "delete" && !c.covers(holder.Node):
		return "its node " + holder.Node.Name() + " is not deleted"
	case c.Verb == "finalize" && !holder.Deleting && !holder.Copy: // a copy belongs to a deleted inventory
		return "nobody deleted the inventory of its node " + holder.Node.Name()
	case entry.UID == "" && o.Strange:
		return unnamed
	case entry.Excluded:
		return "it is recorded as excluded"
	case c.CascadeOrphan:
		return "--cascade=orphan deletes no object"
	}
	return kept(o, entry, RetainOnDelete)
}

func (c Command) staysInPrune(before *Cluster, o Object) string {
	holder, _ := before.Holder(o)
	switch {
	case o.Labels["lynq.sh/orphaned"] != "true":
		return "it is no orphan"
	case holder != nil:
		return "its node " + holder.Node.Name() + " has it"
	case data(o) && !c.IncludeData:
		return "it holds data"
	case o.Namespace == Far:
		return "it is in another namespace"
	}
	return ""
}

// tombstone says why no tombstone of the inputs may delete the object, or returns "".
func (c Command) tombstone(before *Cluster, o Object) string {
	const none = "no tombstone names it"
	if c.Label != "" || c.recorded(before, o.Ref) || slices.ContainsFunc(c.rendered, func(r Rendered) bool { return r.Ref == o.Ref }) {
		return none
	}
	for _, hub := range c.Inputs {
		for _, form := range hub.Forms {
			for _, row := range hub.Rows {
				named := form.Tombstone && row.Active && o.Ref == TombstoneOf(row.UID) && o.Labels["tenant"] == row.UID
				if named && c.covers(Node{hub.Name, form.Name, row.UID}) && !excludedBy(o.Ref, hub.Exclude, form.Exclude) {
					return ""
				}
			}
		}
	}
	return none
}

// recorded reports whether an inventory of the run's hubs lists the object.
func (c Command) recorded(before *Cluster, ref Ref) bool {
	return before.recorded(ref, func(hub string) bool {
		return c.Inputs.Hub(hub) != nil && (len(c.Hubs) == 0 || slices.Contains(c.Hubs, hub))
	})
}

// recorded reports whether an inventory of some hubs lists the object.
func (c *Cluster) recorded(ref Ref, of func(hub string) bool) bool {
	return slices.ContainsFunc(c.Inventories, func(i Inventory) bool {
		return of(i.Node.Hub) && slices.ContainsFunc(i.Entries, func(e Entry) bool { return e.Ref == ref })
	})
}
