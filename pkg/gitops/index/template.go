package index

import (
	"encoding/base64"
	"encoding/json"
	"slices"
)

// Template says from which templates lynqctl rendered the files of a form. Reports find out
// with it why a field changes. Its line begins like a head, so that a lynqctl that doesn't
// know it skips it.
type Template struct {
	Origin
	// Parts are the digests of render.Program.Parts.
	Parts []byte `json:"parts"`
}

// appendLine writes the template's line of the index.
func (t *Template) appendLine(b []byte) []byte {
	text, _ := json.Marshal(struct {
		Format int64 `json:"format"`
		*Template
	}{formatPlain, t}) // strings always encode
	return append(append(b, text...), '\n')
}

// template returns the template of a line.
func (l *line) template() (Template, error) {
	o, err := l.origin()
	return Template{o, l.Parts}, err
}

// TemplateOf returns the template of a form with a digest, or nil.
func TemplateOf(all []Template, o Origin) *Template {
	i := slices.IndexFunc(all, func(t Template) bool { return t.Origin == o })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// sortTemplates sorts templates. A form has one for each of its digests.
func sortTemplates(all []Template) []Template {
	slices.SortStableFunc(all, func(a, b Template) int { return compareOrigins(a.Origin, b.Origin) })
	return slices.CompactFunc(all, func(a, b Template) bool { return a.Origin == b.Origin })
}

// forget drops what only reports need. If others changed the index, or a run was killed, no
// file certainly comes from these rows and templates.
func (x *Index) forget() {
	x.Templates, x.Lynqctl = nil, ""
	for i := range x.Entries {
		if e := &x.Entries[i]; e.Row != "" {
			e.Row = ""
		}
	}
}

// appendRow writes the row of a node on the first of its lines that follow each other.
func (x *Index) appendRow(b []byte, i int) []byte {
	e := &x.Entries[i]
	if e.Row == "" || x.Unfinished || i > 0 && x.Entries[i-1].sameNode(e.Owner) {
		return b
	}
	b = append(b, `,"row":"`...)
	return append(base64.RawStdEncoding.AppendEncode(b, []byte(e.Row)), '"')
}

// sameNode reports whether two owners are one node, whatever its row.
func (o *Owner) sameNode(other *Owner) bool {
	return o == other || o.Hub == other.Hub && o.Form == other.Form && o.Node == other.Node
}

// share gives an entry the owner of the entry before, if both are of one node. If their rows
// differ, nobody knows the row. It returns false for another node.
func (x *Index) share(i int) bool {
	if i == 0 || !x.Entries[i-1].sameNode(x.Entries[i].Owner) {
		return false
	}
	before, e := x.Entries[i-1].Owner, &x.Entries[i]
	if e.Row != "" && e.Row != before.Row {
		before.Row = ""
	}
	e.Owner = before
	return true
}

// rowOf reads the row of a line. A text that isn't one counts as none.
func rowOf(text string) string {
	row, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return string(row)
}
