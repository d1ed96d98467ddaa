package orphan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// RebuildInput holds what is left after inventories were lost.
type RebuildInput struct {
	// Stranded are the tracked objects that no inventory lists. Rebuild ignores other
	// orphans in this list.
	Stranded []Orphan
	// Inventories are the readable inventories, and Hubs the hub records.
	Inventories []*inventory.Inventory
	Hubs        []*inventory.Hub
	// Nodes are the nodes that rows and forms render. It is nil if the user passed no
	// files.
	Nodes []*plan.Node
	// Chosen are the hubs and Named the nodes that the user named. They help because some
	// objects name only their ApplySet.
	Chosen lynq.Names
	Named  []lynq.NodeKey
	// Form is the form of nodes whose form nothing else shows. Its name is empty if the
	// user named no form. It has a namespace only if the user gave one.
	Form lynq.FormKey
	// Within are the namespaces of the nodes in the user's files. It is nil if the user
	// named a namespace to write to. See outside.
	Within []string
	// NoFinalizer creates inventories without a finalizer.
	NoFinalizer bool
}

// Unbuilt are objects that Rebuild can't record, with the reason.
type Unbuilt struct {
	// NodeID comes from the objects' labels. See Origin. Its name is empty if the node is
	// unknown.
	lynq.NodeID
	Objects []*Orphan
	Why     string
}

// Rebuild creates inventories for stranded objects from their labels, owner references and
// annotations, and from rows and forms. It is a pure function. If an object lacks a fact,
// Rebuild records the safe choice. An object without a deletion policy is retained. No
// object counts as confirmed, so the next apply checks each of them.
func Rebuild(in *RebuildInput) (rebuilt []plan.Restoration, unbuilt []Unbuilt) {
	b := newBuilder(in)
	groups := map[group][]*Orphan{}
	for i := range in.Stranded {
		o := &in.Stranded[i]
		if o.Live != nil && o.Reason == ReasonStranded {
			g := b.groupOf(o)
			groups[g] = append(groups[g], o)
		}
	}
	for g, objects := range groups {
		inv, others, why := b.inventory(g, objects)
		if why == "" {
			why = b.outside(inv)
		}
		if why != "" {
			unbuilt = append(unbuilt, Unbuilt{NodeID: lynq.NodeID{Hub: objects[0].From.Hub, Namespace: g.Namespace, Name: g.Name}, Objects: objects, Why: why})
			continue
		}
		for _, o := range objects {
			inv.Entries = append(inv.Entries, b.entry(g.NodeKey, o))
		}
		rebuilt = append(rebuilt, plan.Restoration{Inventory: inv, Loss: cmp.Or(plan.LossOf(inv), plan.LossEntries), Added: len(objects), Others: others})
	}
	slices.SortFunc(rebuilt, func(a, b plan.Restoration) int {
		return cmp.Or(strings.Compare(a.Node.Namespace, b.Node.Namespace), strings.Compare(a.Node.Name, b.Node.Name))
	})
	slices.SortFunc(unbuilt, func(a, b Unbuilt) int {
		return cmp.Or(strings.Compare(a.String(), b.String()), a.Hub.Compare(b.Hub), strings.Compare(a.Objects[0].Full(), b.Objects[0].Full()))
	})
	return rebuilt, unbuilt
}

// outside says why an inventory must not be written, or "". A label of the object names
// the node's namespace. Somebody who may only label objects must not make lynqctl write
// elsewhere. So the namespace must come from the files, an existing inventory or hub
// record, or the user.
func (b *builder) outside(inv *inventory.Inventory) string {
	if b.Within == nil || inv.UID != "" || slices.Contains(b.Within, inv.Node.Namespace) {
		return ""
	}
	hub := inv.Node.Full().Hub
	if _, recorded := b.counting[hub]; recorded && b.counting.Counts(hub, inv.Node.Namespace) {
		return ""
	}
	return fmt.Sprintf("only labels say that hub %s has nodes in namespace %s (if it has, run this again with -n %s)", hub.Name, inv.Node.Namespace, inv.Node.Namespace)
}

// group identifies objects that belong together. They share a node, or an ApplySet if the
// node is unknown.
type group struct {
	lynq.NodeKey
	partOf string // empty if the node is known
}

// builder indexes the input.
type builder struct {
	*RebuildInput
	inventories map[lynq.NodeKey]*inventory.Inventory
	nodes       map[lynq.NodeKey]*plan.Node
	applySets   map[string]lynq.NodeKey
	objects     map[lynq.Ref]wantedObject
	counting    inventory.Counting
}

// wantedObject is an object that a node renders.
type wantedObject struct {
	*plan.Object
	node lynq.NodeKey
}

