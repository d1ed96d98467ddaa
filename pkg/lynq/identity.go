package lynq

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// HubKey identifies a hub, whatever its content: hubs of one name in different
// namespaces know nothing of each other.
type HubKey struct{ Namespace, Name string }

// String is namespace/name.
func (k HubKey) String() string { return qualified(k.Namespace, k.Name) }

// Compare orders hubs by namespace and name.
func (k HubKey) Compare(other HubKey) int {
	return cmp.Or(strings.Compare(k.Namespace, other.Namespace), strings.Compare(k.Name, other.Name))
}

// FormKey identifies a form. A form whose file has no namespace has that of its
// hub.
type FormKey struct{ Namespace, Name string }

// String is namespace/name.
func (k FormKey) String() string { return qualified(k.Namespace, k.Name) }

// NodeKey names a node where only its record's name is known: the record is the
// ConfigMap "lynqnode-" + Name in that namespace.
type NodeKey struct{ Namespace, Name string }

// String is namespace/name.
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

// NodeID is which node it is: the row and the form that make it, and the name and
// namespace of its record. Where a record does not say something, that is "".
type NodeID struct {
	Hub             HubKey
	Form            FormKey
	UID             string // the row's, as the source has it
	Namespace, Name string
}

// Key is the name and namespace of the node's record.
func (id NodeID) Key() NodeKey { return NodeKey{Namespace: id.Namespace, Name: id.Name} }

// Full is the node with the namespaces that a record may leave out: the hub is then in the
// namespace of the node, and the form in that of the hub.
func (id NodeID) Full() NodeID {
	id.Hub.Namespace = cmp.Or(id.Hub.Namespace, id.Namespace)
	if id.Form.Name != "" {
		id.Form.Namespace = cmp.Or(id.Form.Namespace, id.Hub.Namespace)
	}
	return id
}

// String is namespace/name.
func (id NodeID) String() string { return id.Key().String() }

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// Names choose hubs or forms as people call them: NAME, which is good for each of
// that name in whatever namespace, or NAMESPACE/NAME. None choose all.
type Names []string

// Choose tells whether what has this namespace and name is chosen.
func (n Names) Choose(namespace, name string) bool {
	return len(n) == 0 || slices.Contains(n, name) || namespace != "" && slices.Contains(n, qualified(namespace, name))
}

// ShortNames tell how hubs or forms are called among others: NAME, or NAMESPACE/NAME
// where another one has that name too. It holds the namespaces of each name.
type ShortNames map[string]map[string]bool

// See takes note of one that is shown.
func (s ShortNames) See(namespace, name string) {
	if s[name] == nil {
		s[name] = map[string]bool{}
	}
	s[name][namespace] = true
}

// Of gives the name of one, "" where its name is not known.
func (s ShortNames) Of(namespace, name string) string {
	if len(s[name]) > 1 && name != "" {
		return qualified(namespace, name)
	}
	return name
}
