package gitops

import (
	"fmt"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Leaving is a node in its grace period. Its row is gone, and its files remain in the
// tree.
type Leaving struct {
	lynq.NodeID
	// Since is when a run first found the row gone, and Until when lynqctl removes the
	// files.
	Since, Until time.Time
}

// String describes the node's future for people.
func (l *Leaving) String() string {
	return fmt.Sprintf("node %s is leaving: its row is inactive or missing, and its files are removed at %s (deletionGracePeriod)", l.Name, l.Until.UTC().Format(time.RFC3339))
}

// leavingNodes returns the nodes in their grace period, sorted by name.
func (in *Input) leavingNodes() []Leaving {
	var all []Leaving
	for _, l := range in.decided.leaving {
		all = append(all, *l)
	}
	slices.SortFunc(all, func(a, b Leaving) int { return compareNodes(a.Key(), b.Key()) })
	return all
}

// leavingFields is the JSON form of a Leaving.
type leavingFields struct {
	nodeFields
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// MarshalJSON implements json.Marshaler.
func (l Leaving) MarshalJSON() ([]byte, error) {
	text, err := phrase.JSON(leavingFields{nodeFieldsOf(l.NodeID), l.Since, l.Until})
	return []byte(text), err
}
