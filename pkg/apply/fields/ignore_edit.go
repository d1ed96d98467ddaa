package fields

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// put sets a place of the manifest, and creates the maps and lists around it.
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

// mark sets a place of the manifest to gone{}.
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

// dropBare leaves out a list item with only its keys, if others manage it too.
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

// result returns the manifest without the values that are left out, and without maps and
// lists that this emptied.
func (g *ignorer) result() map[string]any {
	sweep(g.desired)
	return g.desired
}

// sweep removes values that are left out. It returns true if nothing remains.
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
			// An emptied item is still an item.
			item, _ = sweep(item)
			kept = append(kept, item)
		}
		return kept, len(kept) == 0 && len(v) > 0
	case gone:
		return nil, true
	}
	return v, false
}

// align returns a live value with its lists in the order of the manifest. Items that both
// have get the manifest's index. null replaces items that the live list lacks, and other
// live items come last. So an index means the same in both.
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

// itemSet returns the part of a list's set for one item.
func itemSet(all *fieldpath.Set, item any) *fieldpath.Set {
	for _, pe := range elements(all) {
		if means(pe, item) {
			return below(all, pe)
		}
	}
	return nil
}

// pair returns for each list item its index in the live list, or -1. It compares the keys
// or values that managed fields use, or else names, or else positions.
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
		// Compare complete keys first, so that items with default keys take the rest.
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

// meanSame reports whether a path element means both the live item and, by the rule, the
// other one.
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
