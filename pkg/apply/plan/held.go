package plan

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Held lists what guards have against the deletions of a plan. The run carries out the
// rest of it.
type Held struct {
	Refusals []Refusal
	// Nodes would go, and Partly are nodes that stay and would lose objects; both sorted.
	Nodes, Partly []lynq.NodeKey
	// Deleted and Orphaned count the objects that would leave their nodes so.
	Deleted, Orphaned int
	// Digest is of exactly that change; see digest.
	Digest string
}

// Guards names the guards that hold the deletions.
func (h *Held) Guards() string {
	var names []string
	for _, r := range h.Refusals {
		names = append(names, string(r.Guard))
	}
	return strings.Join(names, ", ")
}

// Holdable tells whether a plan is refused for its deletions alone: without them it may
// be carried out. Every other guard is about all that the plan does.
func (p *Plan) Holdable() bool {
	return len(p.Refusals) > 0 && !slices.ContainsFunc(p.Refusals, func(r Refusal) bool {
		return r.Guard != GuardEmpty && r.Guard != GuardMaxDelete
	})
}