func newBuilder(in *RebuildInput) *builder {
	b := &builder{
		RebuildInput: in, inventories: map[lynq.NodeKey]*inventory.Inventory{}, nodes: map[lynq.NodeKey]*plan.Node{},
		applySets: map[string]lynq.NodeKey{}, objects: map[lynq.Ref]wantedObject{}, counting: inventory.NewCounting(in.Hubs),
	}
	for _, inv := range in.Inventories {
		b.inventories[inv.Node.Key()] = inv
	}
	for _, n := range in.Nodes {
		b.nodes[n.Key()] = n
		b.knowNode(n.Key())
		for i := range n.Objects {
			b.objects[n.Objects[i].Ref] = wantedObject{&n.Objects[i], n.Key()}
		}
	}
	for _, key := range in.Named {
		b.knowNode(key)
	}
	for i := range in.Stranded {
		// If one object names the node of its ApplySet, the other objects belong there
		// too.
		if from := in.Stranded[i].From; from.Name != "" {
			b.knowNode(from.Key())
		}
	}
	return b
}

func (b *builder) knowNode(key lynq.NodeKey) {
	b.applySets[inventory.ID(key.Namespace, inventory.Name(key.Name))] = key
}

// groupOf finds the node of an object. The object names its node, or its ApplySet belongs
// to a known node. Other objects had an inventory as owner, so they are in the inventory's
// namespace.
func (b *builder) groupOf(o *Orphan) group {
	if o.From.Name != "" {
		return group{NodeKey: o.From.Key()}
	}
	if key, known := b.applySets[o.Live.PartOf]; known {
		return group{NodeKey: key}
	}
	return group{lynq.NodeKey{Namespace: o.Namespace}, o.Live.PartOf}
}

// inventory returns the inventory of a node, or a new one, and other hubs that might own
// the node. Or it says why lynqctl can't create one.
func (b *builder) inventory(g group, objects []*Orphan) (inv *inventory.Inventory, others []lynq.HubKey, why string) {
	if g.Name == "" {
		return nil, nil, "their labels name no node (pass -f: rows and forms may show it)"
	}
	hub := objects[0].From.Hub.Name
	for _, o := range objects {
		if o.From.Hub.Name != hub {
			return nil, nil, fmt.Sprintf("they are of several hubs, %q and %q", hub, o.From.Hub.Name)
		}
	}
	if known := b.inventories[g.NodeKey]; known != nil {
		if known.Node.Hub.Name != hub {
			return nil, nil, fmt.Sprintf("they are of hub %q, and the node's inventory is of hub %q", hub, known.Node.Hub.Name)
		}
		return known.Clone(), nil, ""
	}
	inv = &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: hub}, Namespace: g.Namespace, Name: g.Name}, Activate: "true", Finalizer: !b.NoFinalizer}
	if n := b.nodes[g.NodeKey]; n != nil {
		if n.Hub.Name != hub {
			return nil, nil, fmt.Sprintf("they are of hub %q, and rows and forms of hub %q make a node of that name", hub, n.Hub.Name)
		}
		inv.Node, inv.TemplateGeneration, inv.Extra = n.NodeID, n.TemplateGeneration, n.Extra
		return inv, nil, ""
	}
	if inv.Node.Hub.Namespace, others, why = b.hubNamespace(hub, g.Namespace, objects); why != "" {
		return nil, nil, why
	}
	if inv.Node.Form.Name, inv.Node.UID, why = b.identity(inv.Node.Hub, g.Name); why != "" {
		return nil, nil, why
	}
	inv.Node.Form.Namespace = b.formNamespace(inv.Node.Hub, inv.Node.Form.Name)
	return inv, others, ""
}

// of reports whether an inventory belongs to a hub, as far as their namespaces are known.
func of(inv *inventory.Inventory, hub lynq.HubKey) bool {
	return inv.Node.Hub.Name == hub.Name && (inv.Node.Hub.Namespace == "" || hub.Namespace == "" || inv.Node.Hub.Namespace == hub.Namespace)
}

// formNamespace returns the namespace of a hub's form, or "" if unknown.
func (b *builder) formNamespace(hub lynq.HubKey, form string) string {
	if b.Form.Name == form && b.Form.Namespace != "" {
		return b.Form.Namespace
	}
	known := map[string]bool{}
	for _, inv := range b.Inventories {
		if of(inv, hub) && inv.Node.Form.Name == form && inv.Node.Form.Namespace != "" {
			known[inv.Node.Form.Namespace] = true
		}
	}
	if len(known) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(known))[0]
}

// identity reads form and row from the name of a node, UID-FORM, or says why it can't. It
// prefers a form whose hash fits the name. Next it takes the form that the user named.
// Last it takes the form of other nodes of the hub, if only one fits.
func (b *builder) identity(hub lynq.HubKey, node string) (form, uid, why string) {
	known := map[string]bool{b.Form.Name: true}
	for _, inv := range b.Inventories {
		if of(inv, hub) {
			known[inv.Node.Form.Name] = true
		}
	}
	for form := range known {
		if row, ok := cutHashed(node, form); ok {
			return form, row, ""
		}
	}
	if b.Form.Name != "" {
		if row, ok := cutForm(node, b.Form.Name); ok {
			return b.Form.Name, row, ""
		}
	}
	fitting := map[string]string{} // from forms to rows
	for form := range known {
		if row, ok := cutForm(node, form); ok && form != "" {
			fitting[form] = row
		}
	}
	forms := slices.Sorted(maps.Keys(fitting))
	switch {
	case len(forms) == 1:
		return forms[0], fitting[forms[0]], ""
	case len(forms) > 1:
		return "", "", fmt.Sprintf("the node's name fits several forms: %s (pass --form; or pass -f: rows and forms may show it)", strings.Join(forms, ", "))
	case b.Form.Name == "":
		return "", "", "nothing shows which form they belong to (pass --form; or pass -f: rows and forms may show it)"
	}
	if row, ok := naming.CutHash(node, b.Form.Name); ok { // only the rows show the real uid, and the next apply records it
		return b.Form.Name, row, ""
	}
	return "", "", fmt.Sprintf("the node's name does not end with -%s (pass --form, or -f: rows and forms may show it)", b.Form.Name)
}

