package fields

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/sites"
)

// manifests returns manifests of many shapes: lists with one or two keys, keys with
// defaults, sets, and fields that are managed as a whole.
func manifests(t testing.TB, widgets string) map[string]map[string]any {
	texts := map[string]string{
		"Deployment": sites.WebDeployment,
		"ConfigMap":  sites.Settings,
		"Service": `
apiVersion: v1
kind: Service
metadata: {name: web, annotations: {a: b}}
spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80}
  - {name: dns-udp, port: 53, protocol: UDP, targetPort: dns}
  - {name: dns-tcp, port: 53, targetPort: dns}
`,
		"Ingress": `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  ingressClassName: none
  tls: [{hosts: [a.example.com], secretName: s}]
  rules:
  - host: a.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`,
		"PersistentVolumeClaim": `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, finalizers: [example.com/test]}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1024Mi}}}
`,
		"Role": `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods, configmaps], verbs: [get, list]}]
`,
		"StatefulSet": `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 0
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      securityContext: {}
      nodeSelector: {disk: ssd}
      tolerations: [{key: a, operator: Exists}]
      containers:
      - name: db
        image: db:1
        command: [db, --flag]
        volumeMounts: [{name: data, mountPath: /data}, {name: tmp, mountPath: /tmp}]
        env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        readinessProbe: {tcpSocket: {port: 80}}
      volumes: [{name: tmp, emptyDir: {}}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`,
		"NetworkPolicy": `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec:
  podSelector: {matchLabels: {app: web}}
  policyTypes: [Ingress]
  ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}]
`,
		"DaemonSet": `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: {none: none}
      imagePullSecrets: [{name: pull}]
      hostAliases: [{ip: 192.0.2.1, hostnames: [a, b]}]
      initContainers: [{name: init, image: i, envFrom: [{configMapRef: {name: c}}]}]
      containers:
      - name: agent
        image: a
        ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}]
        securityContext: {capabilities: {add: [NET_ADMIN]}}
        livenessProbe: {httpGet: {port: 80}}
        startupProbe: {exec: {command: [a]}, periodSeconds: 5}
        lifecycle: {preStop: {exec: {command: [b]}}}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: agent}}}
      volumes:
      - {name: c, configMap: {name: c, items: [{key: a, path: b}]}}
      - {name: p, projected: {sources: [{secret: {name: s}}]}}
`,
		"PodDisruptionBudget": `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`,
	}
	if widgets != "" {
		texts["Widget"] = `
apiVersion: ` + widgets + `
kind: Widget
metadata: {name: w}
spec:
  fixed: a
  tags: [x, "y"]
  parts: [{name: a, colour: red}, {name: b, sub: {deep: [1, 2]}}]
  free: {list: [{a: 1}, {b: 2}], none: {}}
`
	}
	out := map[string]map[string]any{}
	for name, text := range texts {
		out[name] = sites.Parse(t, text)
	}
	return out
}

// TestOwnAppliedIsAFixedPoint checks that applying the extracted part again changes neither
// the object nor its managers, even if others manage parts of it.
func TestOwnAppliedIsAFixedPoint(t *testing.T) {
	s := newSite(t)
	for name, m := range manifests(t, s.Widgets()) {
		t.Run(name, func(t *testing.T) {
			s.Apply("lynq", sites.With(m, "yes", "metadata", "labels", "mine"))
			// A neighbour manages a label and an annotation beside ours.
			s.Apply("neighbour", sites.With(sites.With(onlyIdentity(m), "yes", "metadata", "labels", "theirs"), "yes", "metadata", "annotations", "theirs"))
			before := s.Get(m)
			body, ours, err := ownApplied(before)
			if err != nil || !ours {
				t.Fatalf("%v, %v", ours, err)
			}
			after := s.Must(s.TryApply("lynq", body, false))
			if diff := cmp.Diff(settled(before), settled(after)); diff != "" {
				t.Errorf("applying what is ours changed it (-before +after):\n%s\n%s", diff, sites.Encode(t, body))
			}
			if got := sites.Field(&unstructured.Unstructured{Object: body}, "metadata", "labels", "theirs"); got != nil {
				t.Errorf("somebody else's label is taken for ours")
			}
		})
	}
}

