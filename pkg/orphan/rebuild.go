package orphan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/trust"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// RebuildInput holds what Rebuild knows where records were lost.
type RebuildInput struct {
	// Stranded are the objects that have a node's tracking and that no inventory
	// names; others among them are left alone.
	Stranded []Orphan
	// Inventories are all that can be read, and Hubs the records of hubs.
	Inventories []*inventory.Inventory
	Hubs        []*inventory.Hub
	// Nodes are what rows and forms render, nil where they were not asked.
	Nodes []*plan.Node
	// Chosen are the hubs that a person named, and Named the nodes: an object may say
	// only which ApplySet it is part of.
	Chosen lynq.Names
	Named  []lynq.NodeKey
	// Form is that of nodes of which nothing else tells, of no name for none. It has a
	// namespace where a person said that.
	Form lynq.FormKey
	// Within are the namespaces in which the nodes of the inputs are, nil where a
	// person named the namespace to write into: see outside.
	Within []string
	// NoFinalizer: records that are created get no finalizer.
	NoFinalizer bool
}

// Rebuilt is an inventory that is created again, or completed.
type Rebuilt struct {
	*inventory.Inventory
	// Added are how many objects it did not name before.
	Added int
	// Others are further hubs of that name, of which the node could be too.
	Others []lynq.HubKey
}

// Unbuilt are objects of which no record can be made, and why.
type Unbuilt struct {
	// NodeID is as the objects tell it: see Origin. Where its name is "", nobody knows
	// the node.
	lynq.NodeID
	Objects []*Orphan
	Why     string
}

// Rebuild makes the records of stranded objects from their labels, owner
// references and annotations, and from what rows and forms say. It is a pure
// function. What an object does not say of itself is recorded so that nothing
// is lost: an object without a deletion policy is retained, and all count as
// not confirmed, so that the next apply looks at them.
func Rebuild(in *RebuildInput) (rebuilt []Rebuilt, unbuilt []Unbuilt) {
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
		rebuilt = append(rebuilt, Rebuilt{Inventory: inv, Added: len(objects), Others: others})
	}
	slices.SortFunc(rebuilt, func(a, b Rebuilt) int {
		return cmp.Or(strings.Compare(a.Node.Namespace, b.Node.Namespace), strings.Compare(a.Node.Name, b.Node.Name))
	})
	slices.SortFunc(unbuilt, func(a, b Unbuilt) int {
		return cmp.Or(strings.Compare(a.String(), b.String()), a.Hub.Compare(b.Hub), strings.Compare(a.Objects[0].Full(), b.Objects[0].Full()))
	})
	return rebuilt, unbuilt
}

// outside says why an inventory may not be written, "" if it may. An object names
// the namespace of its node in a label: who may label an object must not have an
// inventory written where they may write nothing. So it is a namespace of the inputs,
// one of an inventory or hub record that is there, or one that a person named.
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

// group is what belongs together: the objects of one node or, where that is unknown
// which that is, those of one ApplySet.
type group struct {
	lynq.NodeKey
	partOf string // "" where the node is known
}

// builder is the input with its indexes.
type builder struct {
	*RebuildInput
	inventories map[lynq.NodeKey]*inventory.Inventory
	nodes       map[lynq.NodeKey]*plan.Node
	applySets   map[string]lynq.NodeKey
	objects     map[lynq.Ref]wantedObject
	counting    trust.Counting
}

// wantedObject is an object that a node renders.
type wantedObject struct {
	*plan.Object
	node lynq.NodeKey
}

func newBuilder(in *RebuildInput) *builder {
	b := &builder{
		RebuildInput: in, inventories: map[lynq.NodeKey]*inventory.Inventory{}, nodes: map[lynq.NodeKey]*plan.Node{},
		applySets: map[string]lynq.NodeKey{}, objects: map[lynq.Ref]wantedObject{}, counting: trust.NewCounting(in.Hubs),
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
		// One object of a node that names it tells of those that do not.
		if from := in.Stranded[i].From; from.Name != "" {
			b.knowNode(from.Key())
		}
	}
	return b
}

func (b *builder) knowNode(key lynq.NodeKey) {
	b.applySets[inventory.ID(key.Namespace, inventory.Name(key.Name))] = key
}

// groupOf is the node that an object is of: that which it names, else the one
// whose ApplySet it is part of. What does not say so was owned by a record, and
// is in the namespace of that.
func (b *builder) groupOf(o *Orphan) group {
	if o.From.Name != "" {
		return group{NodeKey: o.From.Key()}
	}
	if key, known := b.applySets[o.Live.PartOf]; known {
		return group{NodeKey: key}
	}
	return group{lynq.NodeKey{Namespace: o.Namespace}, o.Live.PartOf}
}

