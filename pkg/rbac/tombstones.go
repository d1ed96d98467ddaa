package rbac

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// tombstones adds the rules for the objects of tombstones, which lynqctl reads and deletes.
func (g *gatherer) tombstones() {
	for _, h := range g.Hubs {
		for _, f := range h.Forms {
			for _, t := range f.Tombstones {
				r := &form.Resource{Pos: t.Pos, ID: t.ID, APIVersion: t.APIVersion, Kind: t.Kind, TargetNamespace: t.TargetNamespace}
				why := fmt.Sprintf("%s of form %s", t.ID, f.Name)
				g.tombstone(t.APIVersion, t.Kind, namespaceOf(f, r), why, t.Pos)
			}
		}
	}
	for _, t := range g.Tombstones {
		g.tombstone(t.APIVersion, t.Kind, t.Namespace, "tombstones of files", t.Pos)
	}
}

// tombstone adds the rules for one. An unknown kind has no name for rules. If the server doesn't
// serve it, its objects count as gone.
func (g *gatherer) tombstone(apiVersion, kind, namespace, why string, pos lynq.Pos) {
	if !g.is(Apply, Diff) {
		return
	}
	group, _ := lynq.SplitAPIVersion(apiVersion)
	r, known := g.Kinds[form.GroupKind{Group: group, Kind: kind}]
	if !known {
		g.note("%s: kind %s has no CustomResourceDefinition in the inputs: if the cluster serves it, add get and delete for it.", pos, kind)
		return
	}
	at := place{APIResource: r}
	if r.Namespaced {
		at.namespace = namespace
	}
	add(g.needed, at, why, "get", "delete")
}

// hooks adds the rules for objects that lynqctl runs before it deletes a node. Secrets have their
// manifests.
func (g *gatherer) hooks(f Form) {
	if len(f.Hooks()) == 0 {
		return
	}
	at := place{APIResource: core("Secret", "secrets"), namespace: f.Namespace}
	why := "hooks of the nodes of form " + f.Name + " (runOn: Delete)"
	if g.is(Apply) {
		add(g.needed, at, why, "get", "create", "update", "delete")
	}
	if g.is(Delete) {
		add(g.needed, at, why, "get", "update", "delete")
		add(g.needed, place{APIResource: core("ServiceAccount", "serviceaccounts"), namespace: f.Namespace}, why, "get")
	}
}
