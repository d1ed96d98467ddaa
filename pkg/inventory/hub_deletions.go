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

// NodeDigest stands for a node in Deletions: names would need too much room.
func NodeDigest(namespace, node string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + node))
	return hex.EncodeToString(sum[:6])
}

// equal tells whether two are written alike.
func (d Deletions) equal(other Deletions) bool {
	return d.Time.Equal(other.Time) && slices.Equal(d.Nodes, other.Nodes) && d.More == other.More
}
