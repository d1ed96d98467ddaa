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

// Ignore makes of a manifest what server-side apply may send to an object
// that is there, so that the fields at the paths are neither reset nor kept from
// others. At each location that a path matches in the manifest or in the object:
//
//   - what another manager owns is left out, and what no manager owns;
//   - what lynq alone owns keeps its live value, since leaving it out would reset
//     it. The result then holds for the live object's resourceVersion
//     only, which the second value tells;
//   - what the object does not have is left out, unless it is in an item of a
//     list that the object does not have either: that is only just created.
//
// In a map or list that is owned as a whole, nothing can be left to others: the
// live value is carried. A location of a list item means the item with the same
// keys, wherever it is in the live list. What identifies and tracks an object
// is never ignored. The manifest itself is not changed.
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

// CarryIgnored makes of a manifest what the strategies merge and replace may
// send: at each location that a path matches, the manifest gets what the live
// object has, or loses what it does not have. What is in an item of a list that
// only one of the two has is left as the manifest has it. What is sent holds for the
// live object's resourceVersion only.
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

// DropIgnored is a manifest without what is ignored.
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

// An ignorer changes a manifest at places that are to be ignored.
type ignorer struct {
	desired map[string]any // a copy, which is changed
	live    map[string]any // with its lists in the manifest's order, see align
	// own is what lynq applied, others what all else manage, all both.
	own, others, all *fieldpath.Set
}

// newIgnorer prepares, and finds the places that are to be ignored.
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

// places follows locations, in their order. One that is in another is covered by
// that.
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
	steps         []any // string: a field; int: an item
	desired, live any
	// inDesired, inLive: it is there.
	inDesired, inLive bool
	// newItem: it is in an item of a list that the live object does not have.
	// oldItem: it is in one that the manifest does not have.
	newItem, oldItem bool
	// whole: it is in something that is owned as a whole. inWhole: that is in
	// the manifest.
	whole, inWhole bool
	// key: it is one of the keys of an item of a list.
	key bool
	// pe is how managed fields name it, within own, others and all.
	pe               fieldpath.PathElement
	known            bool // pe is known
	own, others, all *fieldpath.Set
	// item: it is an item of a list whose items are managed apart.
	item bool
	keys []string // of the item that it is
}

func (g *ignorer) root() place {
	return place{desired: g.desired, live: g.live, inDesired: true, inLive: true, own: g.own, others: g.others, all: g.all}
}

// place follows a normalized location.
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

// field is the place of a field of a map.
func (p place) field(name string) place {
	q := p.enter(name)
	q.pe, q.known = fieldpath.FieldNameElement(name), true
	q.key = slices.Contains(p.keys, name)
	q.desired, q.inDesired = at(p.desired, q.pe)
	q.live, q.inLive = at(p.live, q.pe)
	return q
}

// at is the place of an item of a list.
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
	// A null is a place that align or put left open.
	return list[i], list[i] != nil
}

// gone stands in the manifest for what was left out.
type gone struct{}

// settle decides on a place, or on the parts of one whose parts are managed
// apart.
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

// apart tells whether the parts of a place are managed apart.
func (p place) apart() bool {
	// Some labels and annotations are protected, also where no manager has any.
	if p.steps[0] == "metadata" && (len(p.steps) == 1 || len(p.steps) == 2 && (p.steps[1] == "labels" || p.steps[1] == "annotations")) {
		return true
	}
	return !p.whole && p.known && below(p.all, p.pe) != nil
}

// parts are the places in a place.
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

// protected: it says which object this is, or whose.
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

// yield decides for server-side apply; true means that a live value is carried.
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
		// An item that the form dropped: what is ours of it stays as it is.
		if ours {
			g.put(p, ownItem(p.live, p.pe, p.own, p.others))
		}
		return ours
	case theirs:
		g.remove(p)
		return false
	case !ours && p.all != nil:
		// It has no manager, as a default: left out it stays so, and free for others.
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
