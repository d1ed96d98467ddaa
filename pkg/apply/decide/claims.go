package decide

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// claims finds a row that failed to render and may need an object.
type claims struct {
	named   map[claimKey]*plan.Node
	unnamed map[claimKey][]*plan.Node
	rows    map[rowKey]*plan.Node
}

// claimKey identifies an object. Corrections that people make in a row don't change it,
// because it ignores case, separators and the namespace.
type claimKey struct{ group, kind, name string }

// claimsOf returns the claims of the nodes that failed to render.
func claimsOf(nodes []*plan.Node) *claims {
	c := &claims{named: map[claimKey]*plan.Node{}, unnamed: map[claimKey][]*plan.Node{}, rows: map[rowKey]*plan.Node{}}
	for _, n := range nodes {
		if n.Failed == nil {
			continue
		}
		c.rows[rowKey{n.Form, plainText(n.UID)}] = n
		for _, ref := range n.Claims.Refs {
			key := claimKey{ref.Group, ref.Kind, plainText(ref.Name)}
			if key.name == "" {
				c.unnamed[key] = append(c.unnamed[key], n)
			} else {
				c.named[key] = n
			}
		}
	}
	return c
}

// plainText removes differences that people correct in rows. It keeps lowercase letters and
// digits.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// Object returns the node whose row may need the object, or nil.
func (c *claims) Object(ref lynq.Ref) *plan.Node {
	key := claimKey{ref.Group, ref.Kind, plainText(ref.Name)}
	if n := c.named[key]; n != nil {
		return n
	}
	for _, n := range c.unnamed[claimKey{group: ref.Group, kind: ref.Kind}] {
		for _, v := range n.Claims.Values {
			if v = plainText(v); v != "" && strings.Contains(key.name, v) {
				return n
			}
		}
	}
	return nil
}

// Node returns the node whose row may be the one of the inventory, or may need an object in
// it. It returns nil if there is none.
func (c *claims) Node(inv *inventory.Inventory) *plan.Node {
	for _, form := range []lynq.FormKey{inv.Node.Form, {Name: inv.Node.Form.Name}} {
		if n := c.rows[rowKey{form, plainText(inv.Node.UID)}]; n != nil {
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

// holdsUp says which row blocks a deletion.
func holdsUp(n *plan.Node) string {
	return fmt.Sprintf("row %q of form %s failed to render, and may need it (correct the row, then apply again)", n.UID, n.Form)
}
