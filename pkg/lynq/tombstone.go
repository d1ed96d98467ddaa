package lynq

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tombstone names an object that no inventory has and that is to go (seed: tombstones
// and exclusion).
type Tombstone struct {
	Ref
	APIVersion string
	// Labels must all be on the object with these values; there is one at least.
	Labels map[string]string
	Pos    Pos // of the form's entry, or of the file's object
}

// Differs names the labels by which an object is not the one that is meant, "" where
// it is.
func (t *Tombstone) Differs(labels map[string]string) string {
	var lacks []string
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		switch value, there := labels[key]; {
		case !there:
			lacks = append(lacks, key+" doesn't exist")
		case value != t.Labels[key]:
			lacks = append(lacks, fmt.Sprintf("%s is %q, not %q", key, value, t.Labels[key]))
		}
	}
	return strings.Join(lacks, ", ")
}

// Digest is the same for all tombstones that mean the same: 12 hex digits of a
// SHA-256.
func (t *Tombstone) Digest() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s", t.APIVersion, t.Kind, t.Namespace, t.Name)
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		_, _ = fmt.Fprintf(h, "\x00%s\x00%s", key, t.Labels[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
