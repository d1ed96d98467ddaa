package changeset

import (
	"encoding/json"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Change says what would happen to one object.
type Change struct {
	Node *lynq.NodeID // shared by the changes of a node
	lynq.Ref
	ID     string // of the resource in its form
	Action string // as plans name it, such as "update"
	// Words are the action for people, such as "delete (adopted)".
	Words string
	// Cause is that of the whole object, "" if each field has its own.
	Cause string
	// Place is where the form causes the change of the whole object, as FILE:LINE, or "".
	Place string
	// Fields are the changed fields of an object that stays.
	Fields []Field
	// Findings are what a reviewer must know of the change, sorted. See Find.
	Findings []Code
	// Edit says how the form changed, if it may be a cause. It is nil if nobody knows.
	Edit *Edit
}

// Field is a changed field. Before and After are its values, nil for none.
type Field struct {
	Path          string
	Op            string // add, remove or replace
	Before, After any
	// Columns feed the field, so its value may differ from row to row.
	Columns []string
	// Cause says why the field changes, without anything that differs from object to object.
	Cause string
	// Place is where the form causes the change, as FILE:LINE, or "".
	Place string
}

// Shape returns the same text for changes that belong to one group: the same action on the
// same resource of a form, with the same fields and causes. Values aren't part of it.
func (c *Change) Shape() string {
	var b strings.Builder
	part := func(s string) { b.WriteString(s); b.WriteByte(0) }
	for _, s := range []string{c.Node.Hub.String(), c.Node.Form.String(), c.Group, c.Kind, c.ID, c.Words, c.Cause} {
		part(s)
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		part(f.Path)
		part(f.Op)
		part(f.Cause)
	}
	for _, code := range c.Findings {
		part(string(code))
	}
	return b.String()
}

// text returns a value as JSON, which people read and maps use as a key. It returns "" for
// none.
func text(v any) string {
	if v == nil {
		return ""
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "?" // values come from JSON, so this can't happen
	}
	return strings.TrimSuffix(b.String(), "\n")
}
