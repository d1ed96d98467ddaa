package fields

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// WouldChange reports whether a write by the strategies merge or replace would change the
// live object. It may return true although nothing would change, but never the other way
// round.
//
// Under merge, the object must have everything in the manifest: maps key by key, and lists
// item by item. Other content of the object doesn't count, because a merge wouldn't remove
// it.
//
// Under replace the same holds, and content that the write would remove counts too. That is
// any label, annotation (except those of Kubernetes itself), and key of the data of a
// ConfigMap or Secret. It is also every other field with another manager than lynq. The
// server's defaults don't count. They have no manager, or the manager whose write created
// them, which is lynq if it created the object. (lynqctl never replaces an adopted object,
// see Object.Applied of package plan.)
func WouldChange(strategy lynq.PatchStrategy, desired map[string]any, live *unstructured.Unstructured) bool {
	want, err := sent(strategy, desired, live)
	if err != nil || !newComparer(strategy, want).within(nil, want, live.Object) {
		return true
	}
	return strategy == lynq.PatchReplace && removesKeys(want, live.Object) || len(Foreign(live, desired, strategy)) > 0
}

// sent returns the object that a strategy sends for a manifest.
func sent(strategy lynq.PatchStrategy, desired map[string]any, live *unstructured.Unstructured) (map[string]any, error) {
	if strategy == lynq.PatchReplace {
		return Replacement(desired, live)
	}
	return FoldSecret(runtime.DeepCopyJSON(desired)), nil
}

// removesKeys reports whether a replacement would remove labels, annotations or data.
func removesKeys(want, live map[string]any) bool {
	if more(live, want, "metadata", "labels") || more(live, want, "metadata", "annotations") {
		return true
	}
	return holdsData(want) && (more(live, want, "data") || more(live, want, "binaryData"))
}

// holdsData reports whether a kind consists of its data.
func holdsData(m map[string]any) bool {
	return isSecret(m) || m["kind"] == "ConfigMap" && m["apiVersion"] == "v1"
}

// more reports whether a map has keys that another lacks.
func more(a, b map[string]any, path ...string) bool {
	in, _, _ := unstructured.NestedFieldNoCopy(a, path...)
	of, _, _ := unstructured.NestedFieldNoCopy(b, path...)
	have, _ := in.(map[string]any)
	want, _ := of.(map[string]any)
	for key := range have {
		if _, ok := want[key]; !ok {
			return true
		}
	}
	return false
}

// A comparer checks whether a live object has everything in a manifest.
type comparer struct {
	strategy lynq.PatchStrategy
	builtIn  bool // a kind of Kubernetes itself, not a custom resource
}

func newComparer(strategy lynq.PatchStrategy, manifest map[string]any) comparer {
	apiVersion, _ := manifest["apiVersion"].(string)
	group, _ := lynq.SplitAPIVersion(apiVersion)
	return comparer{strategy: strategy, builtIn: kinds.BuiltIn(group)}
}

// within reports whether live has everything in want. The path has only fields, without
// items of lists.
func (c comparer) within(path []string, want, live any) bool {
	switch want := want.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok {
			return false
		}
		for key, v := range want {
			child := slices.Concat(path, []string{key})
			if c.serverOwned(child) {
				continue
			}
			if l, there := have[key]; there {
				if !c.within(child, v, l) {
					return false
				}
			} else if !c.like(child, v) {
				return false
			}
		}
		return true
	case []any:
		have, ok := live.([]any)
		if !ok {
			return live == nil && len(want) == 0
		}
		return c.listWithin(path, want, have)
	}
	return c.equal(path, want, live)
}

// serverOwned reports whether the server ignores a manifest's value at this path.
func (c comparer) serverOwned(path []string) bool {
	switch {
	case len(path) == 1 && path[0] == "status":
		return c.builtIn
	case len(path) == 2 && path[0] == "metadata":
		switch path[1] {
		case "creationTimestamp", "managedFields", "generation", "selfLink", "uid", "resourceVersion", "deletionTimestamp":
			return true
		}
	}
	return false
}

// listWithin compares lists. A strategic merge merges lists with keyed items by key, and
// replaces all others.
func (c comparer) listWithin(path []string, want, live []any) bool {
	key := c.mergeKey(path)
	if key == "" {
		if len(want) != len(live) {
			return false
		}
		for i := range want {
			if !c.within(path, want[i], live[i]) {
				return false
			}
		}
		return true
	}
	for _, item := range want {
		// Several items may have one key: a port of a Service, for UDP and for TCP. Of variables
		// with one name, the last one counts.
		same := func(l any) bool { return sameKey(key, item, l) }
		wanted, have := slices.DeleteFunc(slices.Clone(want), not(same)), slices.DeleteFunc(slices.Clone(live), not(same))
		if len(wanted) == 0 || !slices.EqualFunc(wanted, have, func(w, l any) bool { return c.within(path, w, l) }) {
			return false
		}
	}
	return true
}

func not(f func(any) bool) func(any) bool { return func(v any) bool { return !f(v) } }

