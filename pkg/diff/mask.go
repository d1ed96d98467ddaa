package diff

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// These texts replace hidden values. They show whether a value changes.
const (
	masked       = redact.Hidden
	maskedBefore = redact.Hidden + " (before)"
	maskedAfter  = redact.Hidden + " (after)"
)

// lastApplied holds a whole manifest, with the values of a Secret.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Secrets are the values of an object that nothing may show, beside those of a Secret.
type Secrets struct {
	// Fields are those that secret columns feed. In a path, "[]" means any entry of a list. An
	// empty path means that a chart may have put the values anywhere.
	Fields [][]string
	// Filter hides the secret values of the run, wherever the object has them.
	Filter *redact.Filter
	// Removed is set if nobody knows whether a secret column fed the removed fields.
	Removed bool
	// Changed is set if nobody knows that about the earlier values of changed fields.
	Changed bool
}

// hide hides the values of a Secret and of secret columns on both sides. It changes the objects, and
// either may be nil.
func (s *Secrets) hide(live, next map[string]any) {
	secret := isSecret(live) || isSecret(next)
	if secret {
		for _, field := range []string{"data", "stringData"} {
			maskMaps(live, next, field)
		}
	}
	for _, path := range s.Fields {
		if len(path) > 0 {
			hideField(live, next, path)
		}
	}
	if secret || s.Removed || len(s.Fields) > 0 || !s.Filter.Empty() {
		maskValue(annotations(live), annotations(next), lastApplied)
	}
	anywhere := slices.ContainsFunc(s.Fields, func(path []string) bool { return len(path) == 0 })
	if s.Removed || anywhere {
		hideRemoved(live, next, nil)
	}
	if s.Changed || anywhere {
		hideEarlier(live, next, nil)
	}
	if !s.Filter.Empty() {
		s.texts(live)
		s.texts(next)
	}
}

// hideAt hides the field at a path of two values, and returns the replacements for both values.
func hideAt(live, next any, path []string) (l, n any) {
	switch {
	case len(path) == 0:
		return hidden(live, next)
	case path[0] == "[]":
		a, listed := list(live)
		b, also := list(next)
		if listed && also {
			hideItems(a, b, path[1:])
			return live, next
		}
	default:
		a, mapped := mapping(live)
		b, also := mapping(next)
		if mapped && also {
			hideField(a, b, path)
			return live, next
		}
	}
	return hidden(live, next)
}

// hideField hides the field at a path of two mappings, of which either may be nil.
func hideField(live, next map[string]any, path []string) {
	key := path[0]
	before, was := live[key]
	after, is := next[key]
	before, after = hideAt(before, after, path[1:])
	if was {
		live[key] = before
	}
	if is {
		next[key] = after
	}
}

// hideItems hides the field at a path of each item of two lists. It compares items with the same
// key, or else those at the same place.
func hideItems(live, next []any, path []string) {
	pairs := paired(live, next)
	for i, j := range pairs {
		if j < 0 {
			live[i], _ = hideAt(live[i], nil, path)
		} else {
			live[i], next[j] = hideAt(live[i], next[j], path)
		}
	}
	for j := range next {
		if !slices.Contains(pairs, j) {
			_, next[j] = hideAt(nil, next[j], path)
		}
	}
}

// paired returns, for each item of a list, the place of the same item in another one, or -1.
func paired(live, next []any) []int {
	pairs := make([]int, len(live))
	key := keyOf(live, next)
	for i := range live {
		pairs[i] = -1
		if key != "" {
			pairs[i] = slices.IndexFunc(next, func(item any) bool { return same(valueOf(key, item), valueOf(key, live[i])) })
		} else if i < len(next) {
			pairs[i] = i
		}
	}
	return pairs
}

// list returns a value if it is a list, or nil, and mapping does the same for mappings.
func list(v any) ([]any, bool) {
	items, ok := v.([]any)
	return items, ok || v == nil
}

