package form

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// readNamespaceDefaults reads spec.namespaceDefaults.
func readNamespaceDefaults(spec *object, hub *Hub) {
	for _, o := range spec.objects("namespaceDefaults") {
		kind, name := o.needText("kind"), o.needText("name")
		o.done()
		if kind.Text != "" {
			checkGroupKind(o, kind)
		}
		checkGlob(o, "name", name)
		hub.DefaultsAt = append(hub.DefaultsAt, o.value.Pos)
		hub.NamespaceDefaults = append(hub.NamespaceDefaults, lynq.NamespaceDefault{Kind: kind.Text, Name: name.Text})
	}
}

// checkGroupKind checks a kind with its group. Outside the core group, the group is
// required, because a kind of another group is a different kind.
func checkGroupKind(o *object, t Text) {
	kind, group, grouped := strings.Cut(t.Text, ".")
	switch {
	case !naming.IsDNS1123Label(strings.ToLower(kind)) || grouped && !naming.IsDNS1123Subdomain(group):
		o.fail(t.Pos, "write KIND, or KIND.GROUP", "%s %q is not a kind", o.name("kind"), t.Text)
	case !grouped && !slices.Contains(coreKinds(), kind):
		o.fail(t.Pos, "write "+kind+"."+groupHint(kind), "%s %q is not a kind of the core group", o.name("kind"), kind)
	}
}

// coreKinds returns the namespaced kinds of the core group that can exist permanently.
func coreKinds() []string {
	return []string{"ConfigMap", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController",
		"ResourceQuota", "Secret", "Service", "ServiceAccount"}
}

// groupHint returns the group of a known kind.
func groupHint(kind string) string {
	if kind == "Role" || kind == "RoleBinding" {
		return "rbac.authorization.k8s.io"
	}
	for _, s := range sections() {
		if s.Kind == kind && s.Group != "" {
			return s.Group
		}
	}
	return "GROUP"
}