func onlyIdentity(m map[string]any) map[string]any {
	u := unstructured.Unstructured{Object: m}
	return map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(), "metadata": map[string]any{"name": u.GetName()}}
}

// TestOwnAppliedBesideOthers checks that others keep their parts of our items and maps.
func TestOwnAppliedBesideOthers(t *testing.T) {
	s := newSite(t)
	web := sites.Parse(t, sites.WebDeployment)
	s.Apply("lynq", web)
	s.Apply("neighbour", sites.Parse(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - {name: app, env: [{name: C, value: c}], imagePullPolicy: Always}
      - {name: sidecar, image: side:1}
`))
	before := s.Get(web)
	body, _, err := ownApplied(before)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: body}
	containers, _ := sites.Field(u, "spec", "template", "spec", "containers").([]any)
	want := []any{
		map[string]any{
			"name": "app", "image": "app:1", "env": []any{map[string]any{"name": "A", "value": "a"}, map[string]any{"name": "B", "value": "b"}},
			"ports":     []any{map[string]any{"containerPort": int64(80)}, map[string]any{"name": "dns", "containerPort": int64(53), "protocol": "UDP"}},
			"resources": map[string]any{"requests": map[string]any{"cpu": "1"}},
		},
		map[string]any{"name": "side", "image": "side:1"},
	}
	if diff := cmp.Diff(want, containers); diff != "" {
		t.Error(diff)
	}
	after := s.Must(s.TryApply("lynq", body, false))
	if diff := cmp.Diff(settled(before), settled(after)); diff != "" {
		t.Error(diff)
	}
}

// settled returns an object without the changes of controllers.
func settled(u *unstructured.Unstructured) map[string]any {
	c := u.DeepCopy()
	delete(c.Object, "status")
	unstructured.RemoveNestedField(c.Object, "metadata", "resourceVersion")
	unstructured.RemoveNestedField(c.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
	if len(c.GetAnnotations()) == 0 {
		c.SetAnnotations(nil)
	}
	c.SetManagedFields(slices.DeleteFunc(c.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" }))
	return c.Object
}

// TestOwnPart tests shapes that the kinds of a bare server don't have.
func TestOwnPart(t *testing.T) {
	tests := []struct {
		name, value, own, others, want string
	}{
		{"a map that others fill", `{"a":{"b":1}}`, `{"f:a":{}}`, `{"f:a":{"f:b":{}}}`, `{"a":{}}`},
		{"a map as a whole", `{"a":{"b":1}}`, `{"f:a":{}}`, `{}`, `{"a":{"b":1}}`},
		{"an item that others fill", `{"l":[{"n":"x","v":1},{"n":"y"}]}`, `{"f:l":{"k:{\"n\":\"x\"}":{}}}`, `{"f:l":{"k:{\"n\":\"x\"}":{"f:v":{}}}}`, `{"l":[{"n":"x"}]}`},
		{"an item without its keys", `{"l":[{"n":1,"m":"a","v":1}]}`, `{"f:l":{"k:{\"m\":\"a\",\"n\":1}":{"f:v":{}}}}`, `{}`, `{"l":[{"m":"a","n":1,"v":1}]}`},
		{"an item with a key by default", `{"l":[{"n":1,"m":"a","v":1}]}`, `{"f:l":{"k:{\"m\":\"a\",\"n\":1}":{".":{},"f:n":{},"f:v":{}}}}`, `{}`, `{"l":[{"n":1,"v":1}]}`},
		{"values", `{"l":["a","b","c"]}`, `{"f:l":{"v:\"c\"":{},"v:\"a\"":{},"v:\"gone\"":{}}}`, `{}`, `{"l":["a","c"]}`},
		{"indexes", `{"l":["a","b"]}`, `{"f:l":{"i:1":{},"i:7":{}}}`, `{}`, `{"l":["b"]}`},
		{"what is gone", `{"a":1}`, `{"f:b":{"f:c":{}}}`, `{}`, `{}`},
		{"another shape", `{"a":1}`, `{"f:a":{"f:c":{}}}`, `{}`, `{"a":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v, want any
			if err := errors.Join(unmarshal([]byte(tt.value), &v), unmarshal([]byte(tt.want), &want)); err != nil {
				t.Fatal(err)
			}
			own, others := fieldpath.NewSet(), fieldpath.NewSet()
			if err := errors.Join(own.FromJSON(strings.NewReader(tt.own)), others.FromJSON(strings.NewReader(tt.others))); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, ownPart(v, own, others)); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

// TestRetracked checks that tracking changes and content doesn't, and that a later apply
// without the markers removes them.
func TestRetracked(t *testing.T) {
	s := newSite(t)
	record := s.Create("lynq", sites.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: lynqnode-acme-web}}"))
	ours := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "lynqnode-acme-web", "uid": string(record.GetUID()), "controller": true}
	other := s.Create("other", sites.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs}}"))
	theirs := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "theirs", "uid": string(other.GetUID())}
	for name, m := range manifests(t, s.Widgets()) {
		t.Run(name, func(t *testing.T) {
			tracked := sites.With(sites.With(m, "hub", "metadata", "labels", wellknown.LabelHub), []any{ours}, "metadata", "ownerReferences")
			s.Apply("lynq", tracked)
			before := s.Patch("other", m, types.MergePatchType, string(sites.Encode(t, map[string]any{"metadata": map[string]any{"ownerReferences": []any{ours, theirs}}})))
			mark := MetadataChange{
				RemoveLabels:   []string{wellknown.LabelHub, "none"},
				SetLabels:      map[string]string{wellknown.LabelOrphaned: "true"},
				SetAnnotations: map[string]string{wellknown.AnnotationOrphanedReason: "why"},
				Owners:         []any{theirs},
			}
			body, mine, err := Retracked(before, mark)
			if err != nil || !mine {
				t.Fatal(name, mine, err)
			}
			marked := s.Must(s.TryApply("lynq", body, true))
			// A Deployment's generation also counts changes of its annotations.
			if marked.GetGeneration() != before.GetGeneration() && name != "Deployment" {
				t.Errorf("the generation moved")
			}
			if diff := cmp.Diff(without(before, "metadata", "status"), without(marked, "metadata", "status")); diff != "" {
				t.Errorf("the content changed: %s", diff)
			}
			l := tracking.LiveOf(lynq.Ref{}, metaOf(t, marked))
			if l.Hub != "" || !l.Orphaned || len(marked.GetOwnerReferences()) != 1 || marked.GetOwnerReferences()[0].Name != "theirs" {
				t.Errorf("%s", sites.Encode(t, marked.Object["metadata"]))
			}
			back := s.Must(s.TryApply("lynq", tracked, true))
			l = tracking.LiveOf(lynq.Ref{}, metaOf(t, back))
			if l.Hub != "hub" || l.Orphaned || back.GetAnnotations()[wellknown.AnnotationOrphanedReason] != "" || len(l.Owners) != 2 {
				t.Errorf("%s comes back: %s", name, sites.Encode(t, back.Object["metadata"]))
			}
			if diff := cmp.Diff(ownFields(t, before), ownFields(t, back)); diff != "" {
				t.Errorf("the fields that lynq manages are not what they were: %s", diff)
			}
		})
	}
}

