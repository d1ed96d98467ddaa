package plan

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// An inventory and its Secret are a ConfigMap and a Secret: whoever may write those in a
// node's namespace may write anything into them. lynqctl runs with the rights of whoever
// started it. So a record alone makes it create nothing but Jobs and Pods in the node's own
// namespace, and where the form is known, only what the form declares.

// FormHooks are what a form says of its hooks.
type FormHooks struct {
	Form  lynq.FormKey
	Hooks []lynq.Hook
}

// declaring is what is known of the form of a node, nil where nothing is.
func (d *decider) declaring(k NodeKey) *FormHooks {
	inv := d.inventories[k]
	if inv == nil {
		return nil
	}
	i := slices.IndexFunc(d.Hooks, func(f FormHooks) bool { return ofForm(inv, f.Form) })
	if i < 0 {
		return nil
	}
	return &d.Hooks[i]
}

// declared is the hook of a form that a record names, nil for none.
func (f *FormHooks) declared(r *inventory.Entry) *lynq.Hook {
	i := slices.IndexFunc(f.Hooks, func(h lynq.Hook) bool {
		return h.ID == r.ID && h.Group == r.Group && h.Kind == r.Kind
	})
	if i < 0 {
		return nil
	}
	return &f.Hooks[i]
}

// undeclared is why a recorded hook is not run, and what to do about it; "" for one that
// may run.
func (d *decider) undeclared(me Owner, r *inventory.Entry) (why, fix string) {
	const apply = "make the row active and apply, which records the hook again"
	if !runnable(r) {
		return fmt.Sprintf("the inventory names %s of %s as a hook, and lynqctl runs only Jobs and Pods", r.Kind, r.APIVersion), "lynqctl records no such hook: find out who changed the inventory"
	}
	f := d.declaring(me.NodeKey)
	if f == nil {
		if r.Namespace == me.Namespace {
			return "", ""
		}
		return "only the inventory names it, and lynqctl runs no such hook in another namespace than the node's", "pass -f with the hub and the form of the node"
	}
	h := f.declared(r)
	if h == nil {
		return fmt.Sprintf("form %s has no %s %q with runOn: Delete", f.Form, r.Kind, r.ID), "restore the resource in the form"
	}
	if len(h.Namespace) == 0 {
		if r.Namespace == me.Namespace {
			return "", ""
		}
		return fmt.Sprintf("form %s runs %q in the node's namespace, %s, and the inventory names another one", f.Form, r.ID, me.Namespace), apply
	}
	if !h.Namespace.Matches(d.inventories[me.NodeKey].RowUID, r.Namespace) {
		return fmt.Sprintf("form %s runs %q in another namespace than the inventory names", f.Form, r.ID), apply
	}
	if _, fixed := h.Namespace.Fixed(); fixed || r.Namespace == me.Namespace || d.owned[me.NodeKey][r.Namespace] {
		return "", ""
	}
	return fmt.Sprintf("the row makes the namespace of %q in form %s, and the node owns nothing in namespace %s that would prove it", r.ID, f.Form, r.Namespace), apply
}

// runnable tells whether a record names what can be run.
func runnable(r *inventory.Entry) bool {
	switch r.Kind {
	case "Job":
		return r.Group == "batch" && r.APIVersion == "batch/v1"
	case "Pod":
		return r.Group == "" && r.APIVersion == "v1"
	}
	return false
}

// findOwned finds where nodes own something, of those with a hook in another namespace: an
// object in it, or the Namespace. Whoever may write the inventory can't write there.
func (d *decider) findOwned() map[NodeKey]map[string]bool {
	owned := map[NodeKey]map[string]bool{}
	for k, inv := range d.inventories {
		elsewhere := func(r inventory.Entry) bool { return r.Namespace != k.Namespace }
		if !slices.ContainsFunc(inv.Hooks, elsewhere) {
			continue
		}
		me, namespaces := d.owner(k), map[string]bool{}
		for i := range inv.Entries {
			r := &inv.Entries[i]
			l := d.Live[r.Ref]
			if l == nil || r.UID == "" || r.UID != string(l.UID) || !me.Tracks(l) || l.takenOver() != "" {
				continue
			}
			if namespaces[r.Namespace] = true; r.Group == "" && r.Kind == "Namespace" {
				namespaces[r.Name] = true
			}
		}
		owned[k] = namespaces
	}
	return owned
}
