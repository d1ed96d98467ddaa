package plan

import (
	"errors"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// CheckSizes finds the nodes whose records a ConfigMap could not hold. Nothing
// may be touched then: what cannot be recorded must not be made.
func CheckSizes(plans []Plan) error {
	var errs []error
	for k := range plans {
		p := &plans[k]
		for i := range p.Nodes {
			if n := p.Nodes[i].Desired; n != nil {
				errs = append(errs, n.checkHooks())
			}
			if p.Nodes[i].Desired == nil || len(p.Nodes[i].Steps) < fewObjects {
				continue
			}
			if _, err := inventory.Encode(p.Nodes[i].largestInventory()); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// largestInventory is what the inventory of a node may grow to in a run.
func (p *NodePlan) largestInventory() *inventory.Inventory {
	next := p.NextInventory(p.Inventory, false)
	next.Entries = nil
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Object != nil {
			r := s.NextEntry()
			r.UID, r.Digest, r.Template, r.Fields, r.ResourceVersion = longest, longest, longest, longest, longest
			if !s.Applies() {
				r.Defaults = strings.Repeat("0", mostDefaults*shortHash)
			}
			if s.Object.Policy.ReapplyInterval > 0 {
				r.Written = time.Unix(0, 0).UTC()
			}
			next.Entries = append(next.Entries, r)
		} else if s.Entry != nil {
			next.Entries = append(next.Entries, *s.Entry)
		}
	}
	return next
}

// NextInventory is the inventory of a node with what the row and the form say now,
// and the records that it has, for it may be nil. With finalizer it gets the node's.
func (p *NodePlan) NextInventory(now *inventory.Inventory, finalizer bool) *inventory.Inventory {
	next := &inventory.Inventory{Node: p.Name, Namespace: p.Namespace, Finalizer: finalizer}
	if now != nil {
		next = now.Clone()
		next.Finalizer = next.Finalizer || finalizer
	}
	d := p.Desired
	next.Hub, next.Form, next.RowUID, next.Activate = d.Hub, d.Form, d.UID, "true"
	next.HubNamespace, next.FormNamespace, next.Format = p.HubNamespace, d.FormNamespace, 0
	next.TemplateGeneration, next.Extra, next.DependForms = d.TemplateGeneration, d.Extra, d.DependForms
	if !d.HooksLeftOut {
		next.Hooks = d.nextHooks(next.Hooks)
	}
	return next
}

const (
	// fewObjects always fit into a record, however long their names.
	fewObjects = 500
	// longest stands for what only the cluster will say.
	longest = "00000000-0000-0000-0000-000000000000"
)

// NextEntry is what is recorded of a wanted object from now on, with what is known
// of it from before.
func (s *Step) NextEntry() inventory.Entry {
	r := NewEntry(s.Object)
	r.Adopted = s.Adopted
	if s.Entry != nil && s.Entry.Hook() {
		r.Phase = s.Entry.Phase
	}
	if old := s.Entry; old != nil && (s.Live == nil || old.UID == string(s.Live.UID)) {
		r.UID, r.Digest, r.Template, r.Generation, r.ResourceVersion, r.Fields, r.Defaults, r.Ready =
			old.UID, old.Digest, old.Template, old.Generation, old.ResourceVersion, old.Fields, old.Defaults, old.Ready
		if s.Object.Policy.ReapplyInterval > 0 {
			r.Written = old.Written
		}
	}
	if s.Reason == ReasonCompleted {
		s.complete(&r)
	}
	return r
}

// NewEntry is what is recorded of an object that was never written.
func NewEntry(o *Object) inventory.Entry {
	return inventory.Entry{
		Ref: o.Ref, ID: o.ID, APIVersion: o.APIVersion, Order: o.Order, DeleteOrder: o.Policy.DeleteOrder,
		Creation: o.Policy.Creation, Deletion: o.Policy.Deletion, Conflict: o.Policy.Conflict, Patch: o.Policy.Patch,
		RunOn: o.Policy.RunOn, Data: o.Data, Unwaited: !o.Policy.WaitForReady,
	}
}
