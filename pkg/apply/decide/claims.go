package decide

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// claimIndex finds the row that may want an object although it could not be rendered.
type claimIndex struct {
	named   map[claimKey]*plan.Node
	unnamed map[claimKey][]*plan.Node
	rows    map[rowKey]*plan.Node
}

// claimKey is an object up to how rows are corrected: the case of its name and
// what separates words. The namespace does not count.
type claimKey struct{ group, kind, name string }

// rowKey is a row of a form, likewise.
type rowKey struct {
	form lynq.FormKey
	uid  string
}

func claimsOf(nodes []*plan.Node) *claimIndex {
	c := &claimIndex{named: map[claimKey]*plan.Node{}, unnamed: map[claimKey][]*plan.Node{}, rows: map[rowKey]*plan.Node{}}
	for _, n := range nodes {
		if n.Failed == nil {
			continue
		}
		c.rows[rowKey{n.Form, plain(n.UID)}] = n
		for _, ref := range n.Claims.Refs {
			key := claimKey{ref.Group, ref.Kind, plain(ref.Name)}
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

// object is the row that may want an object, nil for none.
func (c *claimIndex) object(ref lynq.Ref) *plan.Node {
	key := claimKey{ref.Group, ref.Kind, plain(ref.Name)}
	if n := c.named[key]; n != nil {
		return n
	}
	for _, n := range c.unnamed[claimKey{group: ref.Group, kind: ref.Kind}] {
		for _, v := range n.Claims.Values {
			if v = plain(v); v != "" && strings.Contains(key.name, v) {
				return n
			}
		}
	}
	return nil
}

// node is the row that may be the one of a node, or wants an object of it; nil for
// none.
func (c *claimIndex) node(inv *inventory.Inventory) *plan.Node {
	for _, form := range []lynq.FormKey{inv.Node.Form, {Name: inv.Node.Form.Name}} {
		if n := c.rows[rowKey{form, plain(inv.Node.UID)}]; n != nil {
			return n
		}
	}
	for i := range inv.Entries {
		if n := c.object(inv.Entries[i].Ref); n != nil {
			return n
		}
	}
	return nil
}

// holdsUp says which row it is that holds a deletion up.
func holdsUp(n *plan.Node) string {
	return fmt.Sprintf("row %q of form %s failed to render, and may need it (correct the row, then apply again)", n.UID, n.Form)
}
