package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Deletions are nodes that a watch deleted, or whose objects it deleted, at about the same
// time.
type Deletions struct {
	Time time.Time `json:"time"` // at or after the start of the last deletion
	// Nodes has the NodeDigest of these nodes, as many as fit. More counts the rest.
	Nodes []string `json:"nodes,omitempty"`
	More  int      `json:"more,omitempty"`
}

// Leaving are nodes in their grace period whose rows a run first found gone at the same
// time.
type Leaving struct {
	Since time.Time `json:"since"`
	Nodes []string  `json:"nodes"` // each a NodeDigest
}

// equal reports whether both encode to the same data.
func (l Leaving) equal(other Leaving) bool {
	return l.Since.Equal(other.Since) && slices.Equal(l.Nodes, other.Nodes)
}

// EqualLeaving reports whether two lists encode to the same data.
func EqualLeaving(a, b []Leaving) bool { return slices.EqualFunc(a, b, Leaving.equal) }

// NodeDigest identifies a node in Deletions and Leaving, because names would need too much
// space.
func NodeDigest(namespace, node string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + node))
	return hex.EncodeToString(sum[:6])
}

// equal reports whether both encode to the same data.
func (d Deletions) equal(other Deletions) bool {
	return d.Time.Equal(other.Time) && slices.Equal(d.Nodes, other.Nodes) && d.More == other.More
}
