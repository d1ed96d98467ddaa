package decide

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// declared returns the known facts about the hooks of a node.
func (h hooking) declared(k lynq.NodeKey) *declaredHooks {
	inv := h.d.inventories[k]
	if inv == nil {
		return &declaredHooks{}
	}
	n := &declaredHooks{UID: inv.Node.UID, Owns: h.d.owned[k]}
	if i := slices.IndexFunc(h.d.in.Desired.Hooks, func(f FormHooks) bool { return ofForm(inv, f.Form) }); i >= 0 {
		n.Form = &h.d.in.Desired.Hooks[i]
	}
	return n
}

// findOwned finds the namespaces in which nodes own an object, for nodes with a hook in
// another namespace.
func (h hooking) findOwned() map[lynq.NodeKey]map[string]bool {
	owned := map[lynq.NodeKey]map[string]bool{}
	for k, inv := range h.d.inventories {
		if namespaces := ownedNamespaces(h.d.owner(k), inv, h.d.in.Observed.Live); namespaces != nil {
			owned[k] = namespaces
		}
	}
	return owned
}

// ReadHook returns the object of a node's recorded hook.
func ReadHook(p *plan.Plan, me plan.Owner, r *inventory.Entry, recorded []byte) (*plan.Object, error) {
	return declaredBy(p, me).Read(me, r, recorded)
}

// Account returns the ServiceAccount that must exist before a hook runs. It returns "" if
// the node's form is known, because the form decides then.
func Account(p *plan.Plan, me plan.Owner, o *plan.Object) (string, error) {
	return declaredBy(p, me).Account(o)
}

// declaredBy returns the known facts about the hooks of a node from the rules of a plan.
func declaredBy(p *plan.Plan, me plan.Owner) *declaredHooks {
	d := rulesOf(p)
	if d == nil {
		return &declaredHooks{}
	}
	return hooking{d}.declared(me.NodeKey)
}
