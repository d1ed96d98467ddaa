package fields

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/test/sites"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// takeApplied takes the fields that lynq applied. It returns false if there was nothing to
// take.
func (s *site) takeApplied(m map[string]any, force bool) bool {
	s.T.Helper()
	return s.sendPatch(m, func() ([]byte, error) {
		live := s.Get(m)
		managed, err := Managed(live)
		if err != nil {
			return nil, err
		}
		takeover := TakeoverOfApplied(managed, force)
		entries, _, changed, err := takeover.Take(live.GetManagedFields(), managed)
		if err != nil || !changed {
			return nil, err
		}
		return ManagersPatch(live, entries)
	})
}

// TestTaken checks an object of another tool that gets a form. Fields outside the form keep
// their values and managers. Fields that the form drops are removed, and list items as a
// whole.
func TestTaken(t *testing.T) {
	s := newSite(t)
	web := sites.Parse(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {labels: {tier: "1"}}
spec:
  replicas: 0
  minReadySeconds: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: a, env: [{name: A, value: a}], ports: [{containerPort: 80}]}
      - {name: side, image: s}
`)
	less := sites.With(sites.With(web, nil, "metadata", "labels"), nil, "spec", "minReadySeconds")
	less = sites.With(less, []any{map[string]any{"name": "app", "image": "a"}}, "spec", "template", "spec", "containers")
	theirs := sites.With(sites.With(web, "x", "metadata", "labels", "extra"), map[string]any{"a": "b"}, "spec", "template", "spec", "nodeSelector")
	theirs = sites.With(theirs, sites.Parse(t, `l: [{name: app, image: a, env: [{name: A, value: a}, {name: B, value: b}], ports: [{containerPort: 80}]}, {name: side, image: s, args: [x]}]`)["l"], "spec", "template", "spec", "containers")
	for name, make := range map[string]func(m map[string]any){
		"kubectl-apply": func(m map[string]any) { s.Kubectl(t, string(sites.Encode(t, m)), "apply", "-f", "-") },
		"kubectl-apply-twice": func(m map[string]any) {
			s.Kubectl(t, string(sites.Encode(t, sites.With(m, nil, "spec", "template", "spec", "nodeSelector"))), "apply", "-f", "-")
			s.Kubectl(t, string(sites.Encode(t, m)), "apply", "-f", "-")
		},
		"kubectl-create": func(m map[string]any) { s.Kubectl(t, string(sites.Encode(t, m)), "create", "-f", "-") },
		"helm-update":    func(m map[string]any) { s.Create("helm", m) },
		"helm-apply":     func(m map[string]any) { s.Apply("helm", m) },
		"helm-both": func(m map[string]any) {
			s.Create("helm", sites.With(m, nil, "metadata", "labels", "extra"))
			s.Must(s.TryApply("helm", m, true))
		},
		"unmanaged": func(m map[string]any) { s.Create("somebody", m); s.resetManagers(m) },
	} {
		t.Run(name, func(t *testing.T) {
			named := func(m map[string]any) map[string]any { return sites.With(m, name, "metadata", "name") }
			make(named(theirs))
			s.Apply("lynq", named(web))
			before := s.Get(named(web))
			if !s.takeApplied(named(web), false) || s.takeApplied(named(web), false) {
				t.Errorf("%s: it is not taken once", name)
			}
			s.sameBut(name, before, s.Get(named(web)))
			after := s.Apply("lynq", named(less))
			containers, _ := sites.Field(after, "spec", "template", "spec", "containers").([]any)
			first, _ := containers[0].(map[string]any)
			if len(containers) != 1 || first["name"] != "app" || first["ports"] != nil || cmp.Diff(sites.Parse(t, "l: [{name: B, value: b}]")["l"], first["env"]) != "" {
				t.Errorf("%s: containers %v", name, containers)
			}
			if got := after.GetLabels(); got["tier"] != "" || got["extra"] != "x" {
				t.Errorf("%s: labels %v", name, got)
			}
			if got := after.GetAnnotations()[lastApplied]; strings.Contains(name, "apply") && strings.Contains(name, "kubectl") != (got != "") {
				t.Errorf("%s: kubectl's annotation is %q", name, got)
			}
			if diff := cmp.Diff(map[string]any{"a": "b"}, sites.Field(after, "spec", "template", "spec", "nodeSelector")); diff != "" {
				t.Errorf("%s: nodeSelector %s", name, diff)
			}
			if got := sites.Field(after, "spec", "minReadySeconds"); got != nil {
				t.Errorf("%s: minReadySeconds %v", name, got)
			}
		})
	}
}

// resetManagers removes all managers of an object.
func (s *site) resetManagers(m map[string]any) {
	s.T.Helper()
	s.sendPatch(m, func() ([]byte, error) {
		return ManagersPatch(s.Get(m), []metav1.ManagedFieldsEntry{{}})
	})
}

// sameBut requires that only managers lost fields to lynq, and the object is otherwise
// unchanged.
func (s *site) sameBut(name string, before, after *unstructured.Unstructured) {
	s.T.Helper()
	if diff := cmp.Diff(contentOf(before), contentOf(after)); diff != "" {
		s.T.Errorf("%s: the object changed: %s", name, diff)
	}
	was, is := s.sets(before), s.sets(after)
	own := is["lynq Apply "]
	if !own.Equals(was["lynq Apply "]) {
		s.T.Errorf("%s: lynq manages %s, and before %s", name, own, was["lynq Apply "])
	}
	for manager, set := range was {
		if manager == "lynq Apply " {
			continue
		}
		if want := set.Difference(own).Difference(bareOf(set.Difference(own), own)); is[manager] == nil && !want.Empty() || is[manager] != nil && !is[manager].Equals(want) {
			s.T.Errorf("%s: %s manages %v, want %s", name, manager, is[manager], want)
		}
	}
	if more := slices.DeleteFunc(slices.Collect(maps.Keys(is)), func(m string) bool { return was[m] != nil }); len(more) > 0 {
		s.T.Errorf("%s: new managers %v", name, more)
	}
}

// sets returns the fields of an object's managers, without its status.
func (s *site) sets(u *unstructured.Unstructured) map[string]*fieldpath.Set {
	s.T.Helper()
	managed, err := Managed(u)
	if err != nil {
		s.T.Fatal(err)
	}
	sets := map[string]*fieldpath.Set{}
	for i := range managed {
		if m := &managed[i]; m.subresource != "status" {
			sets[m.manager+" "+string(m.operation)+" "+m.subresource] = m.fields
		}
	}
	return sets
}

// contentOf returns an object without fields that every write and its controllers change.
func contentOf(u *unstructured.Unstructured) map[string]any {
	c := u.DeepCopy()
	delete(c.Object, "status")
	for _, f := range []string{"managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(c.Object, "metadata", f)
	}
	unstructured.RemoveNestedField(c.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
	if len(c.GetAnnotations()) == 0 {
		unstructured.RemoveNestedField(c.Object, "metadata", "annotations")
	}
	return c.Object
}

// TestTake tests which fields a Takeover takes from which managers.
func TestTake(t *testing.T) {
	const own = `{manager: lynq, operation: Apply, apiVersion: v2, fieldsV1: {"f:metadata": {"f:finalizers": {"v:\"x\"": {}}, "f:ownerReferences": {"k:{\"uid\":\"record\"}": {}}}, "f:a": {}, "f:m": {"f:b": {}}, "f:l": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}}}, "f:status": {"f:s": {}}}}`
	for name, tt := range map[string]struct {
		entry string
		force bool
		left  string // the rest of the entry, "" for all of it
		took  string
	}{
		"what lynq applies too":      {entry: `{manager: kubectl-create, operation: Update, apiVersion: v2, fieldsV1: {"f:a": {}, "f:x": {}}}`, left: `{"f:x":{}}`, took: ".a"},
		"all of it":                  {entry: `{manager: helm, operation: Apply, apiVersion: v2, fieldsV1: {"f:a": {}}}`, left: "none", took: ".a"},
		"a map stays":                {entry: `{manager: helm, operation: Update, apiVersion: v2, fieldsV1: {"f:m": {".": {}, "f:b": {}, "f:c": {}}}}`, left: `{"f:m":{".":{},"f:c":{}}}`, took: ".m.b"},
		"an item goes over":          {entry: `{manager: helm, operation: Update, apiVersion: v2, fieldsV1: {"f:l": {".": {}, "k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:x": {}}}}}`, left: `{"f:l":{".":{},"k:{\"name\":\"c\"}":{"f:x":{}}}}`, took: `.l[name="c"].name`},
		"a bare map goes over":       {entry: `{manager: helm, operation: Update, apiVersion: v2, fieldsV1: {"f:m": {".": {}, "f:b": {}}, "f:l": {".": {}, "k:{\"name\":\"c\"}": {".": {}, "f:name": {}}}}}`, left: "none", took: `.l[name="c"].name.m.b`},
		"a map that was bare":        {entry: `{manager: helm, operation: Update, apiVersion: v2, fieldsV1: {"f:m": {}, "f:x": {".": {}, "f:y": {}}}}`, left: `{"f:x":{".":{},"f:y":{}}}`},
		"nothing of it":              {entry: `{manager: helm, operation: Update, apiVersion: v2, fieldsV1: {"f:x": {}}}`},
		"another version":            {entry: `{manager: helm, operation: Update, apiVersion: v1, fieldsV1: {"f:a": {}}}`},
		"a subresource":              {entry: `{manager: kubectl, operation: Update, subresource: scale, apiVersion: v2, fieldsV1: {"f:a": {}}}`, force: true},
		"an applier":                 {entry: `{manager: ci, operation: Apply, apiVersion: v2, fieldsV1: {"f:a": {}}}`},
		"kubectl that applies":       {entry: `{manager: kubectl, operation: Apply, apiVersion: v2, fieldsV1: {"f:a": {}}}`},
		"an applier, under Force":    {entry: `{manager: ci, operation: Apply, apiVersion: v2, fieldsV1: {"f:a": {}, "f:x": {}}}`, force: true, left: `{"f:x":{}}`, took: ".a"},
		"an edit":                    {entry: `{manager: kubectl-edit, operation: Update, apiVersion: v2, fieldsV1: {"f:a": {}}}`},
		"an edit, under Force":       {entry: `{manager: kubectl-edit, operation: Update, apiVersion: v2, fieldsV1: {"f:a": {}}}`, force: true, left: "none", took: ".a"},
		"what is never taken":        {entry: `{manager: before-first-apply, operation: Update, apiVersion: v2, fieldsV1: {"f:metadata": {"f:finalizers": {".": {}, "v:\"x\"": {}}}, "f:status": {"f:s": {}}}}`, force: true},
		"the inventory's ownership":  {entry: `{manager: before-first-apply, operation: Update, apiVersion: v2, fieldsV1: {"f:metadata": {"f:ownerReferences": {".": {}, "k:{\"uid\":\"other\"}": {}, "k:{\"uid\":\"record\"}": {}}}}}`, left: `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"other\"}":{}}}}`, took: `.metadata.ownerReferences[uid="record"]`},
		"what lynq updated stays so": {entry: `{manager: lynq, operation: Update, apiVersion: v2, fieldsV1: {"f:a": {}}}`, force: true},
	} {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: sites.Parse(t, "metadata:\n  managedFields:\n  - "+own+"\n  - "+tt.entry+"\n")}
			managed, err := Managed(live)
			if err != nil {
				t.Fatal(err)
			}
			takeover := TakeoverOfApplied(managed, tt.force)
			entries, fields, _, err := takeover.Take(live.GetManagedFields(), managed)
			if err != nil {
				t.Fatal(err)
			}
			left := "none"
			if len(entries) == 2 {
				left = string(entries[1].FieldsV1.GetRawBytes())
			}
			if tt.left == "" {
				tt.left = string(live.GetManagedFields()[1].FieldsV1.GetRawBytes())
			}
			if left != tt.left {
				t.Errorf("left %s, want %s", left, tt.left)
			}
			took := ""
			for _, f := range fields {
				took += f.Field
			}
			if took != tt.took {
				t.Errorf("took %q, want %q", took, tt.took)
			}
			if diff := cmp.Diff(live.GetManagedFields()[0], entries[0]); diff != "" {
				t.Errorf("lynq's own: %s", diff)
			}
		})
	}
}

// TestTakeSaid checks a write without server-side apply. The manifest has the form's
// fields, and lynq manages them by update.
func TestTakeSaid(t *testing.T) {
	live := &unstructured.Unstructured{Object: sites.Parse(t, `
