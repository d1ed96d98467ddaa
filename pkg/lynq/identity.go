package lynq

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// HubKey identifies a hub. Hubs of one name in different namespaces are different hubs.
type HubKey struct{ Namespace, Name string }

// String returns namespace/name.
func (k HubKey) String() string { return qualified(k.Namespace, k.Name) }

// Compare orders hubs by namespace and name.
func (k HubKey) Compare(other HubKey) int {
	return cmp.Or(strings.Compare(k.Namespace, other.Namespace), strings.Compare(k.Name, other.Name))
}

// FormKey identifies a form. A form without a namespace in its file has that of its hub.
type FormKey struct{ Namespace, Name string }

// String returns namespace/name.
func (k FormKey) String() string { return qualified(k.Namespace, k.Name) }

// NodeKey names a node by its inventory, which is the ConfigMap "lynqnode-" + Name in that
// namespace.
type NodeKey struct{ Namespace, Name string }

// String returns namespace/name.
func (k NodeKey) String() string { return k.Namespace + "/" + k.Name }

// NodeLabels returns the labels of an object that a node doesn't own by reference. A hub
// without a namespace, or with the node's, has no label for it.
func NodeLabels(hub HubKey, node NodeKey) map[string]string {
	labels := map[string]string{wellknown.LabelNode: node.Name, wellknown.LabelNodeNamespace: node.Namespace}
	if hub.Namespace != "" && hub.Namespace != node.Namespace {
		labels[wellknown.LabelHubNamespace] = hub.Namespace
	}
	return labels
}

// NodeLabelKeys returns the keys of the labels that NodeLabels can return.
func NodeLabelKeys() []string {
	return []string{wellknown.LabelNode, wellknown.LabelNodeNamespace, wellknown.LabelHubNamespace}
}

// NodeID identifies a node: by its row and form, and by the name and namespace of its
// inventory. What an inventory doesn't say is "".
type NodeID struct {
	Hub             HubKey
	Form            FormKey
	UID             string // of the row, as in the source
	Namespace, Name string
}

// Key returns the name and namespace of the node's inventory.
func (id NodeID) Key() NodeKey { return NodeKey{Namespace: id.Namespace, Name: id.Name} }

// Full returns the node with the namespaces that an inventory may lack. The hub is then in the
// namespace of the node, and the form in that of the hub.
func (id NodeID) Full() NodeID {
	id.Hub.Namespace = cmp.Or(id.Hub.Namespace, id.Namespace)
	if id.Form.Name != "" {
		id.Form.Namespace = cmp.Or(id.Form.Namespace, id.Hub.Namespace)
	}
	return id
}

// String returns namespace/name.
func (id NodeID) String() string { return id.Key().String() }

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// Names choose hubs or forms: by NAME, in any namespace, or by NAMESPACE/NAME. An empty list
// chooses all.
type Names []string

// Choose reports whether the list chooses this namespace and name.
func (n Names) Choose(namespace, name string) bool {
	return len(n) == 0 || slices.Contains(n, name) || namespace != "" && slices.Contains(n, qualified(namespace, name))
}

// ShortNames shorten the names of hubs or forms in a list: to NAME, or to NAMESPACE/NAME if
// several have the name. It maps each name to its namespaces.
type ShortNames map[string]map[string]bool

// See adds a hub or form of the list.
func (s ShortNames) See(namespace, name string) {
	if s[name] == nil {
		s[name] = map[string]bool{}
	}
	s[name][namespace] = true
}

// Of returns the short name. It returns "" for a name that See didn't get.
func (s ShortNames) Of(namespace, name string) string {
	if len(s[name]) > 1 && name != "" {
		return qualified(namespace, name)
	}
	return name
}
