package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Deletions are the nodes that a watch deleted, or took objects from, at about one time.
type Deletions struct {
	Time time.Time `json:"time"` // not before the last of these deletions began
	// Nodes are these nodes by NodeDigest, as many as there is room for. More counts the
	// others.
	Nodes []string `json:"nodes,omitempty"`
	More  int      `json:"more,omitempty"`
}

// Leaving are nodes whose rows a run first saw gone at one time, and which are kept for
// their grace period.
type Leaving struct {
	Since time.Time `json:"since"`
	Nodes []string  `json:"nodes"` // by NodeDigest
}

// equal tells whether two are written alike.
func (l Leaving) equal(other Leaving) bool {
	return l.Since.Equal(other.Since) && slices.Equal(l.Nodes, other.Nodes)
}

// EqualLeaving tells whether two lists are written alike.
func EqualLeaving(a, b []Leaving) bool { return slices.EqualFunc(a, b, Leaving.equal) }

// NodeDigest stands for a node in Deletions and Leaving: names would need too much room.
func NodeDigest(namespace, node string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + node))
	return hex.EncodeToString(sum[:6])
}

// equal tells whether two are written alike.
func (d Deletions) equal(other Deletions) bool {
	return d.Time.Equal(other.Time) && slices.Equal(d.Nodes, other.Nodes) && d.More == other.More
}
