package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// templateDigest returns 16 hex digits of a SHA-256 of an object's template. It covers the
// form's meaning, not its spelling, and the columns of its variables. It excludes the row
// and this program. The cluster stores it, so it must not depend on how lynqctl compiles
// forms.
func (p *Program) templateDigest(r *resource) string {
	d := digester{sha256.New()}
	d.texts(r.APIVersion, r.Kind, r.ID, r.NameTemplate.Text, r.TargetNamespace.Text, p.Namespace, strconv.FormatBool(r.namespace.node != nil))
	for _, f := range lynq.Policies() {
		switch said := f.Digest(&r.Policy); {
		case said == "":
		case f.Template == lynq.DigestedForm:
			d.value(p.Form.Spec)
		default:
			d.texts(said)
		}
	}
	d.list(len(r.Policy.IgnoreFields))
	d.texts(r.Policy.IgnoreFields...)
	for _, entries := range [][]form.Entry{r.Labels, r.Annotations} {
		d.list(len(entries))
		for _, e := range entries {
			d.texts(e.Key, e.Text.Text)
		}
	}
	d.value(r.Manifest)
	d.columns(p, r.root)
	var sum [sha256.Size]byte
	return hex.EncodeToString(d.Sum(sum[:0])[:8])
}

// Digest returns 16 hex digits of a SHA-256 of the templates of all objects, without any
// row.
func (p *Program) Digest() string {
	d := digester{sha256.New()}
	for i := range p.resources {
		d.texts(p.resources[i].ID, p.resources[i].template)
	}
	for i := range p.charts {
		d.texts(p.charts[i].ID, p.charts[i].digest)
	}
	var sum [sha256.Size]byte
	return hex.EncodeToString(d.Sum(sum[:0])[:8])
}

// Template returns the digest of a resource's template, as inventories record it. It returns ""
// if the form lacks the resource.
func (p *Program) Template(id string) string {
	for i := range p.resources {
		if p.resources[i].ID == id {
			return p.resources[i].template
		}
	}
	if c := p.chartOf(id); c != nil {
		return c.digest
	}
	return ""
}

// digester writes values so that different values never give the same bytes.
type digester struct{ hash.Hash }

func newDigester() digester { return digester{sha256.New()} }

// short returns 16 hex digits.
func (d digester) short() string {
	var sum [sha256.Size]byte
	return hex.EncodeToString(d.Sum(sum[:0])[:8])
}

func (d digester) texts(texts ...string) {
	for _, t := range texts {
		_, _ = fmt.Fprintf(d, "%d:%s", len(t), t) // a hash never fails
	}
}

func (d digester) list(length int) { d.texts(strconv.Itoa(length)) }

func (d digester) value(v *document.Value) {
	d.texts(strconv.Itoa(int(v.Kind)))
	switch v.Kind {
	case document.Bool:
		d.texts(strconv.FormatBool(v.Bool))
	case document.Int:
		d.texts(strconv.FormatInt(v.Int, 10))
	case document.Float:
		d.texts(strconv.FormatFloat(v.Float, 'g', -1, 64))
	case document.String:
		d.texts(v.Str)
	case document.List:
		d.list(len(v.Items))
		for _, item := range v.Items {
			d.value(item)
		}
	case document.Map:
		d.list(len(v.Fields))
		for _, f := range slices.SortedFunc(slices.Values(v.Fields), func(a, b document.Field) int { return cmp.Compare(a.Key, b.Key) }) {
			d.texts(f.Key)
			d.value(f.Value)
		}
	}
}

// columns writes the columns that a manifest's strings read, in their order. If a variable
// maps another column, the same string means something else.
func (d digester) columns(p *Program, n *node) {
	if n.slot == noSlot {
		for _, f := range n.fields {
			d.columns(p, f.node)
		}
		for _, item := range n.items {
			d.columns(p, item)
		}
		return
	}
	for _, c := range p.exprs.Columns(n.slot) {
		d.texts(p.origins(c)...)
		if f := p.field(c); f != nil {
			d.texts(f.field)
		}
	}
}
