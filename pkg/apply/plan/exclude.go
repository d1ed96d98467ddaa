package plan

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// leftAlone tells whether nothing is done with an object, so that it is no matter how it
// is.
func (o *Object) leftAlone() bool { return o.LeftOut || o.Exclusion != nil }

// freed says of the excluded objects of a node what becomes of those that depend on
// them.
func (n *Node) freed(steps []Step) {
	for i := range steps {
		s := &steps[i]
		if s.Reason != ReasonExcluded || s.Object == nil {
			continue
		}
		var free []string
		for j := range n.Objects {
			if slices.Contains(n.Objects[j].DependIDs, s.Object.ID) {
				free = append(free, n.Objects[j].ID)
			}
		}
		if len(free) > 0 {
			s.Message += "; what depends on it does not wait: " + strings.Join(free, ", ")
		}
	}
}

func excludedBy(rule *lynq.Exclusion) string {
	return "it is excluded (" + rule.Pos.String() + ": " + rule.String() + ")"
}

// excluded is why a recorded object that is wanted no more stays as it is, "" where
// no rule excludes it. Who deletes without the inputs knows no rules, and goes by what
// the last apply recorded.
func (d *decider) excluded(me Owner, r *inventory.Entry) string {
	if d.Exclude == nil {
		if r.Excluded {
			return "it was excluded when its form was last applied (remove the rule, and apply)"
		}
		return ""
	}
	inv := d.inventories[me.NodeKey]
	if inv == nil {
		return ""
	}
	for _, f := range d.Forms {
		if rule := d.Exclude[f].Find(r.Ref); rule != nil && ofForm(inv, f) {
			return excludedBy(rule)
		}
	}
	return ""
}
