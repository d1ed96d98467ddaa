package kube

import (
	"errors"
	"maps"
	"slices"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// catalog is what a server serves.
type catalog struct {
	groups map[string][]servedVersion // most preferred version first
}

// servedVersion is one version of a group.
type servedVersion struct {
	version string
	// stale: what serves it does not answer, so that nothing is known of it now.
	stale bool
	kinds map[string]lynq.APIResource
	lists map[string]bool // kinds that can be listed
}

// newCatalog reads the answers of a server.
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
		if r.ResponseKind == nil {
			continue // only its subresources are served
		}
		kind := r.ResponseKind.Kind
		if _, twice := served.kinds[kind]; twice {
			continue // the first is the kind's own, as kubectl has it
		}
		served.kinds[kind] = lynq.APIResource{
			Group: group, Version: v.Version, Kind: kind,
			Plural: r.Resource, Namespaced: r.Scope == apidiscovery.ScopeNamespace,
		}
		served.lists[kind] = slices.Contains(r.Verbs, "list")
	}
	return served
}

// listable gives every kind that can be listed, in the version that the server
// prefers, sorted by group and kind. A group whose extension does not answer is
// an error: what it holds is unknown. All others are given too.
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

// find gives the resource of a kind in one version, or with "" in the version
// that the server prefers among those that have it.
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
