package plan

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Claims are what is known of the objects that a row wants which could not be
// rendered. Nothing is deleted that it may want when it renders again.
type Claims struct {
	// Refs are its objects, each with the name that the row gave, valid or not;
	// "" where not even that is known.
	Refs []lynq.Ref
	// Values are the row's mapped values: an object whose name is not known has
	// one that is made of these.
	Values []string
}

// Fail notes that a node must not run. What it wants is a claim from then on.
func (n *Node) Fail(err error) {
	for i := range n.Objects {
		n.Claims.Refs = append(n.Claims.Refs, n.Objects[i].Ref)
	}
	n.Failed, n.Objects = err, nil
}

// claimIndex finds the row that may want an object although it could not be rendered.
type claimIndex struct {
	named   map[claimKey]*Node
	unnamed map[claimKey][]*Node
	rows    map[rowKey]*Node
}

// claimKey is an object up to how rows are corrected: the case of its name and
// what separates words. The namespace does not count.
type claimKey struct{ group, kind, name string }

// rowKey is a row of a form, likewise.
type rowKey struct {
	form lynq.FormKey
	uid  string
}

func claimsOf(nodes []*Node) *claimIndex {
	c := &claimIndex{named: map[claimKey]*Node{}, unnamed: map[claimKey][]*Node{}, rows: map[rowKey]*Node{}}
	for _, n := range nodes {
		if n.Failed == nil {
			continue
		}
		c.rows[rowKey{n.formKey(), plain(n.UID)}] = n
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
func (c *claimIndex) object(ref lynq.Ref) *Node {
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
func (c *claimIndex) node(inv *inventory.Inventory) *Node {
	for _, form := range []lynq.FormKey{inv.FormKey(), {Name: inv.Form}} {
		if n := c.rows[rowKey{form, plain(inv.RowUID)}]; n != nil {
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

// holds says which row it is that holds a deletion up.
func (n *Node) holds() string {
	return fmt.Sprintf("row %q of form %s could not be rendered, and may want it (correct the row, and apply again)", n.UID, n.formKey())
}
