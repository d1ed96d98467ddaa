package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Permit allows one deletion: of this object, with this uid, in this version. Only this package makes one, and only where the gate says
// yes. The clients that delete objects take a permit, so code that skips the gate does
// not compile. The zero value permits nothing.
type Permit struct {
	ref     lynq.Ref
	uid     types.UID
	version string
	reason  Reason
	trial   bool
}

// Ref is the object.
func (p Permit) Ref() lynq.Ref { return p.ref }

// UID is a precondition of the write, never "" in a permit that the gate made.
func (p Permit) UID() types.UID { return p.uid }

// Version is the resource version that the decision holds for, a precondition too. It is
// "" for records that others may change without any effect on the decision.
func (p Permit) Version() string { return p.version }

// Reason is why the object is deleted.
func (p Permit) Reason() Reason { return p.reason }

// Check returns an error where the permit does not cover a deletion: it is the zero value,
// or it covers only a dry run.
func (p Permit) Check(dryRun bool) error {
	if p.uid == "" || p.trial && !dryRun {
		return fmt.Errorf("nothing permits the deletion of %s: this is a fault of lynqctl (report it)", p.ref)
	}
	return nil
}

// OwnersPermit allows one write to change the owner references of an object. It allows no
// deletion. Only PermitOwners makes one, and the zero value permits nothing.
type OwnersPermit struct{ uid types.UID }

// Given tells whether the permit is not the zero value.
func (p OwnersPermit) Given() bool { return p.uid != "" }

// PermitOwners permits a change of the owner references of the object that a step has
// seen: the garbage collector deletes by them. It never permits one for an object that an
// exclusion protects.
func PermitOwners(s *Step) (OwnersPermit, error) {
	switch {
	case s.Live == nil || s.Live.UID == "":
		return OwnersPermit{}, &DeniedError{s.ref(), "this run has not read it"}
	case s.Reason == ReasonExcluded, s.Object != nil && s.Object.Exclusion != nil:
		return OwnersPermit{}, &DeniedError{s.ref(), "an exclusion protects it"}
	}
	return OwnersPermit{s.Live.UID}, nil
}

// DeniedError is the gate's no to a step that was about to delete.
type DeniedError struct {
	Object lynq.Ref
	// Why is what the gate says of the object now.
	Why string
}

// Error implements error.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("lynqctl neither deletes %s nor changes its owners: %s", e.Object, e.Why)
}

// Permit asks the gate again for a step that is about to delete its object, as the step
// has seen it. The error is a *DeniedError. It is a pure function.
func (p *Plan) Permit(n *NodePlan, saved *inventory.Inventory, s *Step) (Permit, error) {
	if len(p.Refusals) > 0 {
		return Permit{}, &DeniedError{s.ref(), p.Refusals[0].What}
	}
	permit, err := p.Trial(n, saved, s)
	permit.trial = false
	return permit, err
}

// Trial is Permit for a dry run, which may try what a guard refuses.
func (p *Plan) Trial(n *NodePlan, saved *inventory.Inventory, s *Step) (Permit, error) {
	ref := s.ref()
	if s.Live == nil || s.Live.UID == "" {
		return Permit{}, &DeniedError{ref, "this run has not read it"}
	}
	again := p.decideAgain(NewOwner(n.NodeKey, n.Hub, saved), s.recordedIn(saved), s.Live)
	if !again.deletes() {
		why := again.Message
		if why == "" {
			why = fmt.Sprintf("the plan says %s (%s)", again.Action, again.Reason)
		}
		return Permit{}, &DeniedError{ref, why}
	}
	return Permit{ref, s.Live.UID, s.Live.ResourceVersion, again.Reason, true}, nil
}

// ref is the object of the step.
func (s *Step) ref() lynq.Ref {
	if s.Object != nil {
		return s.Object.Ref
	}
	return s.Entry.Ref
}

// deletes tells whether the step deletes an object that exists, or leaves it to the
// garbage collector.
func (s *Step) deletes() bool {
	switch s.Action {
	case ActionDelete, ActionCollect, ActionPurge, ActionRecreate:
		return s.Live != nil
	case ActionCreate: // a hook deletes what an earlier try of it left
		return s.Live != nil && s.Object != nil && s.Object.Policy.Hook()
	}
	return false
}

