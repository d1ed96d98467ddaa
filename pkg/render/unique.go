package render

import (
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Most objects can't be duplicates by construction. Uids are unique. If a resource names
// its object by the uid between fixed texts, and no other resource renders the kind, the
// object is unique. The registry stores the other objects.

// collisions knows which objects and nodes of a run might be duplicates.
type collisions struct {
	kinds map[string]int // from group and kind to the number of resources
	nodes bool           // nodes of different programs might share a name
	// charts is set if a chart might make any object.
	charts bool
}

func newCollisions(programs []*Program) *collisions {
	c := &collisions{kinds: map[string]int{}}
	for i, p := range programs {
		c.charts = c.charts || len(p.charts) > 0
		for j := range p.resources {
			c.kinds[p.resources[j].identity]++
		}
		for _, q := range programs[:i] {
			c.nodes = c.nodes || sameNodes(p, q)
		}
		c.nodes = c.nodes || looksHashed(p.Form.Name)
	}
	return c
}

// object reports whether an object of resource i might be a duplicate.
func (c *collisions) object(p *Program, i int) bool {
	r := &p.resources[i]
	if c.charts || c.kinds[r.identity] > 1 || r.namespace.node != nil && r.namespace.node.slot != noSlot || r.name.node.slot == noSlot {
		return true
	}
	return !p.exprs.Injective(r.name.node.slot)
}

// sameNodes reports whether nodes of two programs might share a name. They share the
// namespace, and one form's name ends with the other's.
func sameNodes(p, q *Program) bool {
	a, b := p.Form.Name, q.Form.Name
	return p.Namespace == q.Namespace && (a == b || strings.HasSuffix(a, "-"+b) || strings.HasSuffix(b, "-"+a))
}

// looksHashed reports whether a name that ends with a form's name might look like a hashed
// one (see naming.HashedName).
func looksHashed(form string) bool {
	return regexp.MustCompile(`(^|-)[0-9a-f]{8}$`).MatchString(form)
}

// node reports whether the node of a loaded row might be a duplicate. Hashed names might,
// because their hash is short.
func (c *collisions) node(f *frame) bool {
	if f.dashed {
		return true
	}
	form := f.program.Form.Name
	if c.nodes || len(f.uid)+1+len(form) > maxLabel || !naming.IsDNS1123Label(f.uid) {
		return c.nodes || f.name() != f.uid+"-"+form
	}
	return false // the plain name is valid, so it has no hash
}

// maxLabel is the longest value of a label.
const maxLabel = 63
