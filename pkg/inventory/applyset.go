package inventory

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// applySetTooling names the only tool that may change an ApplySet.
const applySetTooling = "lynqctl/v1"

// ID returns the ApplySet id of a ConfigMap (KEP-3659). The ConfigMap has it as label
// applyset.kubernetes.io/id, and the objects of the set as label
// applyset.kubernetes.io/part-of.
func ID(namespace, name string) string {
	// The text has the name, namespace, kind and group of the parent. The core group is
	// "".
	var text [512]byte
	sum := sha256.Sum256(append(append(append(append(text[:0], name...), '.'), namespace...), ".ConfigMap."...))
	id := append(text[:0], "applyset-"...)
	return string(append(base64.RawURLEncoding.AppendEncode(id, sum[:]), "-v1"...))
}

// groupKinds returns the kinds of the recorded objects for
// applyset.kubernetes.io/contains-group-kinds.
func groupKinds(entries []Entry) string {
	kinds := map[string]bool{}
	for i := range entries {
		kinds[entries[i].GroupKind()] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(kinds)), ",")
}

// additionalNamespaces returns the namespaces of the recorded objects, except the
// inventory's own.
func additionalNamespaces(entries []Entry, own string) string {
	namespaces := map[string]bool{}
	for i := range entries {
		namespaces[entries[i].Namespace] = true
	}
	delete(namespaces, own)
	delete(namespaces, "") // cluster-scoped objects
	return strings.Join(slices.Sorted(maps.Keys(namespaces)), ",")
}
