package claim

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Index finds the row that may want an object although it could not be rendered.
type Index struct {
	named   map[objectKey]*plan.Node
	unnamed map[objectKey][]*plan.Node
	rows    map[rowKey]*plan.Node
}

// objectKey is an object up to how rows are corrected: the case of its name and
// what separates words. The namespace does not count.
type objectKey struct{ group, kind, name string }

// rowKey is a row of a form, likewise.
type rowKey struct {
	form lynq.FormKey
	uid  string
}

// Of are the claims of the rows among nodes that could not be rendered.
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

// plain is a text without what people correct in it: lower case, letters and
// digits alone.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// Object is the row that may want an object, nil for none.
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

// Node is the row that may be the one of a node, or wants an object of it; nil for
// none.
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

// HoldsUp says which row it is that holds a deletion up.
func HoldsUp(n *plan.Node) string {
	return fmt.Sprintf("row %q of form %s failed to render, and may need it (correct the row, then apply again)", n.UID, n.Form)
}
