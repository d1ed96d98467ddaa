package fields

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// put sets a place of the manifest, and makes what it is in.
func (g *ignorer) put(p place, v any) {
	var root any = g.desired
	putAt(&root, p.steps, runtime.DeepCopyJSONValue(v))
}

func putAt(at *any, steps []any, v any) {
	if len(steps) == 0 {
		*at = v
		return
	}
	switch step := steps[0].(type) {
	case string:
		m, ok := (*at).(map[string]any)
		if !ok {
			m = map[string]any{}
			*at = m
		}
		child := m[step]
		putAt(&child, steps[1:], v)
		m[step] = child
	case int:
		list, _ := (*at).([]any)
		for len(list) <= step {
			list = append(list, gone{})
		}
		putAt(&list[step], steps[1:], v)
		*at = list
	}
}

// remove leaves a place out of the manifest.
func (g *ignorer) remove(p place) {
	if p.inDesired {
		g.mark(p)
	}
}

// mark puts gone{} at a place that the manifest has.
func (g *ignorer) mark(p place) {
	var at any = g.desired
	for _, step := range p.steps[:len(p.steps)-1] {
		switch v := at.(type) {
		case map[string]any:
			name, _ := step.(string)
			at = v[name]
		case []any:
			i, _ := step.(int)
			at = v[i]
		}
	}
	switch v := at.(type) {
	case map[string]any:
		name, _ := p.steps[len(p.steps)-1].(string)
		v[name] = gone{}
	case []any:
		i, _ := p.steps[len(p.steps)-1].(int)
		v[i] = gone{}
	}
}

// dropBare leaves out an item of a list of which only the keys remain, and
// which others have too.
func (g *ignorer) dropBare(p place) {
	item, ok := p.desired.(map[string]any)
	if !ok {
		return
	}
	for name, v := range item {
		if v != (gone{}) && !slices.Contains(p.keys, name) {
			return
		}
	}
	g.mark(p)
}

// result is the manifest without what was left out, and without maps and lists
// that became empty by that.
func (g *ignorer) result() map[string]any {
	sweep(g.desired)
	return g.desired
}

// sweep removes what was left out; true means that nothing remains.
func sweep(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		swept := false
		for name, child := range v {
			child, empty := sweep(child)
			if empty {
				delete(v, name)
				swept = true
				continue
			}
			v[name] = child
		}
		return v, swept && len(v) == 0
	case []any:
		kept := make([]any, 0, len(v))
		for _, item := range v {
			if item == (gone{}) {
				continue
			}
			// An item that became empty still is one.
			item, _ = sweep(item)
			kept = append(kept, item)
		}
		return kept, len(kept) == 0 && len(v) > 0
	case gone:
		return nil, true
	}
	return v, false
}

// align is a live value with the lists in it in the order of the manifest: the
// items that both have are at the manifest's indexes, null stands where the
// live list has no such item, and what only it has comes behind. So an index
// means the same in both.
func align(desired, live any, all *fieldpath.Set) any {
	switch live := live.(type) {
	case map[string]any:
		want, _ := desired.(map[string]any)
		out := make(map[string]any, len(live))
		for name, v := range live {
			out[name] = align(want[name], v, below(all, fieldpath.FieldNameElement(name)))
		}
		return out
	case []any:
		want, _ := desired.([]any)
		return alignList(want, live, all)
	}
	return live
}

func alignList(want, live []any, all *fieldpath.Set) []any {
	pairs := pair(want, live, elements(all))
	out := make([]any, 0, len(live))
	taken := make([]bool, len(live))
	for i := range want {
		j := pairs[i]
		if j < 0 {
			out = append(out, nil)
			continue
		}
		taken[j] = true
		out = append(out, align(want[i], live[j], itemSet(all, live[j])))
	}
	for j, item := range live {
		if !taken[j] {
			out = append(out, align(nil, item, itemSet(all, item)))
		}
	}
	return out
}

// itemSet is what a list's set has of one item.
func itemSet(all *fieldpath.Set, item any) *fieldpath.Set {
	for _, pe := range elements(all) {
		if means(pe, item) {
			return below(all, pe)
		}
	}
	return nil
}

// pair finds for each item of a list its index in the live one, -1 where it has
// none: by the keys or values that managed fields name the items by, else by
// their names, else by their place.
func pair(want, live []any, named []fieldpath.PathElement) []int {
	pairs := make([]int, len(want))
	taken := make([]bool, len(live))
	match := func(same func(want, live any) bool) {
		for i := range want {
			for j := 0; j < len(live) && pairs[i] < 0; j++ {
				if !taken[j] && same(want[i], live[j]) {
					pairs[i], taken[j] = j, true
				}
			}
		}
	}
	for i := range pairs {
		pairs[i] = -1
	}
	named = slices.DeleteFunc(slices.Clone(named), func(pe fieldpath.PathElement) bool { return pe.Key == nil && pe.Value == nil })
	switch {
	case len(named) > 0:
		// Whole keys first, so that an item with defaulted keys takes what is
		// left.
		match(func(w, l any) bool { return meanSame(named, w, l, means) })
		match(func(w, l any) bool { return meanSame(named, w, l, couldMean) })
	case allNamed(want) && allNamed(live):
		match(func(w, l any) bool { return nameOf(w) == nameOf(l) })
	default:
		for i := range min(len(want), len(live)) {
			pairs[i] = i
		}
	}
	return pairs
}

// meanSame tells whether some path element means the live item, and the other
// one as far as the rule goes.
func meanSame(named []fieldpath.PathElement, want, live any, rule func(fieldpath.PathElement, any) bool) bool {
	return slices.ContainsFunc(named, func(pe fieldpath.PathElement) bool { return means(pe, live) && rule(pe, want) })
}

func allNamed(list []any) bool {
	seen := map[string]bool{}
	for _, item := range list {
		name := nameOf(item)
		if name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return len(list) > 0
}

func nameOf(item any) string {
	m, _ := item.(map[string]any)
	name, _ := m["name"].(string)
	return name
}
