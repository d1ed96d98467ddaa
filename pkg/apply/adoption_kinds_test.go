package apply_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// A form selects the parts of a manifest, and the parts with another value than usual.
type form struct {
	group     string // the API group of the custom resources
	on, other map[string]bool
	all       bool
	// whole is set if lists have all of their items or none, because a merge replaces them.
	whole bool
	parts []string // the requested parts
}

func (f *form) has(part string) bool {
	f.parts = append(f.parts, part)
	return f.all || f.on[part]
}

// item is has for an item of a list.
func (f *form) item(part string) bool {
	if f.whole {
		return f.has("lists")
	}
	return f.has(part)
}

func (f *form) value(part string) string {
	if f.other[part] {
		return "2"
	}
	return "1"
}

type (
	dict = map[string]any
	list = []any
)

// dict returns a map with the form's keys among the given ones. The form has them with the
// prefix.
func (f *form) dict(prefix string, keys ...string) dict {
	d := dict{}
	for _, key := range keys {
		if f.has(prefix + key) {
			d[key] = f.value(prefix + key)
		}
	}
	return d
}

// set sets a value that isn't empty.
func set(d dict, key string, v any) {
	switch v := v.(type) {
	case dict:
		if len(v) == 0 {
			return
		}
	case list:
		if len(v) == 0 {
			return
		}
	}
	d[key] = v
}

// manifest returns a manifest with labels and annotations.
func (f *form) manifest(apiVersion, kind string) dict {
	metadata := dict{}
	set(metadata, "labels", f.dict("label ", "a", "b"))
	set(metadata, "annotations", f.dict("annotation ", "a", "b"))
	return dict{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
}

// revision is an annotation that a controller writes.
const revision = "deployment.kubernetes.io/revision"

// adoptedKinds returns functions that build manifests of the adopted kinds.
func adoptedKinds() map[string]func(*form) map[string]any {
	return map[string]func(*form) map[string]any{
		"ConfigMap": func(f *form) map[string]any {
			m := f.manifest("v1", "ConfigMap")
			set(m, "data", f.dict("data ", "a", "b", "c"))
			if f.has("binary") {
				m["binaryData"] = dict{"d": "eA=="}
			}
			return m
		},
		"Secret": func(f *form) map[string]any {
			m := f.manifest("v1", "Secret")
			m["type"] = "Opaque"
			set(m, "stringData", f.dict("text ", "user", "password"))
			if f.has("data") {
				m["data"] = dict{"key": "eA=="}
			}
			return m
		},
		"Service": func(f *form) map[string]any {
			ports := list{dict{"name": "http", "port": int64(80)}}
			if f.item("udp") {
				ports = append(ports, dict{"name": "udp", "port": int64(53), "protocol": "UDP"})
			}
			if !f.whole && f.has("tcp") { // a strategic merge identifies ports only by their number
				ports = append(ports, dict{"name": "tcp", "port": int64(53), "targetPort": "dns"})
			}
			spec := dict{"ports": ports}
			if f.has("selector") { // managed as a whole
				spec["selector"] = dict{"app": f.value("selector")}
			}
			m := f.manifest("v1", "Service")
			m["spec"] = spec
			return m
		},
		"Deployment": deployment,
		"Widget":     widget,
	}
}

func deployment(f *form) map[string]any {
	app := dict{"name": "app", "image": "app:" + f.value("image")}
	var env, ports list
	for _, name := range []string{"A", "B", "C"} {
		if f.item("env " + name) {
			env = append(env, dict{"name": name, "value": f.value("env " + name)})
		}
	}
	for _, port := range []int64{80, 81} {
		if f.item("port " + string(rune('0'+port-80))) {
			ports = append(ports, dict{"containerPort": port})
		}
	}
	set(app, "env", env)
	set(app, "ports", ports)
	if f.has("args") { // managed as a whole
		app["args"] = list{"x", f.value("args")}
	}
	if f.has("limits") {
		app["resources"] = dict{"limits": dict{"memory": f.value("limits") + "Gi"}}
	}
	containers := list{app}
	if f.item("side") {
		containers = append(containers, dict{"name": "side", "image": "side:" + f.value("side")})
	}
	pod := dict{"containers": containers}
	if f.has("nodeSelector") { // managed as a whole
		pod["nodeSelector"] = dict{"disk": f.value("nodeSelector")}
	}
	if f.has("user") {
		pod["securityContext"] = dict{"runAsUser": int64(1)}
	}
	spec := dict{
		"replicas": int64(0), "selector": dict{"matchLabels": dict{"app": "web"}},
		"template": dict{"metadata": dict{"labels": dict{"app": "web"}}, "spec": pod},
	}
	if f.has("minReady") {
		spec["minReadySeconds"] = int64(3)
	}
	m := f.manifest("apps/v1", "Deployment")
	m["spec"] = spec
	return m
}

func widget(f *form) map[string]any {
	var items, tags list
	for _, name := range []string{"a", "b"} {
		// One item always exists, because the test can't always empty a list.
		if name != "a" && !f.has("part "+name) {
			continue
		}
		part := dict{"name": name}
		for _, key := range []string{"colour", "size"} {
			if f.has("part " + name + key) {
				part[key] = f.value("part " + name + key)
			}
		}
		items = append(items, part)
	}
	for _, tag := range []string{"x", "y"} {
		if f.has("tag " + tag) {
			tags = append(tags, tag)
		}
	}
	spec := dict{}
	if !f.whole { // a merge replaces lists of custom resources
		set(spec, "parts", items)
		set(spec, "tags", tags)
	}
	set(spec, "free", f.dict("free ", "a", "b"))
	if f.has("atomic") {
		spec["atomic"] = dict{"a": f.value("atomic"), "b": "b"}
	}
	if f.has("steps") {
		spec["steps"] = list{dict{"do": f.value("steps")}, dict{"do": "it"}}
	}
	m := f.manifest(f.group+"/v1", "Widget")
	set(m, "spec", spec)
	return m
}

func widgetsKind(group string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.` + group + `}
spec:
  group: ` + group + `
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              level: {type: integer, default: 3}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              atomic: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
              steps:
                type: array
                items: {type: object, properties: {do: {type: string}}}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, colour: {type: string}, size: {type: string}, level: {type: integer, default: 3}}
              tags:
                type: array
                x-kubernetes-list-type: set
                items: {type: string}
