package claim

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Index finds a row that failed to render and may need an object.
type Index struct {
	named   map[objectKey]*plan.Node
	unnamed map[objectKey][]*plan.Node
	rows    map[rowKey]*plan.Node
}

// objectKey identifies an object. Corrections that people make in a row don't change it,
// because it ignores case, separators and the namespace.
type objectKey struct{ group, kind, name string }

// rowKey identifies a row of a form in the same way.
type rowKey struct {
	form lynq.FormKey
	uid  string
}

// Of returns the claims of the nodes that failed to render.
func Of(nodes []*plan.Node) *Index {
	c := &Index{named: map[objectKey]*plan.Node{}, unnamed: map[objectKey][]*plan.Node{}, rows: map[rowKey]*plan.Node{}}
	for _, n := range nodes {
		if n.Failed == nil {
			continue
		}
		c.rows[rowKey{n.Form, plain(n.UID)}] = n
		for _, ref := range n.Claims.Refs {
			key := objectKey{ref.Group, ref.Kind, plain(ref.Name)}
			if key.name == "" {
				c.unnamed[key] = append(c.unnamed[key], n)
			} else {
				c.named[key] = n
			}
		}
	}
	return c
}

// plain removes differences that people correct in rows. It keeps lowercase letters and
// digits.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// Object returns the node whose row may need the object, or nil.
func (c *Index) Object(ref lynq.Ref) *plan.Node {
	key := objectKey{ref.Group, ref.Kind, plain(ref.Name)}
	if n := c.named[key]; n != nil {
		return n
	}
	for _, n := range c.unnamed[objectKey{group: ref.Group, kind: ref.Kind}] {
		for _, v := range n.Claims.Values {
			if v = plain(v); v != "" && strings.Contains(key.name, v) {
				return n
			}
		}
	}
	return nil
}

// Node returns the node whose row may be the one of the inventory, or may need an object in
// it. It returns nil if there is none.
func (c *Index) Node(inv *inventory.Inventory) *plan.Node {
	for _, form := range []lynq.FormKey{inv.Node.Form, {Name: inv.Node.Form.Name}} {
		if n := c.rows[rowKey{form, plain(inv.Node.UID)}]; n != nil {
			return n
		}
	}
	for i := range inv.Entries {
		if n := c.Object(inv.Entries[i].Ref); n != nil {
			return n
		}
	}
	return nil
}

// HoldsUp says which row blocks a deletion.
func HoldsUp(n *plan.Node) string {
	return fmt.Sprintf("row %q of form %s failed to render, and may need it (correct the row, then apply again)", n.UID, n.Form)
}
