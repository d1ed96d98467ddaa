package rbac

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// keepTo replaces the rules for the whole cluster by one for each of these namespaces, for
// commands that keep to them. No Role allows objects without a namespace, so keepTo drops
// rules for these, and notes that.
func (g *gatherer) keepTo(namespaces []string) {
	if len(namespaces) == 0 {
		return
	}
	for _, from := range []map[ruleKey]*Rule{g.needed, g.optional} {
		for key, r := range from {
			if key.namespace != "" {
				continue
			}
			delete(from, key)
			if g.clusterScoped(r) {
				g.note("%s have no namespace, so no Role allows: %s. Without a ClusterRole, lynqctl treats these objects as unknown.", r.FullResource(), r.String())
				continue
			}
			for _, namespace := range namespaces {
				at := place{lynq.APIResource{Group: r.Group, Plural: r.Resource}, namespace, r.Names}
				for _, why := range r.Why {
					add(from, at, strings.ReplaceAll(why, "in the whole cluster", "in each namespace"), r.Verbs...)
				}
			}
		}
	}
}

// clusterScoped reports whether the objects of a rule have no namespace.
func (g *gatherer) clusterScoped(rule *Rule) bool {
	is := func(r lynq.APIResource) bool {
		return r.Group == rule.Group && r.Plural == rule.Resource && !r.Namespaced
	}
	for _, r := range g.Kinds {
		if is(r) {
			return true
		}
	}
	return slices.ContainsFunc(BuiltIn(), is)
}
