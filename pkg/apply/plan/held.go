package plan

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Held has the deletions that guards hold. The run does the rest of the plan.
type Held struct {
	Refusals []Refusal
	// Nodes would be deleted. Partly are nodes that would lose objects. Both are sorted.
	Nodes, Partly []lynq.NodeKey
	// Deleted and Orphaned count the objects that would leave their nodes.
	Deleted, Orphaned int
	// Digest identifies exactly this change (see digest).
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

// Holdable reports whether guards refuse a plan only because of its deletions. Then lynqctl
// can do the rest. All other guards refuse the whole plan.
func (p *Plan) Holdable() bool {
	return len(p.Refusals) > 0 && !slices.ContainsFunc(p.Refusals, func(r Refusal) bool {
		return r.Guard != GuardEmpty && r.Guard != GuardMaxDelete
	})
}
