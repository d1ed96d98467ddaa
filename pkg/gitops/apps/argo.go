package apps

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// argoFinalizer makes Argo CD delete an Application's objects with the Application,
// because the row is gone then. Retained objects have their own annotation.
const argoFinalizer = "resources-finalizer.argocd.argoproj.io"

// application returns the Application for a node's folder.
func (m *Maker) application(f *form.Form, ignores []ignoreRule) map[string]any {
	return map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "Application",
		"metadata": map[string]any{
			"name":       slotName,
			"namespace":  m.options.Namespace,
			"finalizers": []any{argoFinalizer},
		},
		"spec": m.applicationSpec(slotPath, ignores, policy.AllStuck(f)),
	}
}

// applicationSet returns an ApplicationSet, which creates an Application for each node's
// folder.
func (m *Maker) applicationSet(spread bool) map[string]any {
	folders, apps := "*", gitops.AppsFolder
	if spread {
		folders, apps = "*/*", gitops.AppsFolder+"/*"
	}
	stuck := !slices.ContainsFunc(m.forms, func(f Form) bool { return !policy.AllStuck(f.Form) })
	return map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "ApplicationSet",
		"metadata":   map[string]any{"name": m.options.Name, "namespace": m.options.Namespace},
		"spec": map[string]any{
			"goTemplate":        true,
			"goTemplateOptions": []any{"missingkey=error"},
			"generators": []any{map[string]any{"git": map[string]any{
				"repoURL":  m.options.RepoURL,
				"revision": m.options.Revision,
				"directories": []any{
					map[string]any{"path": path.Join(m.options.Path, folders)},
					map[string]any{"path": path.Join(m.options.Path, apps), "exclude": true},
				},
			}}},
			"template": map[string]any{
				"metadata": map[string]any{"name": "{{.path.basenameNormalized}}"},
				"spec":     m.applicationSpec("{{.path.path}}", m.all, stuck),
			},
		},
	}
}

// Generated returns the name that an ApplicationSet gives to a folder's Application, or ""
// without an ApplicationSet. It is .path.basenameNormalized, from SanitizeName of Argo CD.
func (m *Maker) Generated(folder string) string {
	if m.options.Kind != policy.AppsApplicationSet {
		return ""
	}
	const longest = 253
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(path.Base(folder)))
	return strings.Trim(name[:min(len(name), longest)], "-.")
}

// applicationSpec returns the spec of an Application. As in apply, pruning comes last and
// stops at the first failure. So Argo CD keeps unneeded objects until all others are
// healthy. Each object names its own namespace.
func (m *Maker) applicationSpec(folder string, ignores []ignoreRule, stuck bool) map[string]any {
	options := []any{"PruneLast=true"}
	spec := map[string]any{
		"project":     m.options.Project,
		"source":      map[string]any{"repoURL": m.options.RepoURL, "targetRevision": m.options.Revision, "path": folder},
		"destination": m.destination(),
	}
	if stuck {
		options = append(options, "FailOnSharedResource=true")
	}
	if len(ignores) > 0 {
		options = append(options, "RespectIgnoreDifferences=true")
		differences := make([]any, len(ignores))
		for i := range ignores {
			differences[i] = ignores[i].argo()
		}
		spec["ignoreDifferences"] = differences
	}
	spec["syncPolicy"] = map[string]any{
		"automated":   map[string]any{"prune": true, "selfHeal": true},
		"syncOptions": options,
	}
	return spec
}

// argoCluster is the cluster in which Argo CD runs.
const argoCluster = "https://kubernetes.default.svc"

// destination returns the cluster of the nodes' objects.
func (m *Maker) destination() map[string]any {
	if m.options.DestName != "" {
		return map[string]any{"name": m.options.DestName}
	}
	return map[string]any{"server": cmp.Or(m.options.DestServer, argoCluster)}
}

// argoBootstrap returns the Application that deploys the other objects. They are always in
// Argo CD's own cluster, so they need a project that allows this. It has no finalizer,
// because removing it must not delete all tenants.
func (m *Maker) argoBootstrap(folder string) map[string]any {
	return map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "Application",
		"metadata":   map[string]any{"name": m.options.Name + "-apps", "namespace": m.options.Namespace},
		"spec": map[string]any{
			"project": "default",
			"source": map[string]any{
				"repoURL": m.options.RepoURL, "targetRevision": m.options.Revision,
				"path": path.Join(m.options.Path, folder), "directory": map[string]any{"recurse": true},
			},
			"destination": map[string]any{"server": argoCluster, "namespace": m.options.Namespace},
			"syncPolicy":  map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}},
		},
	}
}

