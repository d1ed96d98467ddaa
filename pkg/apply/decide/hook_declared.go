package decide

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// An inventory and its Secret are a ConfigMap and a Secret: whoever may write those in a
// node's namespace may write anything into them. lynqctl runs with the rights of whoever
// started it. So a record alone makes it create nothing but Jobs and Pods in the node's own
// namespace, and where the form is known, only what the form declares.

// FormHooks holds the deletion hooks that a form declares.
type FormHooks struct {
	Form  lynq.FormKey
	Hooks []lynq.Hook
}

// declaring is what is known of the form of a node, nil where nothing is.
func (h hooking) declaring(k lynq.NodeKey) *FormHooks {
	inv := h.d.inventories[k]
	if inv == nil {
		return nil
	}
	i := slices.IndexFunc(h.d.in.Hooks, func(f FormHooks) bool { return ofForm(inv, f.Form) })
	if i < 0 {
		return nil
	}
	return &h.d.in.Hooks[i]
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
func (h hooking) undeclared(me plan.Owner, r *inventory.Entry) (why, fix string) {
	const apply = "make the row active and apply, which records the hook again"
	if !runnable(r) {
		return fmt.Sprintf("the inventory names %s of %s as a hook, and lynqctl runs only Jobs and Pods", r.Kind, r.APIVersion), "lynqctl records no such hook: find out who changed the inventory"
	}
	f := h.declaring(me.NodeKey)
	if f == nil {
		if r.Namespace == me.Namespace {
			return "", ""
		}
		return "only the inventory names it, and lynqctl runs no such hook in another namespace than the node's", "pass -f with the hub and the form of the node"
	}
	hook := f.declared(r)
	if hook == nil {
		return fmt.Sprintf("form %s has no %s %q with runOn: Delete", f.Form, r.Kind, r.ID), "restore the resource in the form"
	}
	if len(hook.Namespace) == 0 {
		if r.Namespace == me.Namespace {
			return "", ""
		}
		return fmt.Sprintf("form %s runs %q in the node's namespace, %s, and the inventory names another one", f.Form, r.ID, me.Namespace), apply
	}
	if !hook.Namespace.Matches(h.d.inventories[me.NodeKey].Node.UID, r.Namespace) {
		return fmt.Sprintf("form %s runs %q in another namespace than the inventory names", f.Form, r.ID), apply
	}
	if _, fixed := hook.Namespace.Fixed(); fixed || r.Namespace == me.Namespace || h.d.owned[me.NodeKey][r.Namespace] {
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
func (h hooking) findOwned() map[lynq.NodeKey]map[string]bool {
	owned := map[lynq.NodeKey]map[string]bool{}
	for k, inv := range h.d.inventories {
		elsewhere := func(r inventory.Entry) bool { return r.Namespace != k.Namespace }
		if !slices.ContainsFunc(inv.Hooks, elsewhere) {
			continue
		}
		me, namespaces := h.d.owner(k), map[string]bool{}
		for i := range inv.Entries {
			r := &inv.Entries[i]
			l := h.d.in.Live[r.Ref]
			if l == nil || r.UID == "" || r.UID != string(l.UID) || !me.Tracks(l) || l.TakenOver() != "" {
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
