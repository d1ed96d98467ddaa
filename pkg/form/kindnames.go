package form

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// kindNames has the kinds that a rule may mean, with their groups as in Ref.GroupKind.
type kindNames map[string]bool

// builtInNames returns the kinds that Kubernetes serves.
func builtInNames() kindNames {
	known := kindNames{}
	for _, name := range kinds.ServedNames() {
		known[name] = true
	}
	return known
}

// typo returns the kind that a misspelled one means. A kind of the list is never a typo. The
// list lacks kinds of the cluster, so another unknown kind may be right.
func (k kindNames) typo(name string) (string, bool) {
	if k[name] {
		return "", false
	}
	return suggest.Typo(name, slices.Sorted(maps.Keys(k)))
}

// bare returns the kinds without their groups.
func (k kindNames) bare() kindNames {
	names := kindNames{}
	for name := range k {
		kind, _, _ := strings.Cut(name, ".")
		names[kind] = true
	}
	return names
}

// checkKinds checks the kinds in rules of hubs and forms. A misspelled kind would match
// nothing, and the object that the rule protects would change.
func (l *loader) checkKinds() {
	if !slices.ContainsFunc(l.in.Hubs, func(h *Hub) bool { return len(h.Exclude)+len(h.NamespaceDefaults) > 0 }) &&
		!slices.ContainsFunc(l.in.Forms, func(f *Form) bool { return len(f.Exclude) > 0 }) {
		return
	}
	known := builtInNames()
	for key := range l.in.Plurals {
		known[lynq.Ref{Group: key.Group, Kind: key.Kind}.GroupKind()] = true
	}
	add := func(apiVersion, kind string) {
		group, _ := lynq.SplitAPIVersion(apiVersion)
		known[lynq.Ref{Group: group, Kind: kind}.GroupKind()] = true
	}
	for _, f := range l.in.Forms {
		for _, r := range f.Resources {
			add(r.APIVersion, r.Kind)
		}
		for _, t := range f.Tombstones {
			add(t.APIVersion, t.Kind)
		}
	}
	bare := known.bare()
	for _, h := range l.in.Hubs {
		l.checkExcluded(fmt.Sprintf("hub %q", h.Name), h.Exclude, bare)
		for i := range h.NamespaceDefaults {
			if near, is := known.typo(h.NamespaceDefaults[i].Kind); is {
				l.problems.Add(h.DefaultsAt[i], "did you mean "+near+"?", "hub %q: spec.namespaceDefaults[%d].kind %q is not a kind of Kubernetes or of your files", h.Name, i, h.NamespaceDefaults[i].Kind)
			}
		}
	}
	for _, f := range l.in.Forms {
		l.checkExcluded(fmt.Sprintf("form %q", f.Name), f.Exclude, bare)
	}
}

// checkExcluded reports misspelled kinds as errors. It warns about a kind that nobody knows:
// only objects of forms and tombstones can match, so the rule seems to match none.
func (l *loader) checkExcluded(subject string, rules lynq.Exclusions, known kindNames) {
	for i := range rules {
		e := &rules[i]
		near, is := known.typo(e.Kind)
		switch {
		case known[e.Kind] || !naming.IsDNS1123Label(strings.ToLower(e.Kind)): // or already reported
		case is:
			l.problems.Add(e.Pos, "did you mean "+near+"?", "%s: exclude: kind %q is not a kind of Kubernetes or of your files", subject, e.Kind)
		default:
			l.warnings.Add(e.Pos, "check its spelling", "%s: exclude: no form in your files has kind %s, so the rule excludes nothing", subject, e.Kind)
		}
	}
}

// checkSpelling refuses a misspelled kind of a group of Kubernetes.
func checkSpelling(o *object, at lynq.Pos, group, kind string) {
	if !kinds.BuiltIn(group) || kind == "" || kind == "List" {
		return
	}
	name := lynq.Ref{Group: group, Kind: kind}.GroupKind()
	if kinds.Serves(name) {
		return
	}
	if near, is := builtInNames().typo(name); is {
		near, _, _ = strings.Cut(near, ".")
		o.fail(at, "did you mean "+near+"?", "kind %q is not a kind of Kubernetes", kind)
	}
}
