package render

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// rowRounds is the number of hash rounds for a row's values. It makes guessing a row from
// a recorded digest this much slower.
const rowRounds = 1000

// rowDigest returns a digest of the row and its variables, or "" if no resource needs it.
// The digests of objects in the cluster contain it.
func (f *frame) rowDigest() string {
	p := f.program
	if !slices.ContainsFunc(p.resources, func(r resource) bool { return r.Policy.OnNodeChange }) {
		return ""
	}
	d := digester{sha256.New()}
	d.texts(p.Namespace, p.Hub.Name, p.Form.Name, f.uid)
	columns := Columns(p.Hub)
	for _, m := range p.Hub.Mappings { // sorted
		d.texts(m.Variable, f.row.Values[slices.Index(columns, m.Column)])
	}
	for i, field := range p.fields {
		d.texts(field.of.Name, field.field, f.row.Values[len(p.columns)+i])
	}
	sum := sha256.Sum256(d.Sum(nil))
	for range rowRounds {
		sum = sha256.Sum256(sum[:])
	}
	return hex.EncodeToString(sum[:16])
}
