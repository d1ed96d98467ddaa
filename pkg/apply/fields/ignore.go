package fields

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ohler55/ojg/jp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Ignore returns a manifest for a server-side apply to a live object. The apply neither
// resets the fields at the paths nor takes them from others. At each location in the
// manifest or the object that matches a path:
//
//   - It leaves out a field that another manager owns, or nobody.
//   - A field that only lynq owns keeps its live value, because leaving it out would
//     reset it. Then the result is valid only for the live object's resourceVersion,
//     and the second result is true.
//   - It leaves out a field that the object lacks. It keeps the field in a list item
//     that the object also lacks, because the apply creates that item.
//
// In a map or list that is managed as a whole, lynq can't leave single fields to others, so
// the live value is used. A location in a list item means the item with the same keys,
// wherever it is in the live list. Ignore keeps all fields that identify and track an
// object. It doesn't change the manifest.
func Ignore(desired map[string]any, live *unstructured.Unstructured, paths []string) (map[string]any, bool, error) {
	g, places, err := newIgnorer(desired, live, paths)
	if err != nil {
		return nil, false, err
	}
	carried := false
	for _, p := range places {
		g.settle(p, func(p place) { carried = g.yield(p) || carried })
	}
	return g.result(), carried, nil
}

// CarryIgnored returns a manifest for the strategies merge and replace. At each location
// that matches a path, the manifest gets the live object's value, or loses a value that the
// object lacks. In a list item that only one of them has, the manifest keeps its values.
// The result is valid only for the live object's resourceVersion.
func CarryIgnored(desired map[string]any, live *unstructured.Unstructured, paths []string) (map[string]any, error) {
	g, places, err := newIgnorer(desired, live, paths)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		g.settle(p, g.carry)
	}
	return g.result(), nil
}

// DropIgnored returns a manifest without ignored fields.
func DropIgnored(desired map[string]any, live *unstructured.Unstructured, paths []string) (map[string]any, error) {
	g, places, err := newIgnorer(desired, live, paths)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		g.settle(p, g.remove)
	}
	return g.result(), nil
}

// An ignorer changes a manifest at ignored places.
type ignorer struct {
	desired map[string]any // a copy, which the ignorer changes
	live    map[string]any // with lists in the manifest's order, see align
	// own are the fields that lynq applied. others are all other managed fields, and all
	// are both.
	own, others, all *fieldpath.Set
}

// newIgnorer returns an ignorer and the ignored places.
func newIgnorer(desired map[string]any, live *unstructured.Unstructured, paths []string) (*ignorer, []place, error) {
	managed, err := Managed(live)
	if err != nil {
		return nil, nil, err
	}
	g := &ignorer{desired: FoldSecret(runtime.DeepCopyJSON(desired)), own: fieldpath.NewSet(), others: fieldpath.NewSet()}
	for i := range managed {
		if m := &managed[i]; m.applied() {
			g.own = m.fields
		} else {
			g.others = g.others.Union(m.fields)
		}
	}
	g.all = g.own.Union(g.others)
	g.live, _ = align(g.desired, live.Object, g.all).(map[string]any)
	found := map[string]jp.Expr{}
	for _, path := range paths {
		expr, err := jp.ParseString(path)
		if err != nil {
			return nil, nil, fmt.Errorf("%q is not a JSONPath: %w", path, err)
		}
		inSecret(expr, desired)
		for _, where := range []map[string]any{g.desired, g.live} {
			for _, location := range expr.Locate(where, 0) {
				found[location.String()] = location
			}
		}
	}
	return g, g.places(found), nil
}

// places returns the places of locations, sorted. It drops a location inside another one.
func (g *ignorer) places(found map[string]jp.Expr) []place {
	var places []place
	for _, text := range slices.Sorted(maps.Keys(found)) {
		location, covered := found[text], false
		for i := 1; i < len(location); i++ {
			_, in := found[location[:i].String()]
			covered = covered || in
		}
		if p, ok := g.place(location); ok && !covered {
			places = append(places, p)
		}
	}
	return places
}

// A place is one location in the manifest and in the live object.
type place struct {
	steps         []any // string for a field, int for an item
	desired, live any
	// inDesired is set if the manifest has the place, and inLive if the object has it.
	inDesired, inLive bool
	// newItem is set inside a list item that the live object lacks. oldItem is set inside
	// one that the manifest lacks.
	newItem, oldItem bool
	// whole is set inside a value that is managed as a whole. inWhole is set if the
	// manifest has that value.
	whole, inWhole bool
	// key is set if the place is one of the keys of a list item.
	key bool
	// pe is its name in managed fields, relative to own, others and all.
	pe               fieldpath.PathElement
	known            bool // whether pe is known
	own, others, all *fieldpath.Set
	// item is set for an item of a list with items that are managed separately.
	item bool
	keys []string // the keys of such an item
}

func (g *ignorer) root() place {
	return place{desired: g.desired, live: g.live, inDesired: true, inLive: true, own: g.own, others: g.others, all: g.all}
}

// place returns the place of a normalized location.
func (g *ignorer) place(location jp.Expr) (place, bool) {
	p := g.root()
	for _, fragment := range location {
		switch f := fragment.(type) {
		case jp.Root:
		case jp.Child:
			p = p.field(string(f))
		case jp.Nth:
			p = p.at(int(f))
		default:
			return place{}, false
		}
	}
	return p, len(p.steps) > 0
}