// ignoreRule has fields of objects that Argo CD doesn't update.
type ignoreRule struct {
	groupKind
	id    string // id of the resource; "" for all of the kind
	paths []string
}

// argo returns the rule in the format of an Application. If several resources have the
// same kind, a jq expression finds them by the annotation with their id.
func (r *ignoreRule) argo() map[string]any {
	rule := map[string]any{"kind": r.kind}
	if r.group != "" {
		rule["group"] = r.group
	}
	var pointers, expressions []any
	for _, p := range r.paths {
		pointer, ok := policy.JSONPointer(p)
		expression, sayable := policy.JQPath(p)
		switch {
		case ok && r.id == "":
			pointers = append(pointers, pointer)
		case sayable && r.id == "":
			expressions = append(expressions, expression)
		case sayable:
			expressions = append(expressions, fmt.Sprintf("select(.metadata.annotations[%s] == %s) | %s", policy.JQText(wellknown.AnnotationResourceID), policy.JQText(r.id), expression))
		}
	}
	if len(pointers) > 0 {
		rule["jsonPointers"] = pointers
	}
	if len(expressions) > 0 {
		rule["jqPathExpressions"] = expressions
	}
	return rule
}

// argoIgnores returns the rules for the resources of some forms.
func argoIgnores(forms []*form.Form) ([]ignoreRule, error) {
	type resource struct {
		*form.Resource
		form  string
		paths []string
	}
	kinds := map[groupKind][]resource{}
	for _, f := range forms {
		for _, r := range f.Wanted() {
			group, _ := lynq.SplitAPIVersion(r.APIVersion)
			key := groupKind{group, r.Kind}
			kinds[key] = append(kinds[key], resource{r, f.Name, argoLeftAlone(r)})
		}
	}
	var rules []ignoreRule
	for _, key := range slices.SortedFunc(maps.Keys(kinds), groupKind.compare) {
		resources := kinds[key]
		first := resources[0]
		if !slices.ContainsFunc(resources, func(r resource) bool { return !slices.Equal(r.paths, first.paths) }) {
			rules = append(rules, ignoreRule{groupKind: key, paths: first.paths})
			continue
		}
		byID := map[string]resource{}
		for _, r := range resources {
			other, twice := byID[r.ID]
			if twice && !slices.Equal(other.paths, r.paths) {
				return nil, fmt.Errorf("one ApplicationSet cannot tell resource %q of form %q from that of form %q, and not the same fields of them are left alone (use %s, or other ids)", r.ID, other.form, r.form, policy.AppsApplications)
			}
			if byID[r.ID] = r; !twice {
				rules = append(rules, ignoreRule{groupKind: key, id: r.ID, paths: r.paths})
			}
		}
	}
	return slices.DeleteFunc(rules, func(r ignoreRule) bool { return len(r.paths) == 0 }), nil
}

// groupKind is a kind without its version.
type groupKind struct{ group, kind string }

func (k groupKind) compare(o groupKind) int {
	return cmp.Or(strings.Compare(k.group, o.group), strings.Compare(k.kind, o.kind))
}

// argoLeftAlone returns the paths of a resource that Argo CD doesn't update. These are its
// ignoreFields, if Argo CD can express them. They also cover the content of a resource
// with creationPolicy Once.
func argoLeftAlone(r *form.Resource) []string {
	var paths []string
	add := func(path string) {
		for _, twin := range policy.SecretTwins(r, path) {
			if _, ok := policy.JQPath(twin); ok && !slices.Contains(paths, twin) {
				paths = append(paths, twin)
			}
		}
	}
	if !r.Policy.Creation.Once() {
		for _, p := range r.Policy.IgnoreFields {
			add(p)
		}
		return paths
	}
	for _, f := range r.Manifest.Fields {
		switch f.Key {
		case "apiVersion", "kind", "metadata":
		default:
			add("$['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(f.Key) + "']")
		}
	}
	slices.Sort(paths)
	return paths
}
