package plan

import "slices"

// GuardReading holds deletions until the files that ask for them have been read again.
const GuardReading Guard = "reading"

// TakesData tells whether a plan deletes an object that holds data.
func (p *Plan) TakesData() bool {
	return slices.ContainsFunc(p.Nodes, func(n NodePlan) bool {
		return slices.ContainsFunc(n.Steps, func(s Step) bool {
			return s.Object == nil && (s.Action == ActionDelete || s.Action == ActionCollect) && s.Entry.HoldsData()
		})
	})
}
