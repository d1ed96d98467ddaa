package orphan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// RebuildInput is what is known where records were lost.
type RebuildInput struct {
	// Stranded are the objects that bear a node's tracking and that no inventory
	// names; others among them are left alone.
	Stranded []Orphan
	// Inventories are all that can be read, and Hubs the records of hubs.
	Inventories []*inventory.Inventory
	Hubs        []*inventory.Hub
	// Nodes are what rows and forms render, nil where they were not asked.
	Nodes []*apply.Node
	// HubNamespaces are those of the hubs of Nodes.
	HubNamespaces map[string]string
	// Form is that of nodes of which nothing else tells; "" for none.
	Form string
}

// Rebuilt is a record that was made anew, or one that was completed.
type Rebuilt struct {
	*inventory.Inventory
	// Added are how many objects it did not name before.
	Added int
}

// Unbuilt are objects of which no record can be made, and why.
type Unbuilt struct {
	Objects []*Orphan
	Node    apply.NodeKey // zero where that is the reason
	Why     string
}

// Rebuild makes the records of stranded objects from their labels, owner
// references and annotations, and from what rows and forms say. It is a pure
// function. What an object does not say of itself is recorded so that nothing
// is lost: an object without a deletion policy is retained, and all count as
// not confirmed, so that the next apply looks at them.
func Rebuild(in *RebuildInput) (rebuilt []Rebuilt, unbuilt []Unbuilt) {
	b := newBuilder(in)
	groups := map[apply.NodeKey][]*Orphan{}
	for i := range in.Stranded {
		o := &in.Stranded[i]
		if o.Live != nil && o.Reason == ReasonStranded {
			key := b.nodeOf(o)
			groups[key] = append(groups[key], o)
		}
	}
	for key, objects := range groups {
		inv, why := b.inventory(key, objects)
		if why != "" {
			unbuilt = append(unbuilt, Unbuilt{Objects: objects, Node: key, Why: why})
			continue
		}
		for _, o := range objects {
			inv.Records = append(inv.Records, b.record(key, o))
		}
		rebuilt = append(rebuilt, Rebuilt{Inventory: inv, Added: len(objects)})
	}
	slices.SortFunc(rebuilt, func(a, b Rebuilt) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Node, b.Node))
	})
	slices.SortFunc(unbuilt, func(a, b Unbuilt) int { return strings.Compare(a.Node.String(), b.Node.String()) })
	return rebuilt, unbuilt
}

// builder is the input with its indexes.
type builder struct {
	*RebuildInput
	inventories map[apply.NodeKey]*inventory.Inventory
	nodes       map[apply.NodeKey]*apply.Node
	applySets   map[string]apply.NodeKey
	objects     map[lynq.Ref]*apply.Object
}

func newBuilder(in *RebuildInput) *builder {
	b := &builder{
		RebuildInput: in, inventories: map[apply.NodeKey]*inventory.Inventory{}, nodes: map[apply.NodeKey]*apply.Node{},
		applySets: map[string]apply.NodeKey{}, objects: map[lynq.Ref]*apply.Object{},
	}
	for _, inv := range in.Inventories {
		b.inventories[apply.NodeKey{Namespace: inv.Namespace, Name: inv.Node}] = inv
	}
	for _, n := range in.Nodes {
		b.nodes[n.NodeKey] = n
		b.applySets[inventory.ID(n.Namespace, inventory.Name(n.Name))] = n.NodeKey
		for i := range n.Objects {
			b.objects[n.Objects[i].Ref] = &n.Objects[i]
		}
	}
	return b
}

// nodeOf is the node that an object is of: that which it names, else the one
// whose ApplySet it is part of.
func (b *builder) nodeOf(o *Orphan) apply.NodeKey {
	if o.From.Node != "" {
		return apply.NodeKey{Namespace: o.From.Namespace, Name: o.From.Node}
	}
	return b.applySets[o.Live.PartOf]
}

// inventory is the record of a node as it is, or a new one; or why there can be
// none.
func (b *builder) inventory(key apply.NodeKey, objects []*Orphan) (inv *inventory.Inventory, why string) {
	if key == (apply.NodeKey{}) {
		return nil, "they do not say which node they are of (with -f, rows and forms may tell)"
	}
	hub := objects[0].From.Hub
	for _, o := range objects {
		if o.From.Hub != hub {
			return nil, fmt.Sprintf("they are of several hubs, %q and %q", hub, o.From.Hub)
		}
	}
	if known := b.inventories[key]; known != nil {
		if known.Hub != hub {
			return nil, fmt.Sprintf("they are of hub %q, and the node's record is of hub %q", hub, known.Hub)
		}
		return known.Clone(), ""
	}
	inv = &inventory.Inventory{Node: key.Name, Namespace: key.Namespace, Hub: hub, Activate: "true", Finalizer: true}
	if n := b.nodes[key]; n != nil {
		inv.Form, inv.RowUID, inv.TemplateGeneration, inv.Extra, inv.HubNamespace = n.Form, n.UID, n.TemplateGeneration, n.Extra, b.HubNamespaces[n.Hub]
		return inv, ""
	}
	if inv.Form, inv.RowUID = b.identity(hub, key.Name); inv.Form == "" {
		return nil, "nothing tells their form and row (say --form; with -f, rows and forms may tell)"
	}
	if inv.HubNamespace = b.hubNamespace(hub); inv.HubNamespace == "" {
		return nil, fmt.Sprintf("several hubs are named %q (with -f, rows and forms may tell)", hub)
	}
	return inv, ""
}

// identity reads form and row from the name of a node, UID-FORM: the form that
// was said, else the one form of the hub that the name ends with.
func (b *builder) identity(hub, node string) (form, uid string) {
	forms := []string{b.Form}
	if b.Form == "" {
		forms = forms[:0]
		for _, inv := range b.Inventories {
			if inv.Hub == hub && !slices.Contains(forms, inv.Form) {
				forms = append(forms, inv.Form)
			}
		}
	}
	for _, f := range forms {
		prefix, ok := strings.CutSuffix(node, "-"+f)
		switch {
		case !ok || prefix == "":
		case form != "":
			return "", ""
		default:
			form, uid = f, prefix
		}
	}
	return form, uid
}

// hubNamespace is that of the one hub of that name.
func (b *builder) hubNamespace(hub string) string {
	namespaces := map[string]bool{}
	for _, h := range b.Hubs {
		if h.Name == hub {
			namespaces[h.Namespace] = true
		}
	}
	for _, inv := range b.Inventories {
		if inv.Hub == hub && inv.HubNamespace != "" {
			namespaces[inv.HubNamespace] = true
		}
	}
	if len(namespaces) != 1 {
		return ""
	}
	for ns := range namespaces {
		return ns
	}
	return ""
}

// record is what can be recorded of an object.
func (b *builder) record(key apply.NodeKey, o *Orphan) inventory.Record {
	p := lynq.DefaultPolicy()
	r := inventory.Record{
		Ref: o.Ref, ID: o.From.ID, APIVersion: o.Resource.APIVersion(), UID: string(o.UID),
		Creation: cmp.Or(o.Creation, p.Creation), Deletion: cmp.Or(o.Deletion, lynq.DeleteRetain), Conflict: p.Conflict, Patch: p.Patch,
	}
	if wanted := b.objects[o.Ref]; wanted != nil && b.nodes[key] != nil {
		r.ID, r.APIVersion, r.Order = wanted.ID, wanted.APIVersion, wanted.Order
		r.Creation, r.Conflict, r.Patch = wanted.Policy.Creation, wanted.Policy.Conflict, wanted.Policy.Patch
	}
	return r
}
