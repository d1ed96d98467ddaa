package lynq

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tombstone names an object to delete that no inventory has (seed: tombstones and exclusion).
type Tombstone struct {
	Ref
	APIVersion string
	// Labels are at least one. The object must have all of them with these values.
	Labels map[string]string
	Pos    Pos // of the entry in the form, or of the object in the file
}

// Differs names the labels by which an object isn't the meant one, or returns "".
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

// Digest returns 12 hexadecimal digits of a SHA-256. Tombstones that mean the same have the same
// digest.
func (t *Tombstone) Digest() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s", t.APIVersion, t.Kind, t.Namespace, t.Name)
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		_, _ = fmt.Fprintf(h, "\x00%s\x00%s", key, t.Labels[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
