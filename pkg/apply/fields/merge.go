package fields

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// MergedLists returns a manifest for a strategic merge patch. A list in which several items
// have one key replaces the live one, because the server would merge all of them into the
// first. It keeps the live items with other keys. It doesn't change the manifest.
func MergedLists(manifest map[string]any, live *unstructured.Unstructured) map[string]any {
	manifest = runtime.DeepCopyJSON(manifest)
	mergeLists(newComparer(lynq.PatchMerge, manifest), nil, manifest, live.Object)
	return manifest
}

func mergeLists(c comparer, path []string, want, live map[string]any) {
	for name, v := range want {
		child := slices.Concat(path, []string{name})
		switch v := v.(type) {
		case map[string]any:
			have, _ := live[name].(map[string]any)
			mergeLists(c, child, v, have)
		case []any:
			have, _ := live[name].([]any)
			key := c.mergeKey(child)
			if key == "" || key == "." {
				continue
			}
			if repeats(key, v) || repeats(key, have) {
				want[name] = replaced(child, key, v, have)
				continue
			}
			for _, item := range v {
				into, is := item.(map[string]any)
				if i := findBy(key, have, item); is && i >= 0 {
					from, _ := have[i].(map[string]any)
					mergeLists(c, child, into, from)
				}
			}
		}
	}
}

// repeats reports whether several items of a list have one key.
func repeats(key string, list []any) bool {
	seen := map[string]bool{}
	for _, item := range list {
		value, has := keyOf(key, item)
		if has && seen[value] {
			return true
		}
		seen[value] = true
	}
	return false
}

// replaced returns a list that replaces the live one. Each item keeps fields of others in the
// live item with the same keys.
func replaced(path []string, key string, want, live []any) []any {
	list := []any{map[string]any{"$patch": "replace"}}
	taken := make([]bool, len(live))
	for _, item := range want {
		merged := item
		for i, l := range live {
			if !taken[i] && sameKey(key, item, l) && sameProtocol(item, l) {
				merged, taken[i] = mergedItem(path, item, l), true
				break
			}
		}
		list = append(list, merged)
	}
	for _, l := range live {
		if findBy(key, want, l) < 0 {
			list = append(list, runtime.DeepCopyJSONValue(l))
		}
	}
	return list
}

// sameProtocol reports whether two items with one key are about the same, such as two ports with one
// protocol.
func sameProtocol(a, b any) bool {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	protocol := func(m map[string]any) any {
		if p := m["protocol"]; p != nil {
			return p
		}
		return "TCP"
	}
	return protocol(x) == protocol(y) && x["whenUnsatisfiable"] == y["whenUnsatisfiable"]
}

// mergedItem returns a live item with the fields of the manifest's.
func mergedItem(path []string, want, live any) any {
	from, is := live.(map[string]any)
	into, both := want.(map[string]any)
	if !is || !both {
		return want
	}
	merged := maps.Clone(from)
	for name := range from {
		for said := range into {
			if rivals(path, said)(name) {
				delete(merged, name)
			}
		}
	}
	maps.Copy(merged, into)
	return merged
}
