package lynq

import (
	"cmp"
	"slices"
	"strings"
)

// HubKey is what a hub is, whatever its content: hubs of one name in different
// namespaces know nothing of each other.
type HubKey struct{ Namespace, Name string }

// String is namespace/name.
func (k HubKey) String() string { return qualified(k.Namespace, k.Name) }

// Compare orders hubs by namespace and name.
func (k HubKey) Compare(other HubKey) int {
	return cmp.Or(strings.Compare(k.Namespace, other.Namespace), strings.Compare(k.Name, other.Name))
}

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

// Of is what one is called, "" where its name is not known.
func (s ShortNames) Of(namespace, name string) string {
	if len(s[name]) > 1 && name != "" {
		return qualified(namespace, name)
	}
	return name
}
