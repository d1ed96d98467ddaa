package decide

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Permit allows one deletion of one object, with this uid and version. Only this package
// makes a Permit, after it has checked the rules. The clients that delete objects require a
// Permit, so code that skips the gate doesn't compile. The zero value permits nothing.
type Permit struct {
	ref     lynq.Ref
	uid     types.UID
	version string
	reason  plan.Reason
	trial   bool
}

// Ref returns the object.
func (p Permit) Ref() lynq.Ref { return p.ref }

// UID returns the uid, a precondition of the deletion. It is never "" in a permit from the
// gate.
func (p Permit) UID() types.UID { return p.uid }

// Version returns the resource version that was decided on, also a precondition. It is ""
// for records, because changes by other clients don't affect that decision.
func (p Permit) Version() string { return p.version }

// Reason says why lynqctl deletes the object.
func (p Permit) Reason() plan.Reason { return p.reason }

// Check returns an error if the permit doesn't cover a deletion. The zero value covers
// none, and a trial permit covers dry runs only.
func (p Permit) Check(dryRun bool) error {
	if p.uid == "" || p.trial && !dryRun {
		return fmt.Errorf("internal error: nothing permits the deletion of %s (report this bug)", p.ref)
	}
	return nil
}

// DeniedError means that the gate refused a deletion or a change of owners.
type DeniedError struct {
	Object lynq.Ref
	// Why says why the gate refused.
	Why string
}

// Error implements error.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("lynqctl neither deletes %s nor changes its owners: %s", e.Object, e.Why)
}

// Permits decides again whether a step may delete its object, in the version that the step
// has read. The error is a *DeniedError. It is a pure function.
func Permits(p *plan.Plan, n *plan.NodePlan, saved *inventory.Inventory, s *plan.Step) (Permit, error) {
	if len(p.Refusals) > 0 {
		return Permit{}, &DeniedError{s.Ref(), p.Refusals[0].What}
	}
	permit, err := Trial(p, n, saved, s)
	permit.trial = false
	return permit, err
}

// Trial works like Permits for a dry run. A dry run may try a step that a guard refuses.
func Trial(p *plan.Plan, n *plan.NodePlan, saved *inventory.Inventory, s *plan.Step) (Permit, error) {
	ref := s.Ref()
	if s.Live == nil || s.Live.UID == "" {
		return Permit{}, &DeniedError{ref, "this run has not read it"}
	}
	if s.WrittenAs != "" {
		return Permit{}, &DeniedError{ref, "this run wrote the same object as " + s.WrittenAs}
	}
	again := Again(p, n, saved, s, s.Live)
	if !again.Deletes() {
		why := again.Message
		if why == "" {
			why = fmt.Sprintf("the plan says %s (%s)", again.Action, again.Reason)
		}
		return Permit{}, &DeniedError{ref, why}
	}
	return Permit{ref, s.Live.UID, s.Live.ResourceVersion, again.Reason, true}, nil
}

// PermitInventory permits the deletion of the inventory of a node that is deleted. left are
// the entries that are still recorded and that lynqctl didn't leave to the garbage
// collector. referring are absent objects that still refer to the inventory: the garbage
// collector would delete them with it, and no guard has counted them.
func PermitInventory(p *plan.NodePlan, saved *inventory.Inventory, left []inventory.Entry, referring []lynq.Ref) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: saved.Node.Namespace, Name: inventory.Name(saved.Node.Name)}
	switch {
	case p.Desired != nil:
		return Permit{}, &DeniedError{ref, "a row renders the node"}
	case len(left) > 0:
		return Permit{}, &DeniedError{ref, fmt.Sprintf("it still records %s, such as %s", phrase.Count(len(left), "object"), left[0].Ref)}
	case len(referring) > 0:
		return Permit{}, &BehindError{ref, referring}
	}
	if saved.UID == "" { // a killed run had begun to restore the inventory, and only the copy exists
		ref.Name = inventory.CopyName(saved.Node.Name)
		return Permit{ref, types.UID(saved.Copy), "", plan.ReasonNodeGone, false}, nil
	}
	return Permit{ref, types.UID(saved.UID), saved.ResourceVersion, plan.ReasonNodeGone, false}, nil
}

