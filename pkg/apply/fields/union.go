package fields

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Leftovers finds fields of a live object that exclude a manifest's, as the server says with
// the paths of its refusal. An example is the default for rollingUpdate, after the form
// changed a Deployment's strategy to Recreate. It returns the manifest with null for each of
// them, and their set. It leaves out fields that other clients manage.
func Leftovers(manifest map[string]any, live *unstructured.Unstructured, paths []string) (map[string]any, *fieldpath.Set, error) {
	managed, err := Managed(live)
	if err != nil {
		return nil, nil, err
	}
	manifest = runtime.DeepCopyJSON(manifest)
	l := &leftovers{others: of(managed, false), set: fieldpath.NewSet()}
	all := l.others.Union(of(managed, true))
	for _, path := range paths {
		l.walk(manifest, live.Object, fieldsOfPath(path), spot{all: all})
	}
	return manifest, l.set, nil
}

type leftovers struct {
	others, set *fieldpath.Set
}

// fieldsOfPath splits a server's path into names. It has "[]" for every index or key.
func fieldsOfPath(path string) []string {
	var steps []string
	for rest := path; rest != ""; {
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			steps = append(steps, rest[:end])
		}
		if end == len(rest) {
			break
		}
		if rest[end] == '.' {
			rest = rest[end+1:]
			continue
		}
		_, after, _ := strings.Cut(rest[end:], "]")
		steps, rest = append(steps, "[]"), strings.TrimPrefix(after, ".")
	}
	return steps
}

// walk follows a server's path, into every item of lists.
func (l *leftovers) walk(want, live any, steps []string, s spot) {
	switch live := live.(type) {
	case map[string]any:
		into, is := want.(map[string]any)
		if !is || len(steps) == 0 {
			return
		}
		if len(steps) == 1 {
			l.excluded(into, live, steps[0], s)
			return
		}
		l.walk(into[steps[0]], live[steps[0]], steps[1:], s.field(steps[0]))
	case []any:
		into, is := want.([]any)
		if !is || len(steps) < 2 {
			return
		}
		for i, j := range pair(into, live, elements(s.all)) {
			if j >= 0 {
				l.walk(into[i], live[j], steps[1:], s.item(live[j]))
			}
		}
	}
}

// excluded drops the field that the server names, or its rivals.
func (l *leftovers) excluded(want, live map[string]any, name string, s spot) {
	if said, is := want[name]; is && said != nil {
		l.drop(want, live, s, rivals(s.names, name))
		inner, _ := said.(map[string]any)
		from, _ := live[name].(map[string]any)
		below := s.field(name)
		for _, member := range slices.Sorted(maps.Keys(inner)) {
			l.drop(inner, from, below, rivals(below.names, member))
		}
		return
	}
	l.drop(want, live, s, func(field string) bool { return field == name })
	if _, there := live[name]; !there { // the server names the result's field, and not always rightly
		for _, member := range slices.Sorted(maps.Keys(want)) {
			l.drop(want, live, s, rivals(s.names, member))
		}
	}
}

// drop sets fields to null that the manifest lacks.
func (l *leftovers) drop(want, live map[string]any, s spot, which func(string) bool) {
	for name := range live {
		said, is := want[name]
		place := s.field(name)
		if is && said != nil || !which(name) || l.others.Has(place.path) || subset(l.others, place.path) != nil {
			continue
		}
		want[name] = nil
		l.set.Insert(place.path)
	}
}

// field returns the position of a field.
func (s spot) field(name string) spot {
	pe := fieldpath.FieldNameElement(name)
	return spot{all: below(s.all, pe), path: slices.Concat(s.path, fieldpath.Path{pe}), names: slices.Concat(s.names, []string{name})}
}

// item returns the position of a list's item.
func (s spot) item(item any) spot {
	for _, pe := range elements(s.all) {
		if means(pe, item) {
			return spot{all: below(s.all, pe), path: slices.Concat(s.path, fieldpath.Path{pe}), names: s.names}
		}
	}
	return spot{path: slices.Concat(s.path, fieldpath.Path{{}}), names: s.names}
}

// rivals returns which fields a field excludes. names leads to the fields around it, without
// items of lists. Kubernetes' own kinds have these unions.
func rivals(names []string, field string) func(string) bool {
	members := membersOf(names)
	return func(other string) bool {
		if len(members) == 1 { // a named list: all but the name of its items
			return other != members[0] && field != members[0] && other != field
		}
		return other != field && slices.Contains(members, other) && slices.Contains(members, field)
	}
}

// membersOf returns the members of the union at some names. For a list whose items have any
// one field, it is the field that names an item.
func membersOf(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	switch names[len(names)-1] {
	case "volumes":
		return []string{"name"}
	case "livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop":
		return []string{"exec", "httpGet", "tcpSocket", "grpc", "sleep"}
	case "env":
		return []string{"value", "valueFrom"}
	case "valueFrom":
		return []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}
	case "envFrom":
		return []string{"configMapRef", "secretRef"}
	case "defaultBackend", "backend":
		return []string{"service", "resource"}
	case "clientConfig":
		return []string{"url", "service"}
	case "spec":
		return []string{"minAvailable", "maxUnavailable"}
	}
	return nil
}