func mapping(v any) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	return m, ok || v == nil
}

// hidden returns the replacements for two values.
func hidden(live, next any) (l, n any) {
	differ := live != nil && next != nil && !same(live, next)
	if live != nil {
		l = word(differ, maskedBefore)
	}
	if next != nil {
		n = word(differ, maskedAfter)
	}
	return l, n
}

// hideRemoved hides the values that one object has and the other doesn't, except for its kind and
// its name.
func hideRemoved(live, next map[string]any, path []string) {
	for key, v := range live {
		below := append(slices.Clip(path), key)
		other, kept := next[key]
		switch m, ok := v.(map[string]any); {
		case ok:
			o, _ := other.(map[string]any)
			hideRemoved(m, o, below)
		case !kept && !identifies(below):
			live[key] = masked
		case kept:
			a, ofLists := v.([]any)
			b, both := other.([]any)
			if ofLists && both {
				hideRemovedItems(a, b)
			}
		}
	}
}

// hideRemovedItems hides the items that one list has and the other doesn't.
func hideRemovedItems(live, next []any) {
	for i, j := range paired(live, next) {
		if j < 0 {
			live[i] = masked
			continue
		}
		a, mapped := live[i].(map[string]any)
		b, also := next[j].(map[string]any)
		if mapped && also {
			hideRemoved(a, b, []string{"[]"})
		}
	}
}

// hideEarlier hides the texts and numbers of one object that are others in the other object.
func hideEarlier(live, next any, path []string) any {
	switch v := live.(type) {
	case string, int64, float64:
		if next != nil && v != next && !identifies(path) {
			return maskedBefore
		}
	case map[string]any:
		other, _ := next.(map[string]any)
		for key := range v {
			v[key] = hideEarlier(v[key], other[key], append(slices.Clip(path), key))
		}
	case []any:
		other, _ := next.([]any)
		for i, j := range paired(v, other) {
			if j >= 0 {
				v[i] = hideEarlier(v[i], other[j], []string{"[]"})
			}
		}
	}
	return live
}

// identifies reports whether a field identifies the object.
func identifies(path []string) bool {
	switch len(path) {
	case 1:
		return path[0] == "apiVersion" || path[0] == "kind"
	case 2:
		return path[0] == "metadata" && (path[1] == "name" || path[1] == "namespace")
	}
	return false
}

// texts hides values in all texts of a value, and returns its replacement.
func (s *Secrets) texts(v any) any {
	switch v := v.(type) {
	case string:
		return s.Filter.Hide(v)
	case map[string]any:
		for key, field := range v {
			v[key] = s.texts(field)
		}
	case []any:
		for i := range v {
			v[i] = s.texts(v[i])
		}
	}
	return v
}

func isSecret(m map[string]any) bool { return m["kind"] == "Secret" && m["apiVersion"] == "v1" }

func annotations(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	m, _ := metadata["annotations"].(map[string]any)
	return m
}

func maskMaps(live, next map[string]any, field string) {
	l, n := asMap(live, field), asMap(next, field)
	for key := range l {
		maskValue(l, n, key)
	}
	for key := range n {
		if _, both := l[key]; !both {
			maskValue(l, n, key)
		}
	}
}

// asMap returns a field of an object that is a map. It hides any other value as a whole.
func asMap(object map[string]any, field string) map[string]any {
	v, there := object[field]
	if !there || v == nil {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		object[field] = masked
	}
	return m
}

// maskValue hides one value on both sides.
func maskValue(live, next map[string]any, key string) {
	l, before := live[key]
	n, after := next[key]
	differ := before && after && !same(l, n)
	if before {
		live[key] = word(differ, maskedBefore)
	}
	if after {
		next[key] = word(differ, maskedAfter)
	}
}

func word(differ bool, changed string) string {
	if differ {
		return changed
	}
	return masked
}
