package fields

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestReplaceIsStable checks that a replaced object needs no second replacement, and that
// one would change nothing. Each manual change is found and repaired.
func TestReplaceIsStable(t *testing.T) {
	s := newSite(t)
	all := manifests(t, s.Widgets())
	all["Secret"] = sites.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: b}, data: {c: ZA==}}")
	all["NodePort"] = sites.Parse(t, "{apiVersion: v1, kind: Service, metadata: {name: np}, spec: {type: NodePort, selector: {a: b}, ports: [{port: 80}]}}")
	all["Headless"] = sites.Parse(t, "{apiVersion: v1, kind: Service, metadata: {name: hl}, spec: {clusterIP: None, ports: [{port: 80}]}}")
	all["Job"] = sites.Parse(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a, resources: {limits: {memory: 1024Mi}}}]}}}
`)
	all["HorizontalPodAutoscaler"] = sites.Parse(t, `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1000m}}}]
`)
	all["ServiceAccount"] = sites.Parse(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: sa}, automountServiceAccountToken: false}")
	all["CronJob"] = sites.Parse(t, `
apiVersion: batch/v1
kind: CronJob
metadata: {name: cron}
spec: {schedule: "@daily", suspend: true, jobTemplate: {spec: {template: {spec: {hostNetwork: false, restartPolicy: Never, containers: [{name: a, image: a}]}}}}}
`)
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			s.Create("lynq", m)
			s.unchanged(name, m, lynq.PatchReplace)
			s.unchanged(name, m, lynq.PatchMerge)
			changed := sites.With(m, "new", "metadata", "labels", "new")
			if !WouldChange(lynq.PatchReplace, changed, s.Get(m)) || !WouldChange(lynq.PatchMerge, changed, s.Get(m)) {
				t.Errorf("a new label is not seen")
			}
			s.replace(changed)
			s.unchanged(name, changed, lynq.PatchReplace)
			s.Patch("somebody", m, types.MergePatchType, `{"metadata":{"labels":{"theirs":"x"}}}`)
			s.repaired(name+" label", changed, true)
			s.Patch("somebody", m, types.MergePatchType, `{"metadata":{"annotations":{"theirs":"x"}}}`)
			s.repaired(name+" annotation", changed, true)
		})
	}
	for _, change := range []struct {
		name, patch string
		removes     bool // the removed field has no manager
	}{
		{"ConfigMap", `{"data":{"theirs":"x"}}`, false},
		{"ConfigMap", `{"data":{"colour":null}}`, true},
		{"ConfigMap", `{"binaryData":{"theirs":"eA=="}}`, false},
		{"Secret", `{"data":{"theirs":"eA=="}}`, false},
		{"Secret", `{"data":{"a":"eA=="}}`, false},
		{"Service", `{"spec":{"selector":{"app":"other"}}}`, false},
		{"Service", `{"spec":{"selector":{"more":"x"}}}`, false},
		{"Service", `{"spec":{"sessionAffinity":"ClientIP"}}`, false},
		{"Deployment", `{"spec":{"replicas":7}}`, false},
		{"Deployment", `{"spec":{"paused":true}}`, false},
		{"Deployment", `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`, false},
		{"Widget", `{"spec":{"more":{"a":"b"}}}`, false},
		{"Widget", `{"spec":{"size":4}}`, false},
		{"Widget", `{"spec":{"free":null}}`, true},
		{"Widget", `{"spec":{"parts":[{"name":"a","colour":"red"}]}}`, true},
		{"Widget", `{"spec":{"free":{"list":[{"a":1},{"b":2,"c":3}]}}}`, false},
		{"HorizontalPodAutoscaler", `{"spec":{"maxReplicas":4}}`, false},
	} {
		m := sites.With(all[change.name], "new", "metadata", "labels", "new")
		s.Patch("somebody", m, types.MergePatchType, change.patch)
		s.repaired(change.name+" "+change.patch, m, !change.removes)
	}
}

// unchanged requires that no write is necessary, and that one would change nothing.
func (s *site) unchanged(name string, m map[string]any, strategy lynq.PatchStrategy) {
	s.T.Helper()
	before := s.Get(m)
	if WouldChange(strategy, m, before) {
		s.T.Errorf("%s: %s is taken for a change of %s", name, strategy, sites.Encode(s.T, before.Object))
	}
	if found := Foreign(before, m, strategy); len(found) > 0 {
		s.T.Errorf("%s: %v", name, found)
	}
	if strategy == lynq.PatchReplace {
		if diff := cmp.Diff(withoutStatus(before), withoutStatus(s.replace(m))); diff != "" {
			s.T.Errorf("%s: a second replacement changed it: %s", name, diff)
		}
	}
}

// repaired requires that a change is found, named if it has a manager, and gone after a
// replacement.
func (s *site) repaired(name string, m map[string]any, named bool) {
	s.T.Helper()
	before := s.Get(m)
	if !WouldChange(lynq.PatchReplace, m, before) {
		s.T.Errorf("%s: not seen: %s", name, sites.Encode(s.T, before.Object))
	}
	found := Foreign(before, m, lynq.PatchReplace)
	if slices.ContainsFunc(found, func(f Conflict) bool { return f.Manager != "somebody" }) || named != (len(found) > 0) {
		s.T.Errorf("%s: %v", name, found)
	}
	s.replace(m)
	s.unchanged(name, m, lynq.PatchReplace)
}

// replace sends a replacement. It tries again if a controller wrote meanwhile.
func (s *site) replace(m map[string]any) *unstructured.Unstructured {
	s.T.Helper()
	for {
		body, err := Replacement(m, s.Get(m))
		if err != nil {
			s.T.Fatal(err)
		}
		after, err := s.TryUpdate("lynq", body)
		if err == nil {
			return after
		}
		if !apierrors.IsConflict(err) {
			s.T.Fatalf("%s: %v", sites.Encode(s.T, body), err)
		}
	}
}

func withoutStatus(u *unstructured.Unstructured) map[string]any {
	c := settled(u)
	unstructured.RemoveNestedField(c, "metadata", "managedFields")
	unstructured.RemoveNestedField(c, "metadata", "generation")
	return c
}

// TestReplaceKeeps checks that a replacement keeps everything that a manifest must not
// remove.
func TestReplaceKeeps(t *testing.T) {
	s := newSite(t)
	web := sites.With(sites.Parse(t, sites.WebDeployment), nil, "spec", "replicas")
	s.Create("lynq", web)
	s.Patch("hpa", web, types.MergePatchType, `{"spec":{"replicas":5}}`, "scale")
	owner := s.Create("other", sites.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs}}"))
	s.Patch("somebody", web, types.MergePatchType, fmt.Sprintf(`{"metadata":{"finalizers":["example.com/a"],"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"theirs","uid":%q}]}}`, owner.GetUID()))
	s.Wait(t, "deployment/web", sites.RevisionIs1())
	s.unchanged("Deployment", web, lynq.PatchReplace)
	after := s.replace(sites.With(sites.With(web, "x", "metadata", "labels", "x"), []any{"example.com/b"}, "metadata", "finalizers"))
	t.Cleanup(func() { s.Unfinalize(web) })
	if sites.Field(after, "spec", "replicas") != int64(5) || len(after.GetFinalizers()) != 2 || len(after.GetOwnerReferences()) != 1 {
		t.Errorf("%s", sites.Encode(t, after.Object))
	}
	if found := Foreign(after, sites.With(web, int64(2), "spec", "replicas"), lynq.PatchReplace); len(found) != 1 || found[0].Subresource != "scale" {
		t.Errorf("replicas that somebody scaled: %v", found)
	}

	widget := sites.Parse(t, "{apiVersion: "+s.Widgets()+", kind: Widget, metadata: {name: w}, spec: {fixed: a}}")
	s.Create("lynq", widget)
	s.Patch("controller", widget, types.MergePatchType, `{"status":{"phase":"Done"}}`)
	if after := s.replace(sites.With(widget, int64(9), "spec", "size")); sites.Field(after, "status", "phase") != "Done" {
		t.Errorf("the status is gone: %s", sites.Encode(t, after.Object))
	}
}

// TestMergeBesideOthers checks that merge patches need no second one either, and keep the
// additions of others.
func TestMergeBesideOthers(t *testing.T) {
	s := newSite(t)
	web := sites.Parse(t, sites.WebDeployment)
	s.Create("lynq", web)
	s.Patch("somebody", web, types.StrategicMergePatchType, `{"metadata":{"labels":{"theirs":"x"},"finalizers":["example.com/a"]},"spec":{"paused":true,"template":{"spec":{"containers":[{"name":"injected","image":"i"},{"name":"app","env":[{"name":"C","value":"c"}]}],"volumes":[{"name":"v","emptyDir":{}}]}}}}`)
	t.Cleanup(func() { s.Unfinalize(web) })
	s.unchanged("Deployment", web, lynq.PatchMerge)
	s.Patch("somebody", web, types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"other"}]}}}}`)
	live := s.Get(web)
	want := []Conflict{{Manager: "somebody", Field: `.spec.template.spec.containers[name="app"].image`}}
	if diff := cmp.Diff(want, Foreign(live, web, lynq.PatchMerge), cmp.AllowUnexported(Conflict{})); diff != "" || !WouldChange(lynq.PatchMerge, web, live) {
		t.Error(diff)
	}
	// A merge patch of a custom resource replaces lists.
	widget := sites.Parse(t, "{apiVersion: "+s.Widgets()+", kind: Widget, metadata: {name: w}, spec: {fixed: a, parts: [{name: a}]}}")
	s.Create("lynq", widget)
	s.Patch("somebody", widget, types.JSONPatchType, `[{"op":"add","path":"/spec/parts/-","value":{"name":"b"}}]`)
	live = s.Get(widget)
	want = []Conflict{{Manager: "somebody", Field: `.spec.parts[name="b"]`}}
	if diff := cmp.Diff(want, Foreign(live, widget, lynq.PatchMerge), cmp.AllowUnexported(Conflict{})); diff != "" || !WouldChange(lynq.PatchMerge, widget, live) {
		t.Error(diff)
	}
}

// TestForeignManagersOfAnOutcome checks that defaults from another tool aren't conflicts
// with the result of a dry run.
func TestForeignManagersOfAnOutcome(t *testing.T) {
	s := newSite(t)
	web := manifests(t, "")["StatefulSet"]
	s.Create("helm", web)
	s.Wait(t, "statefulset/db", harness.PathEquals(".status.observedGeneration", "1"))
	var live, outcome *unstructured.Unstructured
	s.Unmoved(func() error { // its controller may still write
		live = s.Get(web)
		body, err := Replacement(web, live)
		if err != nil {
			t.Fatal(err)
		}
		outcome, err = s.Client(web).Update(t.Context(), &unstructured.Unstructured{Object: body}, sites.DryRun("lynq"))
		return err
	})
	if found := Foreign(live, outcome.Object, lynq.PatchReplace); len(found) > 0 {
		t.Errorf("%v", found)
	}
	changed := sites.With(outcome.Object, int64(1), "spec", "revisionHistoryLimit")
	want := []Conflict{{Manager: "helm", Field: ".spec.revisionHistoryLimit"}}
	if diff := cmp.Diff(want, Foreign(live, changed, lynq.PatchReplace), cmp.AllowUnexported(Conflict{})); diff != "" {
		t.Error(diff)
	}
}

func TestWithin(t *testing.T) {
	tests := []struct {
		name, apiVersion string
		strategy         lynq.PatchStrategy
		path             []string
		want, live       string
		same             bool
	}{
		{"quantities", "v1", lynq.PatchMerge, []string{"spec", "resources"}, `{"limits":{"cpu":"1","memory":1}}`, `{"limits":{"cpu":"1000m","memory":"1"}}`, true},
		{"other quantities", "v1", lynq.PatchMerge, []string{"spec", "resources"}, `{"limits":{"cpu":"1"}}`, `{"limits":{"cpu":"1001m"}}`, false},
		{"no quantities", "v1", lynq.PatchMerge, nil, `{"data":{"cpu":"1"}}`, `{"data":{"cpu":"1000m"}}`, false},
		{"labels called limits", "v1", lynq.PatchMerge, []string{"metadata", "labels"}, `{"limits":"1"}`, `{"limits":"1000m"}`, false},
		{"text of a custom resource", "example.com/v1", lynq.PatchMerge, []string{"spec", "resources"}, `{"limits":{"cpu":"1"}}`, `{"limits":{"cpu":"1000m"}}`, false},
		{"numbers", "v1", lynq.PatchMerge, nil, `{"a":1,"b":2.0,"c":1.5}`, `{"a":1.0,"b":2,"c":1.5}`, true},
		{"large numbers", "v1", lynq.PatchMerge, nil, `{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{"number and text", "v1", lynq.PatchMerge, nil, `{"a":1}`, `{"a":"1"}`, false},
		{"null and none", "v1", lynq.PatchMerge, nil, `{"a":null}`, `{}`, true},
		{"null and some", "v1", lynq.PatchMerge, nil, `{"a":null}`, `{"a":1}`, false},
		{"null in both", "example.com/v1", lynq.PatchMerge, nil, `{"a":null}`, `{"a":null}`, true},
		{"no labels", "v1", lynq.PatchMerge, nil, `{"metadata":{"labels":{},"finalizers":[]}}`, `{"metadata":{}}`, true},
		{"an empty struct", "v1", lynq.PatchMerge, nil, `{"spec":{"selector":{}}}`, `{"spec":{}}`, false},
		{"an empty map of a custom resource", "example.com/v1", lynq.PatchMerge, nil, `{"metadata":{"labels":{}}}`, `{"metadata":{}}`, false},
		{"an empty list and null", "v1", lynq.PatchMerge, nil, `{"rules":[]}`, `{"rules":null}`, true},
		{"a false that is none", "v1", lynq.PatchMerge, nil, `{"spec":{"hostNetwork":false}}`, `{"spec":{}}`, true},
		{"a false that counts", "v1", lynq.PatchMerge, nil, `{"automountServiceAccountToken":false}`, `{}`, false},
		{"an empty variable", "v1", lynq.PatchReplace, []string{"containers"}, `{"env":[{"name":"A","value":""}]}`, `{"env":[{"name":"A"}]}`, true},
		{"another order", "v1", lynq.PatchReplace, []string{"spec"}, `{"containers":[{"name":"a"},{"name":"b"}]}`, `{"containers":[{"name":"b"},{"name":"a"}]}`, false},
		{"another order, merged", "v1", lynq.PatchMerge, []string{"spec"}, `{"containers":[{"name":"a"},{"name":"b"}]}`, `{"containers":[{"name":"b"},{"name":"a"}]}`, true},
		{"a list more", "v1", lynq.PatchMerge, nil, `{"subjects":[{"name":"a"}]}`, `{"subjects":[{"name":"a"},{"name":"b"}]}`, false},
		{"a new item", "v1", lynq.PatchMerge, []string{"containers"}, `{"env":[{"name":"a"}]}`, `{"env":[{"name":"b"}]}`, false},
		{"an item without key", "v1", lynq.PatchMerge, []string{"containers"}, `{"volumeMounts":[{"name":"a"}]}`, `{"volumeMounts":[{"name":"a","mountPath":"/"}]}`, false},
		{"ports", "v1", lynq.PatchMerge, []string{"containers"}, `{"ports":[{"containerPort":80}]}`, `{"ports":[{"containerPort":1},{"containerPort":80}]}`, true},
		{"finalizers", "v1", lynq.PatchMerge, nil, `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"finalizers":["b","a"]}}`, true},
		{"what the server says", "v1", lynq.PatchMerge, nil, `{"status":{"a":1},"metadata":{"creationTimestamp":null,"generation":1}}`, `{"metadata":{"creationTimestamp":"x"}}`, true},
		{"the status of a custom resource", "example.com/v1", lynq.PatchMerge, nil, `{"status":{"a":1}}`, `{}`, false},
		{"a map and a list", "v1", lynq.PatchMerge, nil, `{"a":{}}`, `{"a":[]}`, false},
		{"a list and a map", "v1", lynq.PatchMerge, nil, `{"a":[1]}`, `{"a":{}}`, false},
		{"text and a map", "v1", lynq.PatchMerge, nil, `{"a":"b"}`, `{"a":{}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want, live any
			if err := unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if err := unmarshal([]byte(tt.live), &live); err != nil {
				t.Fatal(err)
			}
			c := newComparer(tt.strategy, map[string]any{"apiVersion": tt.apiVersion})
			if got := c.within(tt.path, want, live); got != tt.same {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestReplaceBodyOfVolumes checks that a replacement keeps the fields that bind claims and
// volumes.
func TestReplaceBodyOfVolumes(t *testing.T) {
	for name, tt := range map[string]struct{ desired, live, want string }{
		"claim":          {"{apiVersion: v1, kind: PersistentVolumeClaim, spec: {resources: {}}}", "{spec: {volumeName: v, storageClassName: s, volumeMode: Filesystem}}", "{resources: {}, volumeName: v, storageClassName: s, volumeMode: Filesystem}"},
		"volume":         {"{apiVersion: v1, kind: PersistentVolume, spec: {storageClassName: a}}", "{spec: {claimRef: {name: c}, storageClassName: b}}", "{storageClassName: a, claimRef: {name: c}}"},
		"external name":  {"{apiVersion: v1, kind: Service, spec: {type: ExternalName}}", "{spec: {clusterIP: 10.0.0.1}}", "{type: ExternalName}"},
		"custom":         {"{apiVersion: example.com/v1, kind: Service, spec: {a: null}}", "{spec: {clusterIP: 10.0.0.1}}", "{a: null}"},
		"nulls":          {"{apiVersion: v1, kind: Service, spec: {a: null, l: [{b: null}]}}", "{spec: {clusterIP: 10.0.0.1}}", "{l: [{}], clusterIP: 10.0.0.1}"},
		"no spec at all": {"{apiVersion: v1, kind: PersistentVolumeClaim}", "{spec: {volumeName: v}}", "null"},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := Replacement(sites.Parse(t, tt.desired), &unstructured.Unstructured{Object: sites.Parse(t, tt.live)})
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if m := sites.Parse(t, "spec: "+tt.want); m != nil {
				want = m["spec"]
			}
			if diff := cmp.Diff(want, body["spec"]); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

// TestReplaceBodyOwners checks that the manifest decides which inventory owns an object.
func TestReplaceBodyOwners(t *testing.T) {
	live := &unstructured.Unstructured{Object: sites.Parse(t, `
metadata:
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: lynqnode-old, uid: old}
  - {apiVersion: v1, kind: ConfigMap, name: theirs, uid: theirs}
  - {apiVersion: v1, kind: ConfigMap, name: lynqnode-new, uid: new}
`)}
	for text, want := range map[string][]string{
		"{}":                    {"old", "theirs", "new"},
		"{ownerReferences: []}": {"theirs"},
		"{ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: lynqnode-new, uid: new}]}":                                                               {"theirs", "new"},
		"{ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: theirs, uid: theirs}, {apiVersion: v1, kind: ConfigMap, name: lynqnode-new, uid: new}]}": {"theirs", "new"},
	} {
		t.Run(text, func(t *testing.T) {
			body, err := Replacement(sites.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: "+text+"}"), live)
			if err != nil {
				t.Fatal(err)
			}
			var uids []string
			for _, o := range (&unstructured.Unstructured{Object: body}).GetOwnerReferences() {
				uids = append(uids, string(o.UID))
			}
			if diff := cmp.Diff(want, uids); diff != "" {
				t.Errorf("%s: %s", text, diff)
			}
		})
	}
}

// TestReplaceKeepsReplicas checks that replicas without a manager belong to another
// client's scale.
func TestReplaceKeepsReplicas(t *testing.T) {
	const form = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {paused: true}}"
	for name, tt := range map[string]struct {
		desired, managers string
		want              any
	}{
		"nobody's":                 {form, "", int64(0)},
		"the form's":               {strings.Replace(form, "paused: true", "replicas: 3", 1), "", int64(3)},
		"lynq's, from an old form": {form, "[{manager: lynq, operation: Update, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:replicas': {}}}}]", nil},
		"an editor's":              {form, "[{manager: kubectl-edit, operation: Update, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:replicas': {}}}}]", nil},
		"an autoscaler's":          {form, "[{manager: hpa, operation: Update, subresource: scale, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:replicas': {}}}}]", int64(0)},
		"no workload's":            {strings.Replace(form, "Deployment", "Widget", 1), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: sites.Parse(t, strings.Replace(tt.desired, "paused: true", "replicas: 0", 1))}
			_ = unstructured.SetNestedField(live.Object, int64(0), "spec", "replicas")
			if tt.managers != "" {
				managers := sites.Parse(t, "{metadata: {managedFields: "+tt.managers+"}}")
				entries, _, _ := unstructured.NestedSlice(managers, "metadata", "managedFields")
				_ = unstructured.SetNestedSlice(live.Object, entries, "metadata", "managedFields")
			}
			body, err := Replacement(sites.Parse(t, tt.desired), live)
			if err != nil {
				t.Fatal(err)
			}
			got, _, _ := unstructured.NestedFieldNoCopy(body, "spec", "replicas")
			if got != tt.want {
				t.Errorf("replicas are %v, want %v", got, tt.want)
			}
		})
	}
}