`
}

// text returns a manifest as JSON.
func text(t *testing.T, m map[string]any) string {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// setsOf returns the fields of an object's managers, without its status.
func setsOf(t *testing.T, u *unstructured.Unstructured) map[string]*fieldpath.Set {
	t.Helper()
	sets := map[string]*fieldpath.Set{}
	for _, e := range u.GetManagedFields() {
		if e.Subresource != "" || e.FieldsV1 == nil {
			continue
		}
		s := fieldpath.NewSet()
		if err := s.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err != nil {
			t.Fatal(err)
		}
		s = s.Difference(fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", revision))) // the annotation of a controller
		sets[e.Manager+" "+string(e.Operation)] = s
	}
	return sets
}

// contentOf returns an object without fields that every write changes, fields of
// controllers, and tracking.
func contentOf(u *unstructured.Unstructured) map[string]any {
	c := u.DeepCopy()
	delete(c.Object, "status")
	for _, f := range []string{"managedFields", "resourceVersion", "generation", "ownerReferences"} {
		unstructured.RemoveNestedField(c.Object, "metadata", f)
	}
	for _, f := range []string{"labels", "annotations"} {
		m, _, _ := unstructured.NestedMap(c.Object, "metadata", f)
		for key := range m {
			if wellknown.Reserved(key) || key == wellknown.AnnotationAdopted || key == revision {
				unstructured.RemoveNestedField(c.Object, "metadata", f, key)
			}
		}
	}
	prune(c.Object)
	return c.Object
}

// prune removes empty maps and lists. It returns true if nothing remains.
func prune(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			if prune(child) {
				delete(v, key)
			}
		}
		return len(v) == 0
	case []any:
		for _, item := range v {
			prune(item)
		}
		return len(v) == 0
	}
	return false
}

// without returns an object without the fields of a set, without some list items, and
// without maps and lists that this empties. It sorts items by name.
func without(m map[string]any, fields, items *fieldpath.Set) map[string]any {
	if items == nil {
		items = fieldpath.NewSet()
	}
	out, _ := strip(runtime.DeepCopyJSON(m), fields, items).(map[string]any)
	prune(out)
	return out
}

func strip(v any, fields, items *fieldpath.Set) any {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			pe := fieldpath.FieldNameElement(key)
			if fields.Members.Has(pe) && fields.WithPrefix(pe).Empty() {
				delete(v, key)
				continue
			}
			v[key] = strip(child, fields.WithPrefix(pe), items.WithPrefix(pe))
		}
	case []any:
		var kept []any
		for _, item := range slices.SortedFunc(slices.Values(v), byName) {
			pe, named := elementOf(item, fields)
			switch {
			case !named:
				kept = append(kept, item)
			case pe.Value != nil || items.Members.Has(pe):
			default:
				kept = append(kept, strip(item, fields.WithPrefix(pe), items.WithPrefix(pe)))
			}
		}
		return kept
	}
	return v
}

// byName orders items by the fields that may name them.
func byName(a, b any) int {
	name := func(v any) string {
		m, named := v.(map[string]any)
		if !named {
			return fmt.Sprint(v)
		}
		return fmt.Sprint(m["name"], m["containerPort"], m["port"], m["protocol"])
	}
	return strings.Compare(name(a), name(b))
}

// elementOf returns the path element of a list's item in a set.
func elementOf(item any, s *fieldpath.Set) (fieldpath.PathElement, bool) {
	var found fieldpath.PathElement
	named := false
	look := func(pe fieldpath.PathElement) {
		if means(pe, item) {
			found, named = pe, true
		}
	}
	s.Members.Iterate(look)
	s.Children.Iterate(look)
	return found, named
}

func means(pe fieldpath.PathElement, item any) bool {
	switch {
	case pe.Value != nil:
		return value.Equals(value.NewValueInterface(item), *pe.Value)
	case pe.Key != nil:
		m, _ := item.(map[string]any)
		return !slices.ContainsFunc(*pe.Key, func(f value.Field) bool {
			v, there := m[f.Name]
			return !there || !value.Equals(value.NewValueInterface(v), f.Value)
		})
	}
	return false
}

// valueAt returns the value at a path.
func valueAt(v any, path fieldpath.Path) (any, bool) {
	for _, pe := range path {
		switch at := v.(type) {
		case map[string]any:
			if pe.FieldName == nil {
				return nil, false
			}
			child, there := at[*pe.FieldName]
			if !there {
				return nil, false
			}
			v = child
		case []any:
			i := slices.IndexFunc(at, func(item any) bool { return means(pe, item) })
			if i < 0 {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// itemsIn returns the list items that are themselves in a set.
func itemsIn(s *fieldpath.Set, which func(fieldpath.Path) bool) *fieldpath.Set {
	items := fieldpath.NewSet()
	s.Iterate(func(p fieldpath.Path) {
		if last := p[len(p)-1]; last.Key != nil && which(p) {
			items.Insert(slices.Clone(p))
		}
	})
	return items
}

// unbare returns a set without maps and lists that contain only fields of another set,
// because their manager means nothing.
func unbare(s, own *fieldpath.Set) *fieldpath.Set {
	under := func(s *fieldpath.Set, p fieldpath.Path) bool {
		for _, pe := range p {
			s = s.WithPrefix(pe)
		}
		return !s.Empty()
	}
	for changed := true; changed; {
		changed = false
		s.Iterate(func(p fieldpath.Path) {
			if p[len(p)-1].FieldName != nil && under(own, p) && !under(s, p) {
				s, changed = s.Difference(fieldpath.NewSet(slices.Clone(p))), true
			}
		})
	}
	return s
}

// covers reports whether one value has everything in another.
func covers(a, b any) bool {
	switch b := b.(type) {
	case map[string]any:
		m, _ := a.(map[string]any)
		for key, v := range b {
			if !covers(m[key], v) {
				return false
			}
		}
		return true
	case []any:
		items, _ := a.([]any)
		return !slices.ContainsFunc(b, func(v any) bool {
			return !slices.ContainsFunc(items, func(item any) bool { return covers(item, v) })
		})
	}
	return a == b
}