// inventory is the record of a node as it is, or a new one, and of which hubs it
// could be too; or why there can be none.
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
	if inv.Node.Hub.Namespace, others, why = b.hubNamespace(hub, g.Namespace); why != "" {
		return nil, nil, why
	}
	if inv.Node.Form.Name, inv.Node.UID, why = b.identity(inv.Node.Hub, g.Name); why != "" {
		return nil, nil, why
	}
	inv.Node.Form.Namespace = b.formNamespace(inv.Node.Hub, inv.Node.Form.Name)
	return inv, others, ""
}

// of tells whether an inventory is of a hub, as far as their namespaces are known.
func of(inv *inventory.Inventory, hub lynq.HubKey) bool {
	return inv.Node.Hub.Name == hub.Name && (inv.Node.Hub.Namespace == "" || hub.Namespace == "" || inv.Node.Hub.Namespace == hub.Namespace)
}

// formNamespace is that of a hub's form, "" where that is unknown.
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

// identity reads form and row from the name of a node, UID-FORM; or tells why it
// cannot be read. The form is one that other nodes of the hub have, where the name
// ends with only one of those; else it is the one that a person said. A name with
// a hash tells which it is, where nothing in it had to be replaced.
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
	fitting := map[string]string{} // rows by forms
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
	if row, ok := cutMade(node, b.Form.Name); ok {
		return b.Form.Name, row, ""
	}
	return "", "", fmt.Sprintf("the node's name does not end with -%s (pass --form, or -f: rows and forms may show it)", b.Form.Name)
}

// cutForm takes the form off the name of a node.
func cutForm(node, form string) (uid string, ok bool) {
	uid, ok = strings.CutSuffix(node, "-"+form)
	return uid, ok && uid != ""
}

// cutHashed takes form and hash off the name of a node, where they are right.
func cutHashed(node, form string) (uid string, ok bool) {
	uid, ok = cutForm(node[:max(0, strings.LastIndexByte(node, '-'))], form)
	return uid, ok && naming.Dashed(form) && naming.NodeName(uid, form) == node
}

// cutMade takes the hash, and the form, off a name that was made since the whole
// is no name; see naming.HashedName. What the row's uid really is only rows tell, and an
// apply then records that.
func cutMade(node, form string) (uid string, ok bool) {
	const digits = 8
	at := strings.LastIndexByte(node, '-')
	hash := node[at+1:]
	if at < 1 || len(hash) != digits || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", false
	}
	uid = strings.TrimSuffix(node[:at], "-"+form)
	return cmp.Or(strings.Trim(uid, "-"), form), true
}

// hubNamespace is that of the hub of that name, "" where there is no trace of one;
// or why that is unknown. Objects tell only the hub's name: where there are several,
// it is the one that a person named or, if that does not tell, the one with a record
// in the node's namespace. Others are those that it could be as well.
func (b *builder) hubNamespace(hub, node string) (namespace string, others []lynq.HubKey, why string) {
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

// said is the namespace of a hub of which there is no trace, as far as a person
// said it.
func (b *builder) said(hub string) string {
	for _, name := range b.Chosen {
		if namespace, of, qualified := strings.Cut(name, "/"); qualified && of == hub {
			return namespace
		}
	}
	return ""
}

// unknownID is the resource id of an object that does not say it: a record
// has one.
const unknownID = "unknown"

// entry is what can be recorded of an object.
func (b *builder) entry(node lynq.NodeKey, o *Orphan) inventory.Entry {
	r := inventory.Entry{
		Ref: o.Ref, ID: cmp.Or(o.From.ID, unknownID), APIVersion: o.Resource.APIVersion(), UID: string(o.UID),
		Lifecycle: lynq.DefaultPolicy().Lifecycle, Adopted: o.Live.Adopted,
	}
	r.Creation, r.Deletion = cmp.Or(o.Creation, r.Creation), lynq.DeleteRetain
	if slices.Contains(lynq.DeletionPolicies(), o.Deletion) {
		r.Deletion = o.Deletion
	}
	if wanted := b.objects[o.Ref]; wanted.Object != nil && wanted.node == node {
		r.ID, r.APIVersion, r.Order = wanted.ID, wanted.APIVersion, wanted.Order
		kept := r.Deletion // as the object says
		r.Lifecycle = wanted.Policy.Lifecycle
		r.Deletion = kept
	}
	return r
}
