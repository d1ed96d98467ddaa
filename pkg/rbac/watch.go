package rbac

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// watches adds the rules for what watch needs beside apply: it watches records and objects of the hub
// where apply lists them, and writes events, which people see beside its log.
func (g *gatherer) watches(h Hub) {
	if !slices.Contains(g.For, Watch) {
		return
	}
	add(g.needed, place{APIResource: core("ConfigMap", "configmaps")}, "inventories, which lynqctl looks for in the whole cluster", "list", "watch")
	events := place{core("Event", "events"), h.Namespace, nil}
	add(g.needed, events, "events of hub "+h.Name, "create", "patch")
	scopes := g.scopes(h)
	for _, f := range h.Forms {
		events.namespace = f.Namespace
		add(g.needed, events, "events of the nodes of form "+f.Name, "create", "patch")
		for _, r := range f.Resources {
			if namespace, wanted := scopes[kindOf(r)]; wanted {
				at := place{g.Kinds[kindOf(r)], namespace, nil}
				add(g.needed, at, "changes to the objects of hub "+h.Name, "list", "watch")
			}
		}
	}
}

// scopes returns where commands list the objects of each kind of a hub: their one namespace, or ""
// for the whole cluster.
func (g *gatherer) scopes(h Hub) map[form.GroupKind]string {
	scopes := map[form.GroupKind]string{}
	for _, f := range h.Forms {
		for _, r := range f.Resources {
			key := kindOf(r)
			if g.entry(f, r).excluded {
				continue // lynqctl doesn't read it
			}
			namespace := ""
			if g.Kinds[key].Namespaced {
				namespace = namespaceOf(f, r)
			}
			if other, seen := scopes[key]; seen && other != namespace {
				namespace = ""
			}
			scopes[key] = namespace
		}
	}
	return scopes
}
