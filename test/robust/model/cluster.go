package model

import "slices"

// Owner is an owner reference.
type Owner struct {
	UID        string
	Controller bool
}

// Object is an object of the cluster that is no record of lynqctl.
type Object struct {
	Ref
	UID                 string
	Labels, Annotations map[string]string
	Owners              []Owner
	Deleting            bool
	// Body is the content without tracking, and Whole the content with it. Neither has
	// fields that only the server writes.
	Body, Whole string
	// Theirs is a field of the content that no form sets.
	Theirs string
	// TakesClaims tells that Kubernetes deletes claims with the object.
	TakesClaims bool
}

// Entry is a line of an inventory.
type Entry struct {
	Ref
	UID, Deletion     string
	Excluded, Adopted bool
	Data              bool // the form marked it so
}

// Inventory is an inventory, or a copy of one that is being restored.
type Inventory struct {
	Name, UID, ApplySet string
	Namespace           string // as labels of objects name it
	Node                Node
	Copy, Deleting      bool
	Entries             []Entry
}

// Operated is a LynqNode: what the Lynq operator has in the place of an inventory.
type Operated struct {
	Name, UID, Namespace string
	Deleting             bool
}

// Cluster is a picture of a cluster.
type Cluster struct {
	Objects     map[string]Object // by uid
	Inventories []Inventory
	Operated    []Operated
	UIDs        map[string]bool // of everything that an owner reference may name
}

// At finds the object that a name has now; false where there is none that stays.
func (c *Cluster) At(ref Ref) (Object, bool) {
	for _, o := range c.Objects {
		if o.Ref == ref && !c.Condemned(o) {
			return o, true
		}
	}
	return Object{}, false
}

// Condemned tells whether an object is being deleted, or is the garbage collector's,
// because none of its owners exists.
func (c *Cluster) Condemned(o Object) bool {
	orphaned := len(o.Owners) > 0 && !slices.ContainsFunc(o.Owners, func(w Owner) bool {
		owner, is := c.Objects[w.UID]
		return c.UIDs[w.UID] && (!is || !c.Condemned(owner))
	})
	return o.Deleting || orphaned
}

// owner is the object that Kubernetes deletes this one with: the StatefulSet of a claim.
func (c *Cluster) owner(o Object) (Object, bool) {
	for _, w := range o.Owners {
		if owner, is := c.Objects[w.UID]; is {
			return owner, true
		}
	}
	return Object{}, false
}

// Holder is the inventory whose object this is: the object has the tracking of its node,
// and the inventory lists it. It is nil for a foreign or unowned object.
func (c *Cluster) Holder(o Object) (*Inventory, Entry) {
	for i := range c.Inventories {
		inventory := &c.Inventories[i]
		if !inventory.tracks(o) {
			continue
		}
		for _, entry := range inventory.Entries {
			// An entry without a uid is of a run that was killed before it saw the answer.
			if entry.Ref == o.Ref && (entry.UID == o.UID || entry.UID == "") {
				return inventory, entry
			}
		}
	}
	return nil, Entry{}
}

// tracks tells whether an object has the tracking of the inventory's node. While an
// inventory is restored its objects have no owner, and only the label part-of agrees.
func (i *Inventory) tracks(o Object) bool {
	if o.Labels["lynq.sh/hub"] != i.Node.Hub {
		return false
	}
	owned := slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.UID == i.UID })
	labelled := o.Labels["lynq.sh/node"] == i.Name && o.Labels["lynq.sh/node-namespace"] == i.Namespace
	return owned || labelled || o.Labels["applyset.kubernetes.io/part-of"] == i.ApplySet
}

// has tells whether an object is the LynqNode's.
func (n *Operated) has(o Object) bool {
	return slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.UID == n.UID }) ||
		o.Labels["lynq.sh/node"] == n.Name && o.Labels["lynq.sh/node-namespace"] == n.Namespace
}

// operated tells whether an object is any LynqNode's.
func (c *Cluster) operated(o Object) bool {
	return slices.ContainsFunc(c.Operated, func(n Operated) bool { return n.has(o) })
}

// stays tells whether a LynqNode is there that nobody deletes.
func (c *Cluster) stays(n *Operated) bool {
	return slices.ContainsFunc(c.Operated, func(now Operated) bool { return now.UID == n.UID && !now.Deleting })
}

// unseen tells whether an object is a copy that a command can't see, and that goes with an
// inventory (docs/deleting.md): the copy refers to that, and no inventory of the hub records
// an object of its kind.
func (c *Cluster) unseen(o Object, after *Cluster) bool {
	gone := slices.IndexFunc(c.Inventories, func(i Inventory) bool {
		return !after.UIDs[i.UID] && slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.UID == i.UID })
	})
	return gone >= 0 && !slices.ContainsFunc(c.Inventories, func(i Inventory) bool {
		recorded := slices.ContainsFunc(i.Entries, func(e Entry) bool { return e.Kind == o.Kind })
		return i.Node.Hub == c.Inventories[gone].Node.Hub && recorded
	})
}

// touched tells whether an object has anything of lynqctl's: tracking, an orphan's marks,
// or an inventory's entry.
func (c *Cluster) touched(o Object) bool {
	for _, key := range []string{"lynq.sh/hub", "lynq.sh/node", "lynq.sh/orphaned", "applyset.kubernetes.io/part-of"} {
		if o.Labels[key] != "" {
			return true
		}
	}
	return slices.ContainsFunc(c.Inventories, func(i Inventory) bool {
		return i.tracks(o) || slices.ContainsFunc(i.Entries, func(e Entry) bool { return e.Ref == o.Ref })
	})
}

// foreign tells whether another tool owns the object.
func (c *Cluster) foreign(o Object) bool {
	helm := o.Annotations["meta.helm.sh/release-name"] != "" && o.Labels["app.kubernetes.io/managed-by"] == "Helm"
	argo := o.Annotations["argocd.argoproj.io/tracking-id"] != ""
	return helm || argo || slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.Controller && !c.inventory(w.UID) })
}

func (c *Cluster) inventory(uid string) bool {
	return slices.ContainsFunc(c.Inventories, func(i Inventory) bool { return i.UID == uid })
}

func unmanaged(o Object) bool { return o.Annotations["lynq.sh/mode"] == "unmanaged" }

// data tells whether data is lost with an object.
func data(o Object) bool {
	return slices.Contains([]string{Claim, Space, Kind}, o.Kind) || o.TakesClaims
}