// cutForm cuts the form off the name of a node.
func cutForm(node, form string) (uid string, ok bool) {
	uid, ok = strings.CutSuffix(node, "-"+form)
	return uid, ok && uid != ""
}

// cutHashed cuts form and hash off the name of a node, if the hash fits.
func cutHashed(node, form string) (uid string, ok bool) {
	uid, ok = cutForm(node[:max(0, strings.LastIndexByte(node, '-'))], form)
	return uid, ok && naming.Dashed(form) && naming.NodeName(uid, form) == node
}

// hubNamespace returns the namespace of a hub, or "" if nothing shows it, or says why it
// can't tell. If the labels of all objects name a hub, it takes no other one, because --hub
// is only a choice. If several hubs have this name, it takes the one that the user named.
// Otherwise it takes the one with a record in the node's namespace, and returns the others
// too.
func (b *builder) hubNamespace(hub, node string, objects []*Orphan) (namespace string, others []lynq.HubKey, why string) {
	labelled := labelledHub(objects)
	if labelled != "" && !b.Chosen.Choose(labelled, hub) {
		return "", nil, fmt.Sprintf("their labels say hub %s/%s, and --hub leaves it out (pass --hub %[1]s/%[2]s)", labelled, hub)
	}
	if labelled != "" {
		return labelled, nil, ""
	}
	namespaces, recorded := map[string]bool{}, false
	for _, h := range b.Hubs {
		if h.Name == hub && b.Chosen.Choose(h.Namespace, hub) {
			namespaces[h.Namespace] = true
			recorded = recorded || h.Namespace == node
		}
	}
	for _, inv := range b.Inventories {
		if inv.Node.Hub.Name == hub && inv.Node.Hub.Namespace != "" && b.Chosen.Choose(inv.Node.Hub.Namespace, hub) {
			namespaces[inv.Node.Hub.Namespace] = true
		}
	}
	known := slices.Sorted(maps.Keys(namespaces))
	switch {
	case len(known) == 0:
		return b.said(hub), nil, ""
	case len(known) == 1:
		return known[0], nil, ""
	case !recorded:
		return "", nil, fmt.Sprintf("there is a hub %q in each of the namespaces %s (pass --hub NAMESPACE/%s; or pass -f: rows and forms may show it)", hub, strings.Join(known, ", "), hub)
	}
	for _, ns := range known {
		if ns != node {
			others = append(others, lynq.HubKey{Namespace: ns, Name: hub})
		}
	}
	return node, others, ""
}

// labelledHub returns the namespace of the hub that the labels of objects name, or "" if
// none names one, or they don't agree.
func labelledHub(objects []*Orphan) string {
	said := map[string]bool{}
	for _, o := range objects {
		if o.Live.Node != "" {
			said[o.Live.HubNamespace] = true
		}
	}
	if len(said) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(said))[0]
}

// said returns the namespace that the user gave for a hub, or "".
func (b *builder) said(hub string) string {
	for _, name := range b.Chosen {
		if namespace, of, qualified := strings.Cut(name, "/"); qualified && of == hub {
			return namespace
		}
	}
	return ""
}

// unknownID is the resource id of an object that doesn't name it, because an entry needs
// one.
const unknownID = "unknown"

// entry returns the inventory entry for an object.
func (b *builder) entry(node lynq.NodeKey, o *Orphan) inventory.Entry {
	r := inventory.Entry{
		Ref: o.Ref, ID: cmp.Or(o.From.ID, unknownID), APIVersion: o.Resource.APIVersion(), UID: string(o.UID),
		Lifecycle: lynq.DefaultPolicy().Lifecycle, Adopted: o.Live.Adopted,
		Sensitive: true, // nobody knows which of its values are secret, until the next write
	}
	r.Creation, r.Deletion = cmp.Or(o.Creation, r.Creation), lynq.DeleteRetain
	if slices.Contains(lynq.DeletionPolicies(), o.Deletion) {
		r.Deletion = o.Deletion
	}
	if wanted := b.objects[o.Ref]; wanted.Object != nil && wanted.node == node {
		r.ID, r.APIVersion, r.Order = wanted.ID, wanted.APIVersion, wanted.Order
		kept := r.Deletion // the object's own policy wins
		r.Lifecycle = wanted.Policy.Lifecycle
		r.Deletion = kept
	}
	return r
}
