package render

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
)

// partSize is the size of a part's digest in Parts.
const partSize = 3

// Parts returns a set of digests of the form's templates: of each resource, and of each
// field in it, with the columns that it reads. SameAt finds out with it which fields of a
// form have changed.
func (p *Program) Parts() string {
	var all []string
	for i := range p.resources {
		r := &p.resources[i]
		all = append(all, templatePart(r.ID, r.template))
		p.eachPart(r.ID, r.root, nil, func(part string) { all = append(all, part) })
	}
	for i := range p.charts {
		all = append(all, templatePart(p.charts[i].ID, p.charts[i].digest))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "")
}

// SameAt reports whether a resource's template has the same at a path as when Parts returned
// these parts. An item of a list is "[0]" in the path. For a field that the template no longer
// has, what had the field counts.
func (p *Program) SameAt(parts, id string, path []string) bool {
	i := slices.IndexFunc(p.resources, func(r resource) bool { return r.ID == id })
	if i < 0 {
		return p.sameChart(parts, id)
	}
	if r := &p.resources[i]; hasPart(parts, templatePart(r.ID, r.template)) {
		return true
	}
	n := p.resources[i].root
	for k, key := range path {
		next := n.step(key)
		if next == nil {
			return hasPart(parts, p.part(id, n, path[:k]))
		}
		n = next
	}
	same := true
	p.eachPart(id, n, path, func(part string) { same = same && hasPart(parts, part) })
	return same
}

// MadeParts reports whether a resource's template is the one of these parts, with all of its
// fields.
func (p *Program) MadeParts(parts, id string) bool {
	i := slices.IndexFunc(p.resources, func(r resource) bool { return r.ID == id })
	if i < 0 {
		return p.sameChart(parts, id)
	}
	if r := &p.resources[i]; !hasPart(parts, templatePart(r.ID, r.template)) {
		return false
	}
	same := true
	p.eachPart(id, p.resources[i].root, nil, func(part string) { same = same && hasPart(parts, part) })
	return same
}

// step returns the node of a key or of an item, or nil.
func (n *node) step(key string) *node {
	for i, item := range n.items {
		if item != nil && key == itemKey(i) {
			return item
		}
	}
	return n.child(key)
}

func itemKey(i int) string { return "[" + strconv.Itoa(i) + "]" }

// eachPart calls do for a node and all nodes in it.
func (p *Program) eachPart(id string, n *node, path []string, do func(string)) {
	do(p.part(id, n, path))
	for i := range n.fields {
		p.eachPart(id, n.fields[i].node, append(slices.Clip(path), n.fields[i].key), do)
	}
	for i, item := range n.items {
		p.eachPart(id, item, append(slices.Clip(path), itemKey(i)), do)
	}
}

// part returns the digest of a node alone: its text, its value, or the keys or the number of
// nodes in it.
func (p *Program) part(id string, n *node, path []string) string {
	d := newDigester()
	d.texts(id)
	d.list(len(path))
	d.texts(path...)
	switch {
	case n.slot != noSlot:
		d.texts("text", p.exprs.At(n.slot).Source())
		d.columns(p, n)
	case n.kind == document.Map:
		keys := make([]string, len(n.fields))
		for i := range n.fields {
			keys[i] = n.fields[i].key
		}
		slices.Sort(keys)
		d.texts("map")
		d.texts(keys...)
	case n.kind == document.List:
		d.texts("list", strconv.Itoa(len(n.items)))
	case n.value != nil:
		d.texts("value")
		d.value(n.value)
	default:
		d.texts(fmt.Sprint(n.kind))
	}
	var sum [sha256.Size]byte
	return string(d.Sum(sum[:0])[:partSize])
}

// sameChart reports whether the chart that makes a resource is the one of these parts.
func (p *Program) sameChart(parts, id string) bool {
	c := p.chartOf(id)
	return c != nil && hasPart(parts, templatePart(c.ID, c.digest))
}

// templatePart is the digest of the whole template of a resource or of a chart.
func templatePart(id, template string) string {
	d := newDigester()
	d.texts(id, template)
	var sum [sha256.Size]byte
	return string(d.Sum(sum[:0])[:partSize])
}

// hasPart reports whether sorted parts have a part.
func hasPart(parts, part string) bool {
	low, high := 0, len(parts)/partSize
	for low < high {
		middle := (low + high) / 2
		switch at := parts[middle*partSize : (middle+1)*partSize]; {
		case at == part:
			return true
		case at < part:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}
