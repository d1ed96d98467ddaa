package rbac

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// BuiltIn returns the kinds of Kubernetes that lynqctl can list, without their versions.
func BuiltIn() []lynq.APIResource {
	var all []lynq.APIResource
	for line := range strings.Lines(kinds.Served()) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		kind, group, _ := strings.Cut(f[0], ".")
		all = append(all, lynq.APIResource{Group: group, Kind: kind, Plural: f[1], Namespaced: f[2] == "namespaced"})
	}
	return all
}

// BuiltInText returns kinds in the format of kinds.txt.
func BuiltInText(all []lynq.APIResource) string {
	var b strings.Builder
	for _, r := range all {
		scope := "cluster"
		if r.Namespaced {
			scope = "namespaced"
		}
		b.WriteString(lynq.Ref{Group: r.Group, Kind: r.Kind}.GroupKind() + " " + r.Plural + " " + scope + "\n")
	}
	return b.String()
}

// Kinds maps kinds, of Kubernetes and others, to their resources.
type Kinds map[form.GroupKind]lynq.APIResource

// KnownKinds returns the kinds of Kubernetes and those that CustomResourceDefinitions
// in the inputs declare.
func KnownKinds(inputs *form.Inputs) Kinds {
	known := Kinds{}
	for _, r := range BuiltIn() {
		known.Add(r)
	}
	for key, plural := range inputs.Plurals {
		known.Add(lynq.APIResource{Group: key.Group, Kind: key.Kind, Plural: plural, Namespaced: !inputs.ClusterScoped[key]})
	}
	return known
}

// Add adds a kind.
func (k Kinds) Add(r lynq.APIResource) { k[form.GroupKind{Group: r.Group, Kind: r.Kind}] = r }

// Unknown returns entries of forms with unknown kinds, one for each kind. The server needn't serve
// the kinds of excluded entries.
func (k Kinds) Unknown(hubs []Hub) []*form.Resource {
	var unknown []*form.Resource
	seen := map[form.GroupKind]bool{}
	for _, h := range hubs {
		for _, f := range h.Forms {
			for _, r := range f.Resources {
				key := kindOf(r)
				if _, known := k[key]; !known && !seen[key] && !k.excludes(f, r) {
					seen[key] = true
					unknown = append(unknown, r)
				}
			}
		}
	}
	return unknown
}

func kindOf(r *form.Resource) form.GroupKind {
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	return form.GroupKind{Group: group, Kind: r.Kind}
}