metadata:
  managedFields:
  - manager: kubectl-create
    operation: Update
    apiVersion: v1
    time: "2024-02-29T12:00:00Z"
    fieldsV1: {"f:m": {".": {}, "f:b": {}, "f:c": {}}, "f:e": {".": {}, "f:x": {}}, "f:l": {".": {}, "k:{\"port\":1,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:protocol": {}}, "k:{\"port\":2}": {".": {}, "f:port": {}}}, "f:s": {"v:\"a\"": {}, "v:\"b\"": {}}, "f:w": {}}
`)}
	manifest := sites.Parse(t, `{apiVersion: v1, m: {b: 1}, e: {}, l: [{port: 1}], s: [a], w: [1, 2]}`)
	managed, err := Managed(live)
	if err != nil {
		t.Fatal(err)
	}
	takeover := TakeoverOfManifest(manifest, false)
	entries, _, _, err := takeover.Take(live.GetManagedFields(), managed)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range entries {
		got[entries[i].Manager+" "+string(entries[i].Operation)+" "+entries[i].Time.UTC().Format("2006")] = string(entries[i].FieldsV1.GetRawBytes())
	}
	want := map[string]string{
		"kubectl-create Update 2024": `{"f:e":{"f:x":{}},"f:l":{".":{},"k:{\"port\":1,\"protocol\":\"TCP\"}":{"f:protocol":{}},"k:{\"port\":2}":{".":{},"f:port":{}}},"f:m":{".":{},"f:c":{}},"f:s":{"v:\"b\"":{}}}`,
		"lynq Update 2024":           `{"f:e":{},"f:l":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:m":{"f:b":{}},"f:s":{"v:\"a\"":{}},"f:w":{}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if managed, err = Sets(entries); err != nil {
		t.Fatal(err)
	}
	if again, fields, changed, err := takeover.Take(entries, managed); err != nil || changed || len(fields) > 0 || len(again) != len(entries) {
		t.Errorf("taken again: %v, %v", fields, err)
	}
}
