package lynq

// HubKey is what a hub is, whatever its content: hubs of one name in different
// namespaces know nothing of each other.
type HubKey struct{ Namespace, Name string }

// String is namespace/name.
func (k HubKey) String() string { return qualified(k.Namespace, k.Name) }

// FormKey is what a form is. A form whose file has no namespace has that of its
// hub.
type FormKey struct{ Namespace, Name string }

// String is namespace/name.
func (k FormKey) String() string { return qualified(k.Namespace, k.Name) }

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
