package inventory

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// applySetTooling names the tool that alone may change an ApplySet.
const applySetTooling = "lynqctl/v1"

// ID is the ApplySet id of a ConfigMap: the value of label
// applyset.kubernetes.io/id on it, and of applyset.kubernetes.io/part-of on the
// objects that belong to it (KEP-3659).
func ID(namespace, name string) string {
	// Name, namespace, kind and group of the parent; the core group is "".
	sum := sha256.Sum256([]byte(name + "." + namespace + ".ConfigMap."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// groupKinds lists the kinds of the recorded objects, as
// applyset.kubernetes.io/contains-group-kinds has them.
func groupKinds(entries []Entry) string {
	kinds := map[string]bool{}
	for i := range entries {
		kinds[entries[i].GroupKind()] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(kinds)), ",")
}

// additionalNamespaces lists the namespaces of the recorded objects but the
// inventory's own.
func additionalNamespaces(entries []Entry, own string) string {
	namespaces := map[string]bool{}
	for i := range entries {
		namespaces[entries[i].Namespace] = true
	}
	delete(namespaces, own)
	delete(namespaces, "") // cluster-scoped
	return strings.Join(slices.Sorted(maps.Keys(namespaces)), ",")
}
