package plan

import "github.com/lynqctl/lynqctl/pkg/lynq"

// HoldsData reports whether data is lost when lynqctl deletes the object.
func (o *Object) HoldsData() bool { return o.Policy != nil && o.Policy.Data || o.Ref.HoldsData() }

// WithClaims returns the step as an update in place, or nil. It does so if Kubernetes would
// delete volume claims with the live object, and the user didn't pass --include-data.
func (p *Plan) WithClaims(s *Step, content map[string]any) *Step {
	if !lynq.TakesClaims(s.Ref(), content) || p.Rules != nil && p.Rules.IncludesData() {
		return nil
	}
	next := *s
	next.Action, next.InPlace = ActionUpdate, "deleting it also deletes its volume claims (apply --include-data recreates it)"
	return &next
}

// Loss reports whether the step deletes data of a node with a row.
func (s *Step) Loss() bool {
	return s.Object == nil && s.Entry != nil && s.Entry.HoldsData() && s.Reason.NodeStays() && s.Deletes()
}
