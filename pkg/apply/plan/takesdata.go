package plan

import "slices"

// GuardReading holds deletions until lynqctl has read the files again that request them.
const GuardReading Guard = "reading"

// TakesData reports whether a plan deletes an object with data.
func (p *Plan) TakesData() bool {
	return slices.ContainsFunc(p.Nodes, func(n NodePlan) bool {
		return slices.ContainsFunc(n.Steps, func(s Step) bool {
			return s.Object == nil && (s.Action == ActionDelete || s.Action == ActionCollect) && s.Entry.HoldsData()
		})
	})
}
