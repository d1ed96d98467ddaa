package rbac

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Rule allows verbs on one kind of object.
type Rule struct {
	Namespace string   `json:"namespace,omitempty"` // "" for the whole cluster
	Group     string   `json:"group,omitempty"`
	Resource  string   `json:"resource"`
	Names     []string `json:"names,omitempty"` // of the only objects, none for all
	Verbs     []string `json:"verbs"`
	// Why says what the rule is for.
	Why []string `json:"why"`
	// Optional is set if the commands work without it, and say less.
	Optional bool `json:"optional,omitempty"`
}

// ruleKey identifies a rule.
type ruleKey struct{ namespace, group, resource, names string }

// rules gathers them.
type rules struct{ needed, optional map[ruleKey]*Rule }

func newRules() rules { return rules{map[ruleKey]*Rule{}, map[ruleKey]*Rule{}} }

// place is a kind in a namespace, with some names or all, for which a rule holds.
type place struct {
	lynq.APIResource
	namespace string
	names     []string
}

func add(into map[ruleKey]*Rule, at place, why string, verbs ...string) {
	if len(verbs) == 0 {
		return
	}
	key := ruleKey{at.namespace, at.Group, at.Plural, strings.Join(at.names, ",")}
	r := into[key]
	if r == nil {
		r = &Rule{Namespace: at.namespace, Group: at.Group, Resource: at.Plural, Names: at.names}
		into[key] = r
	}
	r.Verbs = distinct(append(r.Verbs, verbs...))
	r.Why = distinct(append(r.Why, why))
}

// distinct returns the values, each once, with verbs in the order in which people write them.
func distinct(values []string) []string {
	order := []string{"get", "list", "watch", "create", "patch", "update", "delete"}
	at := func(s string) int {
		if i := slices.Index(order, s); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a, b)) })
	return slices.Compact(values)
}

// sorted returns the rules in the order of the output, without those that another rule covers. A rule
// for the cluster covers one for a namespace, a rule without names one with names, and a needed rule
// an optional one.
func (rs rules) sorted(optional bool) []Rule {
	var all []Rule
	for _, from := range []map[ruleKey]*Rule{rs.needed, rs.optional} {
		for key, r := range from {
			left := *r
			left.Optional = r == rs.optional[key]
			left.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(verb string) bool {
				return rs.allows(key, r, verb)
			})
			if len(left.Verbs) > 0 && (optional || !left.Optional) {
				all = append(all, left)
			}
		}
	}
	slices.SortFunc(all, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), compareBools(a.Optional, b.Optional), cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Resource, b.Resource), slices.Compare(a.Names, b.Names))
	})
	return all
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// allows reports whether another rule than r allows a verb already.
func (rs rules) allows(key ruleKey, r *Rule, verb string) bool {
	for _, ns := range []string{key.namespace, ""} {
		for _, names := range []string{key.names, ""} {
			for _, from := range []map[ruleKey]*Rule{rs.needed, rs.optional} {
				other := from[ruleKey{ns, key.group, key.resource, names}]
				optional := other != nil && other == rs.optional[ruleKey{ns, key.group, key.resource, names}]
				if other != nil && other != r && slices.Contains(other.Verbs, verb) && (!optional || r == rs.optional[key]) {
					return true
				}
			}
		}
	}
	return false
}

// FullResource returns "configmaps", or "deployments.apps".
func (r *Rule) FullResource() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// String returns the rule in a line: get,list configmaps shop.
func (r *Rule) String() string {
	return strings.TrimSpace(strings.Join(r.Verbs, ",") + " " + r.FullResource() + " " + r.Namespace)
}

// Purpose says what the rule is for.
func (r *Rule) Purpose() string {
	why := strings.Join(r.Why, "; ")
	if r.Optional {
		return "optional: " + why
	}
	return why
}