// ownFields returns the fields that lynq manages by server-side apply.
func ownFields(t *testing.T, u *unstructured.Unstructured) string {
	t.Helper()
	managed, err := Managed(u)
	if err != nil {
		t.Fatal(err)
	}
	for i := range managed {
		if managed[i].applied() {
			return managed[i].fields.String()
		}
	}
	t.Fatalf("%s: lynq applied nothing", u.GetName())
	return ""
}

func without(u *unstructured.Unstructured, fields ...string) map[string]any {
	c := u.DeepCopy()
	for _, f := range fields {
		delete(c.Object, f)
	}
	return c.Object
}

func metaOf(t testing.TB, u *unstructured.Unstructured) *metav1.PartialObjectMetadata {
	t.Helper()
	var m metav1.PartialObjectMetadata
	if err := unmarshal(sites.Encode(t, u.Object), &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

func TestMetadataPatch(t *testing.T) {
	s := newSite(t)
	config := sites.With(sites.With(sites.Parse(t, sites.Settings), "hub", "metadata", "labels", wellknown.LabelHub), "x", "metadata", "annotations", "a")
	live := s.Create("lynq", config)
	if _, ours, err := Retracked(live, MetadataChange{}); ours || err != nil {
		t.Errorf("%v, %v of an object that lynq does not apply", ours, err)
	}
	patch, err := MetadataPatch(live, MetadataChange{
		RemoveLabels: []string{wellknown.LabelHub, "none"}, SetLabels: map[string]string{"b": "c"},
		RemoveAnnotations: []string{"a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	after := s.Patch("lynq", config, types.MergePatchType, string(patch))
	if diff := cmp.Diff(map[string]string{"b": "c"}, after.GetLabels()); diff != "" || len(after.GetAnnotations()) != 0 {
		t.Error(diff, after.GetAnnotations())
	}
	if diff := cmp.Diff(live.Object["data"], after.Object["data"]); diff != "" {
		t.Error(diff)
	}
	// The patch is only for that version.
	_, err = s.Client(config).Patch(t.Context(), "settings", types.MergePatchType, patch, metav1.PatchOptions{})
	if !apierrors.IsConflict(err) {
		t.Errorf("a second time: %v", err)
	}
	// The owner exists, because the garbage collector deletes objects without an existing
	// owner.
	record := s.Create("lynq", sites.With(sites.Parse(t, sites.Settings), "lynqnode-a", "metadata", "name"))
	owner := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "lynqnode-a", "uid": string(record.GetUID())}
	patch, err = MetadataPatch(after, MetadataChange{Owners: []any{owner}})
	if err != nil {
		t.Fatal(err)
	}
	after = s.Patch("lynq", config, types.MergePatchType, string(patch))
	if patch, err = MetadataPatch(after, MetadataChange{}); err != nil || len(after.GetOwnerReferences()) != 1 {
		t.Fatal(err, after.GetOwnerReferences())
	}
	if after = s.Patch("lynq", config, types.MergePatchType, string(patch)); len(after.GetOwnerReferences()) != 0 {
		t.Error("the owner stays")
	}
}

// TestUnreadableFields checks that unreadable managed fields don't count as unmanaged.
func TestUnreadableFields(t *testing.T) {
	for name, entry := range map[string]any{
		"no map":    "x",
		"bad field": map[string]any{"manager": "lynq", "operation": "Apply", "fieldsV1": map[string]any{"f:data": map[string]any{"q": map[string]any{}}}},
	} {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: sites.With(sites.Parse(t, sites.Settings), []any{entry}, "metadata", "managedFields")}
			if _, ours, err := ownApplied(live); err == nil {
				t.Errorf("ownApplied says %v", ours)
			}
			if _, _, err := Ignore(live.Object, live, []string{"$.data"}); err == nil {
				t.Errorf("ignoreFields goes on")
			}
			if !WouldChange(lynq.PatchMerge, live.Object, live) || !WouldChange(lynq.PatchReplace, live.Object, live) {
				t.Errorf("taken for unchanged")
			}
		})
	}
	old := &unstructured.Unstructured{Object: sites.With(sites.Parse(t, sites.Settings), []any{map[string]any{
		"manager": "lynq", "operation": "Apply", "apiVersion": "v0", "fieldsV1": map[string]any{"f:data": map[string]any{}},
	}}, "metadata", "managedFields")}
	if _, _, err := ownApplied(old); err == nil {
		t.Error("fields of another version are extracted")
	}
}
