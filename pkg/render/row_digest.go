package render

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// rowRounds is how often what is made of a row's values is hashed: so much dearer is it
// to try values out on what is recorded than on the digest of a manifest.
const rowRounds = 1000

// rowDigest is a digest of the row and of the variables that stand for its values, ""
// where no resource of the form asks for it. It is recorded in clusters, as a part of
// the digests of objects.
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
	sum := sha256.Sum256(d.Sum(nil))
	for range rowRounds {
		sum = sha256.Sum256(sum[:])
	}
	return hex.EncodeToString(sum[:16])
}
