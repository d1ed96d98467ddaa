package index

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Origin is a hub or a form that files of a tree come from, with a digest. A hub has no
// Form. The index has a line for each, and reports have the same JSON.
type Origin struct {
	Hub           string `json:"hub"`
	HubNamespace  string `json:"hubNamespace,omitempty"`
	Form          string `json:"form,omitempty"`
	FormNamespace string `json:"formNamespace,omitempty"`
	// Digest has 16 hexadecimal digits. Those of a hub begin the SHA-256 of its lines in the
	// index. Those of a form are the digest of its templates, with the target's annotations.
	// Without such annotations, the history has the same.
	Digest string `json:"digest"`
}

// Digests say what a tree contains, and where it came from. The index, the trailers of a
// commit and reports have the same ones.
type Digests struct {
	// Plan has 32 hexadecimal digits. They begin the SHA-256 of the index without its last
	// line, so equal trees have equal plans.
	Plan string `json:"plan"`
	// Origins are the hubs with files in the tree, each followed by its forms. A form has
	// several digests if its files come from several versions of the form.
	Origins []Origin `json:"digests,omitempty"`
}

// OriginOf returns a hub, or one of its forms, without a digest.
func OriginOf(hub lynq.HubKey, form lynq.FormKey) Origin {
	return Origin{Hub: hub.Name, HubNamespace: hub.Namespace, Form: form.Name, FormNamespace: form.Namespace}
}

// Bare returns the same origin without a digest.
func (o Origin) Bare() Origin {
	o.Digest = ""
	return o
}

// Of returns the digests of an origin.
func (d *Digests) Of(o Origin) []string {
	var found []string
	for _, other := range d.Origins {
		if other.Bare() == o.Bare() {
			found = append(found, other.Digest)
		}
	}
	return found
}

// SortOrigins sorts origins, and drops equal ones. A hub comes before its forms.
func SortOrigins(origins []Origin) []Origin {
	slices.SortFunc(origins, compareOrigins)
	return slices.Compact(origins)
}

func compareOrigins(a, b Origin) int {
	return cmp.Or(
		strings.Compare(a.Hub, b.Hub), strings.Compare(a.HubNamespace, b.HubNamespace),
		strings.Compare(a.Form, b.Form), strings.Compare(a.FormNamespace, b.FormNamespace),
		strings.Compare(a.Digest, b.Digest),
	)
}

// hubSums hashes the lines of each hub.
type hubSums map[lynq.HubKey]hash.Hash

// add adds lines of a hub.
func (s hubSums) add(hub lynq.HubKey, lines []byte) {
	sum := s[hub]
	if sum == nil {
		sum = sha256.New()
		s[hub] = sum
	}
	_, _ = sum.Write(lines) // a hash never fails
}

// origins returns the hubs with their digests, and these forms.
func (s hubSums) origins(forms []Origin) []Origin {
	all := slices.Clone(forms)
	for hub, sum := range s {
		o := OriginOf(hub, lynq.FormKey{})
		o.Digest = hex.EncodeToString(sum.Sum(nil)[:originSize])
		all = append(all, o)
	}
	return SortOrigins(all)
}

// These are the bytes of SHA-256 in the digest of an origin, and in the id of a plan.
const (
	originSize = 8
	planSize   = 16
)

// appendLine writes the origin's line of the index.
func (o *Origin) appendLine(b []byte) []byte {
	text, _ := json.Marshal(o) // strings always encode
	return append(append(b, text...), '\n')
}

// origin returns the origin of a line. It refuses a digest that Encode would not write,
// because trailers of commits show digests as they are.
func (l *line) origin() (Origin, error) {
	o := Origin{Hub: l.Hub, HubNamespace: l.HubNamespace, Form: l.Form, FormNamespace: l.FormNamespace, Digest: l.Digest}
	if b, err := hex.DecodeString(l.Digest); err != nil || len(b) != originSize || hex.EncodeToString(b) != l.Digest {
		return o, &digestError{"digest", l.Digest}
	}
	return o, nil
}
