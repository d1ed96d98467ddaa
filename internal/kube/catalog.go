package kube

import (
	"errors"
	"maps"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// catalog lists the kinds that a server serves.
type catalog struct {
	groups map[string][]servedVersion // the preferred version first
}

// servedVersion is one version of a group.
type servedVersion struct {
	version string
	// stale is set if the API's extension doesn't answer, so that its kinds are unknown.
	stale bool
	kinds map[string]lynq.APIResource
	lists map[string]bool // kinds with the verb list
	// inner are the kinds of subresources alone.
	inner []string
}

// newCatalog builds a catalog from a server's answers.
func newCatalog(answers ...[]apidiscovery.APIGroupDiscovery) *catalog {
	c := &catalog{groups: map[string][]servedVersion{}}
	for _, groups := range answers {
		for _, g := range groups {
			for _, v := range g.Versions {
				c.groups[g.Name] = append(c.groups[g.Name], newServedVersion(g.Name, v))
			}
		}
	}
	return c
}

func newServedVersion(group string, v apidiscovery.APIVersionDiscovery) servedVersion {
	served := servedVersion{
		version: v.Version,
		stale:   v.Freshness == apidiscovery.DiscoveryFreshnessStale,
		kinds:   make(map[string]lynq.APIResource, len(v.Resources)),
		lists:   make(map[string]bool, len(v.Resources)),
	}
	for _, r := range v.Resources {
		for _, sub := range r.Subresources {
			if sub.ResponseKind != nil {
				served.inner = append(served.inner, sub.ResponseKind.Kind)
			}
		}
		if r.ResponseKind == nil {
			continue // the server serves only its subresources
		}
		kind := r.ResponseKind.Kind
		if _, twice := served.kinds[kind]; twice {
			continue // the first one is the kind's own, as in kubectl
		}
		served.kinds[kind] = lynq.APIResource{
			Group: group, Version: v.Version, Kind: kind,
			Plural: r.Resource, Namespaced: r.Scope == apidiscovery.ScopeNamespace,
		}
		served.lists[kind] = slices.Contains(r.Verbs, "list")
	}
	return served
}

// listable returns every kind that can be listed, in the server's preferred version, sorted
// by group and kind. If an extension doesn't answer, listable returns an error for its
// group, because its kinds are unknown. It still returns all others.
func (c *catalog) listable() ([]lynq.APIResource, error) {
	var all []lynq.APIResource
	var errs []error
	for _, group := range slices.Sorted(maps.Keys(c.groups)) {
		seen := map[string]bool{}
		for _, v := range c.groups[group] {
			if v.stale {
				errs = append(errs, &lynq.GroupUnavailableError{Group: group, Version: v.version})
			}
			for _, kind := range slices.Sorted(maps.Keys(v.kinds)) {
				if v.lists[kind] && !seen[kind] {
					all = append(all, v.kinds[kind])
				}
				seen[kind] = true
			}
		}
	}
	return all, errors.Join(errs...)
}

// apiVersions returns each version as group/version, and each kind as group/version/Kind, sorted
// and each once. If an extension doesn't answer, it returns an error, because its kinds are
// unknown.
func (c *catalog) apiVersions() ([]string, error) {
	var all []string
	var errs []error
	for group, versions := range c.groups {
		for _, v := range versions {
			if v.stale {
				errs = append(errs, &lynq.GroupUnavailableError{Group: group, Version: v.version})
			}
			name := schema.GroupVersion{Group: group, Version: v.version}.String()
			all = append(all, name)
			for _, kind := range slices.AppendSeq(slices.Clone(v.inner), maps.Keys(v.kinds)) {
				all = append(all, name+"/"+kind)
			}
		}
	}
	slices.Sort(all)
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return slices.Compact(all), errors.Join(errs...)
}

// find returns the resource of a kind in one version. With "", it chooses the preferred
// version that has the kind.
func (c *catalog) find(group, version, kind string) (lynq.APIResource, error) {
	var searched []string
	stale := ""
	for _, v := range c.groups[group] {
		if version != "" && version != v.version {
			continue
		}
		searched = append(searched, v.version)
		if v.stale {
			stale = v.version
			continue
		}
		if r, ok := v.kinds[kind]; ok {
			return r, nil
		}
	}
	if stale != "" {
		return lynq.APIResource{}, &lynq.GroupUnavailableError{Group: group, Version: stale, Kind: kind}
	}
	if len(searched) == 0 && version != "" {
		searched = []string{version}
	}
	return lynq.APIResource{}, &meta.NoKindMatchError{
		GroupKind: schema.GroupKind{Group: group, Kind: kind}, SearchedVersions: searched,
	}
}