// enter begins the place of a part of this one.
func (p place) enter(step any) place {
	q := place{
		steps:   append(slices.Clip(slices.Clone(p.steps)), step),
		newItem: p.newItem || p.item && p.inDesired && !p.inLive,
		oldItem: p.oldItem || p.item && p.inLive && !p.inDesired,
		whole:   p.whole, inWhole: p.inWhole,
		own: p.own, others: p.others, all: p.all,
	}
	if len(p.steps) == 0 {
		return q
	}
	if !p.whole && p.known && p.all != nil && p.all.Members.Has(p.pe) && below(p.all, p.pe) == nil {
		q.whole, q.inWhole = true, p.inDesired
	}
	if !p.known || q.whole {
		q.own, q.others, q.all = nil, nil, nil
		return q
	}
	q.own, q.others, q.all = below(p.own, p.pe), below(p.others, p.pe), below(p.all, p.pe)
	return q
}

// field returns the place of a map's field.
func (p place) field(name string) place {
	q := p.enter(name)
	q.pe, q.known = fieldpath.FieldNameElement(name), true
	q.key = slices.Contains(p.keys, name)
	q.desired, q.inDesired = at(p.desired, q.pe)
	q.live, q.inLive = at(p.live, q.pe)
	return q
}

// at returns the place of a list's item.
func (p place) at(i int) place {
	q := p.enter(i)
	q.item = true
	q.desired, q.inDesired = itemAt(p.desired, i)
	q.live, q.inLive = itemAt(p.live, i)
	for _, pe := range elements(q.all) {
		if q.inLive && means(pe, q.live) || !q.inLive && couldMean(pe, q.desired) {
			q.pe, q.known = pe, true
			break
		}
	}
	if q.known && q.pe.Key != nil {
		for _, f := range *q.pe.Key {
			q.keys = append(q.keys, f.Name)
		}
	}
	return q
}

func itemAt(v any, i int) (any, bool) {
	list, _ := v.([]any)
	if i < 0 || i >= len(list) {
		return nil, false
	}
	// A null is a gap that align or put left.
	return list[i], list[i] != nil
}

// gone replaces values in the manifest that are left out.
type gone struct{}

// settle decides on a place. If its parts are managed separately, it decides on each part.
func (g *ignorer) settle(p place, decide func(place)) {
	switch {
	case p.protected() || p.key:
		return
	case p.oldItem || !p.inDesired && !p.inLive:
		return
	case p.item && (!p.inDesired || !p.inLive) || !p.apart():
		decide(p)
		return
	}
	for _, part := range p.parts() {
		g.settle(part, decide)
	}
	if p.item && p.others.Members.Has(p.pe) {
		g.dropBare(p)
	}
}

// apart reports whether the parts of a place are managed separately.
func (p place) apart() bool {
	// Some labels and annotations are protected, even if nobody manages any.
	if p.steps[0] == "metadata" && (len(p.steps) == 1 || len(p.steps) == 2 && (p.steps[1] == "labels" || p.steps[1] == "annotations")) {
		return true
	}
	return !p.whole && p.known && below(p.all, p.pe) != nil
}

// parts returns the places in a place.
func (p place) parts() []place {
	var parts []place
	names := map[string]bool{}
	count := 0
	for _, v := range []any{p.desired, p.live} {
		switch v := v.(type) {
		case map[string]any:
			for name := range v {
				names[name] = true
			}
		case []any:
			count = max(count, len(v))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		parts = append(parts, p.field(name))
	}
	for i := range count {
		parts = append(parts, p.at(i))
	}
	return parts
}

// protected reports whether the place identifies the object or its owner.
func (p place) protected() bool {
	switch first := p.steps[0]; {
	case first == "apiVersion" || first == "kind":
		return true
	case first != "metadata" || len(p.steps) < 2:
		return false
	}
	switch p.steps[1] {
	case "name", "namespace", "uid", "resourceVersion", "ownerReferences", "managedFields":
		return true
	case "labels", "annotations":
		if len(p.steps) > 2 {
			key, _ := p.steps[2].(string)
			return wellknown.Reserved(key)
		}
	}
	return false
}

// yield decides for server-side apply. It returns true if it uses a live value.
func (g *ignorer) yield(p place) bool {
	theirs, ours := p.known && has(p.others, p.pe), p.known && has(p.own, p.pe)
	switch {
	case !p.inLive:
		if !p.newItem {
			g.remove(p)
		}
		return false
	case p.whole:
		if p.inWhole {
			g.put(p, p.live)
		}
		return p.inWhole
	case p.item && !p.inDesired:
		// The form dropped the item. The part that lynq manages is kept.
		if ours {
			g.put(p, ownItem(p.live, p.pe, p.own, p.others))
		}
		return ours
	case theirs:
		g.remove(p)
		return false
	case !ours && p.all != nil:
		// A field without manager, such as a default, is kept when it is left out, and
		// others can still take it.
		g.remove(p)
		return false
	case p.inDesired || ours:
		g.put(p, p.live)
		return true
	}
	return false
}

// carry decides for merge and replace.
func (g *ignorer) carry(p place) {
	switch {
	case p.inLive:
		g.put(p, p.live)
	case !p.newItem:
		g.remove(p)
	}
}
