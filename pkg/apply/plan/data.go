package plan

import "github.com/lynqctl/lynqctl/pkg/lynq"

// HoldsData tells whether data is lost when lynqctl deletes the object.
func (o *Object) HoldsData() bool { return o.Policy != nil && o.Policy.Data || o.Ref.HoldsData() }

// WithClaims is the step as an update in place, where Kubernetes would delete volume claims
// with the object as it exists, and nobody said to delete data; nil elsewhere.
func (p *Plan) WithClaims(s *Step, content map[string]any) *Step {
	if !lynq.TakesClaims(s.Ref(), content) || p.Rules != nil && p.Rules.IncludesData() {
		return nil
	}
	next := *s
	next.Action, next.InPlace = ActionUpdate, "deleting it also deletes its volume claims (apply --include-data recreates it)"
	return &next
}

// Loss tells whether the step takes data away from a node whose row stays.
func (s *Step) Loss() bool {
	return s.Object == nil && s.Entry != nil && s.Entry.HoldsData() && s.Reason.NodeStays() && s.Deletes()
}
