package apps

import (
	"fmt"
	"path"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// fluxRetry is how soon Flux retries after a failure.
const fluxRetry = "1m"

// gitRepository returns the object that makes Flux fetch the repository.
func (m *Maker) gitRepository() map[string]any {
	return map[string]any{
		"apiVersion": "source.toolkit.fluxcd.io/v1",
		"kind":       "GitRepository",
		"metadata":   m.fluxMetadata(m.options.Name),
		"spec": map[string]any{
			"interval": "1m",
			"url":      m.options.RepoURL,
			"ref":      map[string]any{"branch": m.options.Revision},
		},
	}
}

// fluxBootstrap returns the Kustomization that deploys the other objects.
func (m *Maker) fluxBootstrap(folder string) map[string]any {
	return map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1",
		"kind":       "Kustomization",
		"metadata":   m.fluxMetadata(m.options.Name + "-apps"),
		"spec": map[string]any{
			"interval":      policy.FluxInterval,
			"retryInterval": fluxRetry,
			"path":          "./" + path.Join(m.options.Path, folder),
			"prune":         true,
			"sourceRef":     map[string]any{"kind": "GitRepository", "name": m.options.Name},
		},
	}
}

// kustomization returns a Kustomization for a node's folder, with some of its resources.
func (m *Maker) kustomization(name string, resources []*form.Resource) map[string]any {
	return map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1",
		"kind":       "Kustomization",
		"metadata":   m.fluxMetadata(name),
		"spec":       m.fluxSpec(resources),
	}
}

// orderedKustomizations returns a Kustomization for each object in a node's folder. Each
// waits for those that it needs. A patch removes the folder's other objects from it.
func (m *Maker) orderedKustomizations(f *form.Form) []map[string]any {
	o := policy.OrderOf(f)
	all := make([]map[string]any, len(f.Wanted()))
	for i, r := range f.Wanted() {
		all[i] = m.kustomization(slotOf(r.ID), []*form.Resource{r})
		spec, _ := all[i]["spec"].(map[string]any)
		if policy.IsClaim(r) && o.Needed[i] {
			delete(spec, "wait") // it may wait for the pods that use it
		}
		spec["patches"] = []any{map[string]any{
			"target": map[string]any{"annotationSelector": wellknown.AnnotationResourceID + "!=" + r.ID},
			"patch":  "$patch: delete\napiVersion: v1\nkind: any\nmetadata:\n  name: any\n",
		}}
		var needs []any
		for _, j := range o.Before(i) {
			needs = append(needs, map[string]any{"name": slotOf(o.Resources[j].ID)})
		}
		if len(needs) > 0 {
			spec["dependsOn"] = needs
		}
	}
	return all
}

// fluxSpec returns the spec of a Kustomization with some resources of a node.
func (m *Maker) fluxSpec(resources []*form.Resource) map[string]any {
	spec := map[string]any{
		"interval":      policy.FluxInterval,
		"retryInterval": fluxRetry,
		"path":          slotDotPath,
		"prune":         true,
		"sourceRef":     map[string]any{"kind": "GitRepository", "name": m.options.Name},
	}
	if timeout := policy.LongestTimeout(resources); timeout > 0 {
		spec["wait"], spec["timeout"] = true, fmt.Sprintf("%.0fs", timeout.Seconds())
	}
	var rules []any
	for _, r := range resources {
		if paths := fluxLeftAlone(r); len(paths) > 0 {
			rules = append(rules, map[string]any{
				"paths":  paths,
				"target": map[string]any{"annotationSelector": wellknown.AnnotationResourceID + "=" + r.ID},
			})
		}
	}
	if len(rules) > 0 {
		spec["ignore"] = rules
	}
	return spec
}

func (m *Maker) fluxMetadata(name string) map[string]any {
	return map[string]any{"name": name, "namespace": m.options.Namespace}
}

// fluxLeftAlone returns JSON pointers to the fields of a resource that Flux doesn't
// update. Annotations do this for resources with creationPolicy Once.
func fluxLeftAlone(r *form.Resource) []any {
	if r.Policy.Creation.Once() || !naming.IsLabelValue(r.ID) {
		return nil
	}
	var pointers []any
	for _, p := range r.Policy.IgnoreFields {
		for _, twin := range policy.SecretTwins(r, p) {
			if pointer, ok := policy.JSONPointer(twin); ok && !slices.Contains(pointers, any(pointer)) {
				pointers = append(pointers, pointer)
			}
		}
	}
	return pointers
}
