package decide

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// freed names the objects that depend on the excluded objects of a node.
func freed(n *plan.Node, steps []plan.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Reason != plan.ReasonExcluded || s.Object == nil {
			continue
		}
		var free []string
		for j := range n.Objects {
			if slices.Contains(n.Objects[j].DependIDs, s.Object.ID) {
				free = append(free, n.Objects[j].ID)
			}
		}
		if len(free) > 0 {
			s.Message += "; objects that depend on it don't wait: " + strings.Join(free, ", ")
		}
	}
}

func excludedBy(rule *lynq.Exclusion) string {
	return "it is excluded (" + rule.Pos.String() + ": " + rule.String() + ")"
}

// excluded says why lynqctl must not change a recorded object that is no longer desired, or
// returns "". A command without files knows no rules, so the exclusions of the last apply
// count.
func (d *decider) excluded(me plan.Owner, r *inventory.Entry) string {
	if d.in.Desired.Exclude == nil {
		if r.Excluded {
			return "it was excluded when its form was last applied (remove the rule, then apply)"
		}
		return ""
	}
	inv := d.inventories[me.NodeKey]
	if inv == nil {
		return ""
	}
	for _, f := range d.in.Desired.Forms {
		if rule := d.in.Desired.Exclude[f].Find(r.Ref); rule != nil && ofForm(inv, f) {
			return excludedBy(rule)
		}
	}
	return ""
}
