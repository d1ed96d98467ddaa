package plan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// HoldsData tells whether data is lost when lynqctl deletes the object.
func (o *Object) HoldsData() bool { return o.Data || o.Ref.HoldsData() }

// TakesClaims tells whether Kubernetes deletes volume claims with an object: those of a
// StatefulSet whose persistentVolumeClaimRetentionPolicy says whenDeleted: Delete.
func TakesClaims(ref lynq.Ref, content map[string]any) bool {
	if ref.GroupKind() != "StatefulSet.apps" {
		return false
	}
	policy, _, err := unstructured.NestedString(content, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	return err == nil && policy == "Delete"
}

// WithClaims is the step as an update in place, where Kubernetes would delete volume claims
// with the object as it exists, and nobody said to delete data; nil elsewhere.
func (p *Plan) WithClaims(s *Step, content map[string]any) *Step {
	if !TakesClaims(s.ref(), content) || p.rules != nil && p.rules.IncludeData {
		return nil
	}
	next := *s
	next.Action, next.InPlace = ActionUpdate, "its volume claims would be deleted with it (apply --include-data recreates it too)"
	return &next
}

// Loss tells whether the step takes data away from a node whose row stays.
func (s *Step) Loss() bool {
	return s.Object == nil && s.Entry != nil && s.Entry.HoldsData() && s.Reason.nodeStays() && s.deletes()
}

// tellLosses says of the steps that delete data what replaces it.
func (p *NodePlan) tellLosses() {
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.Loss() {
			continue
		}
		message := "its data is lost"
		for j := range p.Steps {
			if o := p.Steps[j].Object; o != nil && o.ID == s.Entry.ID {
				message = o.String() + " replaces it, and its data is lost"
			}
		}
		if s.Message != "" {
			message = s.Message + "; " + message
		}
		s.Message = message
	}
}