// Deletes tells whether plans delete any object.
func Deletes(plans []Plan) bool {
	for i := range plans {
		for j := range plans[i].Nodes {
			for k := range plans[i].Nodes[j].Steps {
				if plans[i].Nodes[j].Steps[k].deletes() {
					return true
				}
			}
		}
	}
	return false
}

// PermitInventory permits the deletion of the inventory of a node that leaves. left are
// the entries that are still recorded and were not left to the garbage collector: with
// the inventory, the collector deletes every object that refers to it.
func (p *NodePlan) PermitInventory(saved *inventory.Inventory, left []inventory.Entry) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: saved.Namespace, Name: inventory.Name(saved.Node)}
	switch {
	case p.Desired != nil:
		return Permit{}, &DeniedError{ref, "a row renders the node"}
	case len(left) > 0:
		return Permit{}, &DeniedError{ref, fmt.Sprintf("it still records %s, such as %s", lynq.Count(len(left), "object"), left[0].Ref)}
	}
	if saved.UID == "" { // a run was killed while it restored the inventory, and left the copy
		ref.Name = inventory.CopyName(saved.Node)
		return Permit{ref, types.UID(saved.Copy), "", ReasonNodeGone, false}, nil
	}
	return Permit{ref, types.UID(saved.UID), saved.ResourceVersion, ReasonNodeGone, false}, nil
}

// PermitRestore permits the deletion of an inventory that somebody deleted and that is
// created again, once r says that it may go: with the old inventory, the garbage
// collector deletes every object that still refers to it.
func PermitRestore(saved *inventory.Inventory, r *Replacement) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: saved.Namespace, Name: inventory.Name(saved.Node)}
	switch {
	case r == nil:
		return Permit{}, &DeniedError{ref, "this run has not looked which objects refer to it"}
	case r.Stays != nil:
		return Permit{}, r.Stays
	}
	return Permit{ref, types.UID(saved.UID), saved.ResourceVersion, ReasonUpToDate, false}, nil
}

// PermitHub permits the deletion of the record of a hub that has no node any more.
func PermitHub(record *inventory.Hub, nodes int) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: record.Namespace, Name: inventory.HubName(record.Name)}
	if nodes > 0 {
		return Permit{}, &DeniedError{ref, "the hub still has " + lynq.Count(nodes, "node")}
	}
	return Permit{ref, types.UID(record.UID), record.ResourceVersion, ReasonNodeDeleted, false}, nil
}

// PermitCopy permits the deletion of the copy of an inventory, which lynqctl made while
// it restored that inventory. Nothing refers to a copy.
func PermitCopy(inv *inventory.Inventory) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: inv.Namespace, Name: inventory.CopyName(inv.Node)}
	if inv.UID == "" {
		return Permit{}, &DeniedError{ref, "its inventory is not restored yet"}
	}
	return Permit{ref, types.UID(inv.Copy), "", ReasonUpToDate, false}, nil
}

// PermitHooks permits the deletion of the Secret that holds the manifests of a node's
// deletion hooks, where the inventory names none of them. Nothing refers to the Secret.
func PermitHooks(inv *inventory.Inventory, uid types.UID, version string) (Permit, error) {
	ref := lynq.Ref{Kind: "Secret", Namespace: inv.Namespace, Name: inventory.HooksName(inv.Node)}
	if len(inv.Hooks) > 0 {
		return Permit{}, &DeniedError{ref, "the inventory names a hook in it"}
	}
	return Permit{ref, uid, version, ReasonRemoved, false}, nil
}

// PermitHandover permits the deletion of an object of the Lynq operator: a LynqNode whose
// objects are all handed over, a LynqHub or a LynqForm. The deletion orphans whatever still
// refers to the object.
func PermitHandover(ref lynq.Ref, uid types.UID, version string) (Permit, error) {
	if ref.Group != lynq.Group {
		return Permit{}, &DeniedError{ref, "it is not an object of the Lynq operator"}
	}
	return Permit{ref, uid, version, ReasonTakenOver, false}, nil
}
