package decide

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// OwnersPermit allows one write that changes the owner references of an object. The write
// may remove references, and add the one that the permit names. The garbage collector
// deletes an object with its owner, so adding one requires the whole gate. It allows no
// deletion. Only this package makes one, and the zero value permits nothing.
type OwnersPermit struct {
	uid  types.UID
	had  []types.UID
	adds types.UID
}

// Given reports whether the permit isn't the zero value.
func (p OwnersPermit) Given() bool { return p.uid != "" }

// Covers reports whether the object may have an owner after the write. It may if it had
// that owner before or if the gate allows it.
func (p OwnersPermit) Covers(owner types.UID) bool {
	return p.Given() && (owner == p.adds && owner != "" || slices.Contains(p.had, owner))
}

// PermitDetach permits a write that only removes owner references from a step's object. It
// never permits a write to an object that an exclusion protects.
func PermitDetach(s *plan.Step) (OwnersPermit, error) {
	switch {
	case s.Live == nil || s.Live.UID == "":
		return OwnersPermit{}, &DeniedError{s.Ref(), "this run has not read it"}
	case s.Reason == plan.ReasonExcluded, s.Object != nil && s.Object.Exclusion != nil:
		return OwnersPermit{}, &DeniedError{s.Ref(), "an exclusion protects it"}
	}
	return OwnersPermit{uid: s.Live.UID, had: s.Live.Owners}, nil
}

// PermitOwner permits a write that makes the node's inventory an owner of an object that
// the node renders. The garbage collector deletes the object with the inventory, so all
// rules of the plan decide the step again.
func PermitOwner(p *plan.Plan, n *plan.NodePlan, saved *inventory.Inventory, s *plan.Step) (OwnersPermit, error) {
	permit, err := PermitDetach(s)
	if err != nil {
		return permit, err
	}
	switch {
	case s.Object == nil || !s.Object.Owned:
		return OwnersPermit{}, &DeniedError{s.Ref(), "its policy keeps it, or no row renders it"}
	case saved == nil || saved.UID == "":
		return OwnersPermit{}, &DeniedError{s.Ref(), "its node has no inventory yet"}
	}
	again := Again(p, n, saved, s, s.Live)
	if !again.Writes() && again.Action != plan.ActionKeep {
		why := again.Message
		if why == "" {
			why = fmt.Sprintf("the plan says %s (%s)", again.Action, again.Reason)
		}
		return OwnersPermit{}, &DeniedError{s.Ref(), why}
	}
	permit.adds = types.UID(saved.UID)
	return permit, nil
}

// PermitReturn permits a write that makes a restored inventory an owner of an object. The
// object must have had the lost inventory as owner, or tracking and entry must prove that
// it belongs to the node.
func PermitReturn(r *plan.Restoration, saved *inventory.Inventory, s *plan.Step) (OwnersPermit, error) {
	permit, err := PermitDetach(s)
	if err != nil {
		return permit, err
	}
	listed := slices.ContainsFunc(r.Objects, func(b plan.Belonging) bool { return b.Entry.Ref == s.Ref() && b.Live.UID == s.Live.UID })
	if !listed || s.Live.Record {
		return OwnersPermit{}, &DeniedError{s.Ref(), "it does not belong to the inventory"}
	}
	permit.adds = types.UID(saved.UID)
	return permit, nil
}

// PermitSuccession permits a write during a handover that replaces the operator's LynqNode
// with the node's inventory as an owner of an object.
func PermitSuccession(s *plan.Step, record types.UID) (OwnersPermit, error) {
	permit, err := PermitDetach(s)
	switch {
	case err != nil:
		return permit, err
	case s.Live.Record, s.Live.Orphaned, s.Live.Rare().Foreign != "", s.Entry.Deletion.Kept().WhenNodeGoes:
		return OwnersPermit{}, &DeniedError{s.Ref(), "the node's deletion doesn't delete it"}
	}
	permit.adds = record
	return permit, nil
}

// PermitHooksOwner permits a write that adds an inventory to the owners of the Secret with
// its deletion hooks, or removes it.
func PermitHooksOwner(inv *inventory.Inventory, secret types.UID) (OwnersPermit, error) {
	if secret == "" {
		return OwnersPermit{}, &DeniedError{lynq.Ref{Kind: "Secret", Namespace: inv.Node.Namespace, Name: inventory.HooksName(inv.Node.Name)}, "this run has not read it"}
	}
	return OwnersPermit{uid: secret, adds: types.UID(inv.UID)}, nil
}
