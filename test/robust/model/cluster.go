package model

import "slices"

// Owner is an owner reference.
type Owner struct {
	UID        string
	Controller bool
	Theirs     bool // other people's
}

// Object is an object of the cluster that isn't a record of lynqctl.
type Object struct {
	Ref
	UID                 string
	Labels, Annotations map[string]string
	Owners              []Owner
	Deleting            bool
	// Body is the content without tracking, and Whole the content with it. Both lack fields
	// that only the server writes.
	Body, Whole string
	// Theirs is a field of the content that no form sets.
	Theirs string
	// Plan is the field that forms set from the row's column plan.
	Plan string
	// Strange is set if somebody else created the object, and no inventory has had its uid.
	Strange bool
	// TakesClaims is set if Kubernetes deletes claims with the object.
	TakesClaims bool
}

// Entry is a line of an inventory.
type Entry struct {
	Ref
	UID, Deletion     string
	Excluded, Adopted bool
	Data              bool // the form marked it so
	Ended             bool // a run saw its work complete
}

// Inventory is an inventory, or the copy of one during a restore.
type Inventory struct {
	Name, UID, ApplySet string
	Namespace           string // as labels of objects name it
	Node                Node
	Copy, Deleting      bool
	Entries             []Entry
}

// Operated is a LynqNode, the Lynq operator's form of an inventory.
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

// See adds objects that others changed after the picture, and their owners.
func (c *Cluster) See(objects []Object) {
	for _, o := range objects {
		c.Objects[o.UID] = o
		for _, w := range o.Owners {
			c.UIDs[w.UID] = c.UIDs[w.UID] || w.Theirs
		}
	}
}

// At returns the object with a name. It ignores objects in deletion. The bool is false if
// there is none.
func (c *Cluster) At(ref Ref) (Object, bool) {
	for _, o := range c.Objects {
		if o.Ref == ref && !c.Condemned(o) {
			return o, true
		}
	}
	return Object{}, false
}

// Condemned reports whether an object is being deleted, or the garbage collector deletes it
// because none of its owners exists.
func (c *Cluster) Condemned(o Object) bool {
	orphaned := len(o.Owners) > 0 && !slices.ContainsFunc(o.Owners, func(w Owner) bool {
		owner, is := c.Objects[w.UID]
		return c.UIDs[w.UID] && (!is || !c.Condemned(owner))
	})
	return o.Deleting || orphaned
}

// owner returns the object with which Kubernetes deletes this one: the StatefulSet of a
// claim.
func (c *Cluster) owner(o Object) (Object, bool) {
	for _, w := range o.Owners {
		if owner, is := c.Objects[w.UID]; is {
			return owner, true
		}
	}
	return Object{}, false
}

// Holder returns the inventory that owns the object. The object has the tracking of its
// node, and the inventory lists it. Holder returns nil for a foreign or unowned object.
func (c *Cluster) Holder(o Object) (*Inventory, Entry) {
	hub := o.Labels["lynq.sh/hub"]
	for i := range c.Inventories {
		inventory := &c.Inventories[i]
		if inventory.Node.Hub != hub || !inventory.tracks(o) {
			continue
		}
		for _, entry := range inventory.Entries {
			// An entry without a uid comes from a run that was killed before the answer.
			if entry.Ref == o.Ref && (entry.UID == o.UID || entry.UID == "") {
				return inventory, entry
			}
		}
	}
	return nil, Entry{}
}

// tracks reports whether an object has the tracking of the inventory's node. During a
// restore, its objects have no owner, and only the label part-of matches.
func (i *Inventory) tracks(o Object) bool {
	if o.Labels["lynq.sh/hub"] != i.Node.Hub {
		return false
	}
	owned := slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.UID == i.UID })
	labelled := o.Labels["lynq.sh/node"] == i.Name && o.Labels["lynq.sh/node-namespace"] == i.Namespace
	return owned || labelled || o.Labels["applyset.kubernetes.io/part-of"] == i.ApplySet
}

// has reports whether the LynqNode owns an object.
func (n *Operated) has(o Object) bool {
	return slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.UID == n.UID }) ||
		o.Labels["lynq.sh/node"] == n.Name && o.Labels["lynq.sh/node-namespace"] == n.Namespace
}

// operated reports whether any LynqNode owns an object.
func (c *Cluster) operated(o Object) bool {
	return slices.ContainsFunc(c.Operated, func(n Operated) bool { return n.has(o) })
}

// stays reports whether a LynqNode exists that nobody deletes.
func (c *Cluster) stays(n *Operated) bool {
	return slices.ContainsFunc(c.Operated, func(now Operated) bool { return now.UID == n.UID && !now.Deleting })
}

// touched reports whether an object has any mark of lynqctl: tracking, an orphan's marks,
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

// foreign reports whether another tool owns the object.
func (c *Cluster) foreign(o Object) bool {
	helm := o.Annotations["meta.helm.sh/release-name"] != "" && o.Labels["app.kubernetes.io/managed-by"] == "Helm"
	argo := o.Annotations["argocd.argoproj.io/tracking-id"] != ""
	return helm || argo || slices.ContainsFunc(o.Owners, func(w Owner) bool { return w.Controller && !c.inventory(w.UID) })
}

func (c *Cluster) inventory(uid string) bool {
	return slices.ContainsFunc(c.Inventories, func(i Inventory) bool { return i.UID == uid })
}

func unmanaged(o Object) bool { return o.Annotations["lynq.sh/mode"] == "unmanaged" }

// data reports whether deleting an object loses data.
func data(o Object) bool {
	return slices.Contains([]string{Claim, Space, Kind}, o.Kind) || o.TakesClaims
}