// PermitRestore permits the deletion of an inventory that somebody deleted, so that lynqctl
// can create it again. r says whether that is safe. referring are objects that still refer to
// it, although the run removed the references that it saw. The garbage collector would delete
// them with the old inventory.
func PermitRestore(saved *inventory.Inventory, r *plan.Replacement, referring []lynq.Ref) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: saved.Node.Namespace, Name: inventory.Name(saved.Node.Name)}
	switch {
	case r == nil:
		return Permit{}, &DeniedError{ref, "this run hasn't checked which objects refer to it"}
	case r.Stays != nil:
		return Permit{}, r.Stays
	case len(referring) > 0:
		return Permit{}, &BehindError{ref, referring}
	}
	return Permit{ref, types.UID(saved.UID), saved.ResourceVersion, plan.ReasonUpToDate, false}, nil
}

// BehindError means that objects refer to an inventory that the run would delete, and that
// the server's reads lacked them, or their references. Such a server lags.
type BehindError struct {
	Inventory lynq.Ref
	Objects   []lynq.Ref // at least one
}

// Error implements error.
func (e *BehindError) Error() string {
	more := ""
	if n := len(e.Objects) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("%s%s belongs to inventory %s/%s, and the API server's answers are older than that. lynqctl keeps the inventory (run again)",
		e.Objects[0].Full(), more, e.Inventory.Namespace, e.Inventory.Name)
}

// PermitHub permits the deletion of a hub record if the hub has no nodes.
func PermitHub(record *inventory.Hub, nodes int) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: record.Namespace, Name: inventory.HubName(record.Name)}
	if nodes > 0 {
		return Permit{}, &DeniedError{ref, "the hub still has " + phrase.Count(nodes, "node")}
	}
	return Permit{ref, types.UID(record.UID), record.ResourceVersion, plan.ReasonNodeDeleted, false}, nil
}

// PermitHistory permits the deletion of a hub's history if the hub has no nodes. No object
// refers to a history, so a version isn't required. Other runs may add to it meanwhile.
func PermitHistory(hub lynq.HubKey, nodes int, uid types.UID) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: hub.Namespace, Name: wellknown.HistoryPrefix + hub.Name}
	if nodes > 0 {
		return Permit{}, &DeniedError{ref, "the hub still has " + phrase.Count(nodes, "node")}
	}
	return Permit{ref, uid, "", plan.ReasonNodeDeleted, false}, nil
}

// PermitCopy permits the deletion of the copy that lynqctl made while it restored an
// inventory. No object refers to a copy.
func PermitCopy(inv *inventory.Inventory) (Permit, error) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: inv.Node.Namespace, Name: inventory.CopyName(inv.Node.Name)}
	if inv.UID == "" {
		return Permit{}, &DeniedError{ref, "its inventory is not restored yet"}
	}
	return Permit{ref, types.UID(inv.Copy), "", plan.ReasonUpToDate, false}, nil
}

// PermitHooks permits the deletion of the Secret with the manifests of a node's deletion
// hooks, if the inventory names no hook. No object refers to the Secret.
func PermitHooks(inv *inventory.Inventory, uid types.UID, version string) (Permit, error) {
	ref := lynq.Ref{Kind: "Secret", Namespace: inv.Node.Namespace, Name: inventory.HooksName(inv.Node.Name)}
	if len(inv.Hooks) > 0 {
		return Permit{}, &DeniedError{ref, "the inventory names a hook in it"}
	}
	return Permit{ref, uid, version, plan.ReasonRemoved, false}, nil
}

// PermitHandover permits the deletion of an object of the Lynq operator: a LynqHub, a
// LynqForm, or a LynqNode after lynqctl took over its objects. The deletion orphans objects
// that still refer to it.
func PermitHandover(ref lynq.Ref, uid types.UID, version string) (Permit, error) {
	if ref.Group != wellknown.Group {
		return Permit{}, &DeniedError{ref, "it is not an object of the Lynq operator"}
	}
	return Permit{ref, uid, version, plan.ReasonTakenOver, false}, nil
}
