package render

import (
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// Much of what could be rendered twice cannot, by construction: uids are
// unique, so what a resource names by the uid between fixed texts is unique
// among its rows, and no other resource renders its kind. What is left is
// remembered, object by object.

// collisions tells which objects and nodes of a run could be there twice.
type collisions struct {
	kinds map[string]int // group and kind -> resources that render it
	nodes bool           // nodes of different programs could have one name
}

func newCollisions(programs []*Program) *collisions {
	c := &collisions{kinds: map[string]int{}}
	for i, p := range programs {
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

// object tells whether an object of resource i of a program could be there
// twice.
func (c *collisions) object(p *Program, i int) bool {
	r := &p.resources[i]
	if c.kinds[r.identity] > 1 || r.namespace.node != nil && r.namespace.node.slot != noSlot || r.name.node.slot == noSlot {
		return true
	}
	return !p.exprs.Injective(r.name.node.slot)
}

// sameNodes tells whether a node of one program may be called as one of
// another: they share the namespace, and one form's name ends as the other's.
func sameNodes(p, q *Program) bool {
	a, b := p.Form.Name, q.Form.Name
	return p.Namespace == q.Namespace && (a == b || strings.HasSuffix(a, "-"+b) || strings.HasSuffix(b, "-"+a))
}

// looksHashed tells whether names that end in a form's name could be taken for
// hashed ones (see naming.HashedName).
func looksHashed(form string) bool {
	return regexp.MustCompile(`(^|-)[0-9a-f]{8}$`).MatchString(form)
}

// node tells whether the node of a loaded row could be there twice. Made names
// can: their hash is short.
func (c *collisions) node(f *frame) bool {
	if f.dashed {
		return true
	}
	form := f.program.Form.Name
	if c.nodes || len(f.uid)+1+len(form) > maxLabel || !naming.IsDNS1123Label(f.uid) {
		return c.nodes || f.name() != f.uid+"-"+form
	}
	return false // the raw name is one
}

// maxLabel is how long the value of a label may be.
const maxLabel = 63