// mergeKey returns the field that identifies a list's items in a strategic merge patch. It
// returns "." for lists of plain values, and "" for lists that are replaced.
func (c comparer) mergeKey(path []string) string {
	if c.strategy != lynq.PatchMerge || !c.builtIn || len(path) == 0 {
		return ""
	}
	parent, name := "", path[len(path)-1]
	if len(path) > 1 {
		parent = path[len(path)-2]
	}
	switch {
	case len(path) == 1:
		return keyed(name, "name", "secrets", "webhooks")
	case len(path) == 2 && parent == "metadata" && name == "finalizers":
		return "."
	case len(path) == 2 && parent == "metadata" && name == "ownerReferences":
		return "uid"
	case parent == "webhooks":
		return keyed(name, "name", "matchConditions")
	case parent == "scheduling":
		return keyed(name, "name", "resourceClaims")
	case parent == "spec":
		return specKey(path, name)
	case parent == "containers" || parent == "initContainers" || parent == "ephemeralContainers":
		return cmp.Or(keyed(name, "name", "env"), keyed(name, "mountPath", "volumeMounts"), keyed(name, "devicePath", "volumeDevices"), keyed(name, "containerPort", "ports"))
	}
	return ""
}

// specKey is mergeKey for lists of a spec.
func specKey(path []string, name string) string {
	switch name {
	case "containers", "initContainers", "ephemeralContainers", "volumes", "imagePullSecrets", "schedulingGates", "resourceClaims", "evictionResponders",
		"matchConditions", "drivers":
		return "name"
	case "podCIDRs":
		return "."
	case "hostAliases":
		return "ip"
	case "topologySpreadConstraints":
		return "topologyKey"
	case "ports":
		if len(path) == 2 {
			return "port" // the ports of a Service
		}
	}
	return ""
}

// keyed returns a key if a field is one of some names.
func keyed(name, key string, names ...string) string {
	if slices.Contains(names, name) {
		return key
	}
	return ""
}

// findBy returns the index of the item with the same key, or -1.
func findBy(key string, live []any, item any) int {
	return slices.IndexFunc(live, func(l any) bool { return sameKey(key, item, l) })
}

func sameKey(key string, a, b any) bool {
	x, ok := keyOf(key, a)
	y, both := keyOf(key, b)
	return ok && both && x == y
}

func keyOf(key string, item any) (string, bool) {
	if key == "." {
		text, ok := item.(string)
		return text, ok
	}
	m, _ := item.(map[string]any)
	v, ok := m[key]
	return fmt.Sprint(v), ok
}

// like reports whether the server treats a value like an absent one. Custom resources keep
// every value.
func (c comparer) like(path []string, v any) bool {
	if v == nil {
		return true
	}
	if !c.builtIn {
		return false
	}
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0 && plainMap(path)
	case bool:
		return !v && plainBool(path)
	case string:
		// This is the value of an environment variable.
		return v == "" && len(path) > 1 && path[len(path)-1] == "value" && path[len(path)-2] == "env"
	}
	return false
}

// plainMap reports whether a field is a map that means nothing when it is empty. An empty
// struct often has a meaning.
func plainMap(path []string) bool {
	switch path[len(path)-1] {
	case "labels", "annotations", "matchLabels", "nodeSelector", "data", "binaryData", "limits", "requests":
		return true
	}
	return false
}

// plainBool reports whether the server drops the field when it is false.
func plainBool(path []string) bool {
	switch path[len(path)-1] {
	case "hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "paused", "publishNotReadyAddresses":
		return true
	}
	return false
}

// equal compares plain values. It compares numbers and quantities by their amount.
func (c comparer) equal(path []string, want, live any) bool {
	if want == nil || live == nil {
		return want == live
	}
	if same, numbers := sameNumber(want, live); numbers {
		return same
	}
	if c.builtIn && quantityAt(path) {
		a, errA := resource.ParseQuantity(fmt.Sprint(want))
		b, errB := resource.ParseQuantity(fmt.Sprint(live))
		return errA == nil && errB == nil && a.Cmp(b) == 0
	}
	switch live.(type) {
	case string, bool, int64, float64:
		return want == live
	}
	return false
}

// sameNumber compares two numbers. numbers is false if one of them isn't a number.
func sameNumber(a, b any) (same, numbers bool) {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return a == b, true
		case float64:
			return float64(a) == b, true
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return a == float64(b), true
		case float64:
			return a == b, true
		}
	}
	return false, false
}

// quantityAt reports whether the server reads the text as a quantity, and may store it in
// another format.
func quantityAt(path []string) bool {
	if len(path) < 2 || path[0] == "metadata" || path[0] == "data" {
		return false
	}
	switch path[len(path)-1] {
	case "sizeLimit", "averageValue", "divisor":
		return true
	case "value":
		return path[len(path)-2] == "target"
	}
	switch path[len(path)-2] {
	case "limits", "requests", "hard", "capacity", "overhead", "podFixed", "max", "min", "default", "defaultRequest", "maxLimitRequestRatio":
		return true
	}
	return false
}

// SameContent reports whether two states of an object differ only in managedFields and
// version, which the server changes with every write.
func SameContent(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(withoutTraces(a), withoutTraces(b))
}

// SameButMetadata reports whether two states of an object differ only in metadata and
// status.
func SameButMetadata(a, b *unstructured.Unstructured) bool {
	content := func(o *unstructured.Unstructured) map[string]any {
		content := maps.Clone(o.Object)
		delete(content, "metadata")
		delete(content, "status")
		return content
	}
	return reflect.DeepEqual(content(a), content(b))
}

func withoutTraces(o *unstructured.Unstructured) map[string]any {
	content := maps.Clone(o.Object)
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		delete(metadata, "resourceVersion")
		content["metadata"] = metadata
	}
	return content
}
