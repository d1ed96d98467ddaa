package write

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/sites"
)

func TestProblemFields(t *testing.T) {
	s := newSite(t)
	web := sites.Parse(t, sites.WebDeployment)
	s.Apply("helm", web)
	s.Patch("hpa", web, types.MergePatchType, `{"spec":{"replicas":5}}`, "scale")
	mine := sites.With(sites.With(web, int64(3), "spec", "replicas"), "mine", "metadata", "labels", "app")
	_, err := s.TryApply("lynq", mine, false)
	p := ProblemOf(err)
	want := []fields.Conflict{
		{Manager: "helm", Field: ".metadata.labels.app", Applied: true},
		{Manager: "hpa", Subresource: "scale", Field: ".spec.replicas"},
	}
	if diff := cmp.Diff(want, p.Conflicts, cmp.AllowUnexported(fields.Conflict{})); diff != "" || p.Kind != ProblemFields || !p.Refused {
		t.Errorf("%v\n%+v\n%s", err, p, diff)
	}
	if got, want := fields.ManagedBy(p.Conflicts), `.metadata.labels.app is managed by "helm", .spec.replicas is managed by "hpa" (scale)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestProblemOf provokes each answer of a real server.
func TestProblemOf(t *testing.T) {
	s := newSite(t)
	web, config := sites.Parse(t, sites.WebDeployment), sites.Parse(t, sites.Settings)
	s.Apply("lynq", web)
	live := s.Apply("lynq", config)
	stale := sites.With(config, live.GetResourceVersion(), "metadata", "resourceVersion")
	s.Apply("lynq", sites.With(config, "red", "data", "colour"))
	other := "11111111-1111-1111-1111-111111111111"
	widgets := s.Widgets()
	widget := sites.Parse(t, "{apiVersion: "+widgets+", kind: Widget, metadata: {name: w}, spec: {fixed: a}}")
	s.Apply("lynq", widget)

	apply := func(m map[string]any) error { _, err := s.TryApply("lynq", m, false); return err }
	update := func(m map[string]any) error { _, err := s.TryUpdate("lynq", m); return err }
	patch := func(kind types.PatchType, body string) error {
		_, err := s.Client(config).Patch(t.Context(), "settings", kind, []byte(body), metav1.PatchOptions{})
		return err
	}
	remove := func(p metav1.Preconditions) error {
		return s.Client(config).Delete(t.Context(), "settings", metav1.DeleteOptions{Preconditions: &p})
	}
	otherUID, oldVersion := types.UID(other), live.GetResourceVersion()
	created := func(text string, conflicts map[string]any, path ...string) error {
		m := sites.Parse(t, text)
		s.Apply("lynq", m)
		s.DeleteLater(m)
		for k, v := range conflicts {
			m = sites.With(m, v, append(append([]string{}, path...), k)...)
		}
		return apply(m)
	}
	tests := []struct {
		name  string
		err   error
		kind  Kind
		paths []string
	}{
		{"version, apply", apply(stale), ProblemMoved, nil},
		{"version, update", update(stale), ProblemMoved, nil},
		{"version, merge patch", patch(types.MergePatchType, `{"metadata":{"resourceVersion":"1"},"data":{"x":"y"}}`), ProblemMoved, nil},
		{"version, JSON patch", patch(types.JSONPatchType, `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"},{"op":"replace","path":"/data/colour","value":"x"}]`), ProblemMoved, nil},
		{"JSON patch, test", patch(types.JSONPatchType, `[{"op":"test","path":"/data/colour","value":"blue"}]`), ProblemMoved, nil},
		{"uid, apply", apply(sites.With(config, other, "metadata", "uid")), ProblemReplaced, nil},
		{"uid, apply to none", apply(sites.With(sites.With(config, other, "metadata", "uid"), "none", "metadata", "name")), ProblemReplaced, nil},
		{"uid, update", update(sites.With(config, other, "metadata", "uid")), ProblemReplaced, nil},
		{"uid, merge patch", patch(types.MergePatchType, `{"metadata":{"uid":"`+other+`"}}`), ProblemReplaced, nil},
		{"uid, delete", remove(metav1.Preconditions{UID: &otherUID}), ProblemReplaced, nil},
		{"version, delete", remove(metav1.Preconditions{ResourceVersion: &oldVersion}), ProblemMoved, nil},
		{"exists", func() error { _, err := s.TryCreate("lynq", config); return err }(), ProblemExists, nil},
		{"gone, update", update(sites.With(config, "none", "metadata", "name")), ProblemGone, nil},
		{"no namespace", apply(sites.With(config, "no-such-namespace", "metadata", "namespace")), ProblemNoNamespace, nil},
		{"no kind", func() error {
			_, err := s.Dynamic.Resource(sites.GVR("none.example.com", "v1", "nones")).Namespace(s.Namespace).Patch(t.Context(), "x", types.ApplyPatchType, sites.Encode(t, config), metav1.PatchOptions{FieldManager: "lynq"})
			return err
		}(), ProblemNoKind, nil},
		{"invalid", apply(sites.With(web, "no such policy", "spec", "template", "spec", "restartPolicy")), ProblemInvalid, []string{"spec.template.spec.restartPolicy"}},
		{"unknown field", apply(sites.With(web, "x", "spec", "nonsense")), ProblemMisfit, nil},
		{"wrong type", apply(sites.With(config, int64(1), "data", "colour")), ProblemMisfit, nil},
		{"wrong type, update", update(sites.With(config, int64(1), "data", "colour")), ProblemMisfit, nil},
		{"wrong type, merge patch", patch(types.MergePatchType, `{"data":{"colour":1}}`), ProblemMisfit, nil},
		{"wrong type, strategic patch", patch(types.StrategicMergePatchType, `{"data":{"colour":1}}`), ProblemMisfit, nil},
		{"quantity", apply(sites.WithContainer(web, 0, "resources", map[string]any{"limits": map[string]any{"memory": "1Gib"}})), ProblemMisfit, nil},
		{"base64", apply(sites.With(config, "no base64!", "binaryData", "colour")), ProblemMisfit, nil},

		{"immutable: selector", apply(sites.With(sites.With(web, "other", "spec", "selector", "matchLabels", "app"), "other", "spec", "template", "metadata", "labels", "app")), ProblemImmutable, []string{"spec.selector"}},
		{"immutable: StatefulSet", created(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {serviceName: a, replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}
`, map[string]any{"serviceName": "b"}, "spec"), ProblemImmutable, []string{"spec"}},
		{"immutable: PersistentVolumeClaim", created(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
`, map[string]any{"storageClassName": "other"}, "spec"), ProblemImmutable, []string{"spec"}},
		{"immutable: Job", created(`
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
`, map[string]any{"completions": int64(3)}, "spec"), ProblemImmutable, []string{"spec.completions"}},
		{"immutable: Service", created(`
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
`, map[string]any{"clusterIP": "None"}, "spec"), ProblemImmutable, []string{"spec.clusterIPs[0]"}},
		{"immutable: RoleBinding", created(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: view}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
`, map[string]any{"name": "edit"}, "roleRef"), ProblemImmutable, []string{"roleRef"}},
		{"immutable: Secret's type", created(`
apiVersion: v1
kind: Secret
metadata: {name: s}
type: Opaque
`, map[string]any{"type": "example.com/other"}), ProblemImmutable, []string{"type"}},
		{"immutable: ConfigMap", created(`
apiVersion: v1
kind: ConfigMap
metadata: {name: fixed}
immutable: true
data: {a: b}
`, map[string]any{"a": "c"}, "data"), ProblemImmutable, []string{"data"}},
		{"immutable: StorageClass", created(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: `+s.Namespace+`}
provisioner: example.com/none
`, map[string]any{"parameters": map[string]any{"a": "b"}}), ProblemImmutable, []string{"parameters"}},
		{"immutable: PriorityClass", created(`
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: `+s.Namespace+`}
value: 1
`, map[string]any{"value": int64(2)}), ProblemImmutable, []string{"value"}},
		{"immutable: custom resource", apply(sites.With(widget, "b", "spec", "fixed")), ProblemImmutable, []string{"spec.fixed"}},
		{"no error", nil, ProblemNone, nil},
		{"moved, by our own reading", fmt.Errorf("w: %w", ErrMoved), ProblemMoved, nil},
		{"another object, by our own reading", fmt.Errorf("w: %w", ErrReplaced), ProblemReplaced, nil},
		{"no such kind", &meta.NoKindMatchError{}, ProblemNoKind, nil},
		{"no answer", errors.New("connection refused"), ProblemOther, nil},
	}
	for _, tt := range tests {
		p := ProblemOf(tt.err)
		if p.Kind != tt.kind {
			t.Errorf("%s: kind %d, want %d: %v", tt.name, p.Kind, tt.kind, tt.err)
			continue
		}
		if diff := cmp.Diff(tt.paths, p.Paths); diff != "" && tt.paths != nil {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestProblemRefusals provokes each kind of refusal.
func TestProblemRefusals(t *testing.T) {
	s := newSite(t)
	config := sites.Parse(t, sites.Settings)
	tests := []struct {
		name string
		err  error
		kind Kind
	}{
		{"may not", s.asNobody(config), ProblemForbidden},
		{"namespace that ends", s.inEndingNamespace(config), ProblemEnding},
		{"policy", s.againstPolicy(config), ProblemDenied},
		{"webhook", s.againstWebhook(config), ProblemDenied},
		{"quota", s.overQuota(config), ProblemDenied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if p := ProblemOf(tt.err); p.Kind != tt.kind || !p.Refused || p.Hint == "" && p.Kind != ProblemEnding {
				t.Errorf("%+v, want kind %d: %v", p, tt.kind, tt.err)
			}
		})
	}
	if text := Describe(lynq.Ref{Kind: "ConfigMap"}, tests[0].err); !strings.Contains(text, "cannot patch resource") || !strings.HasSuffix(text, "(ask for a role that allows it)") {
		t.Error(text)
	}
}

// asNobody applies as a user without permissions.
func (s *site) asNobody(m map[string]any) error {
	s.T.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.As(s.T, "nobody-"+s.Namespace))
	if err != nil {
		s.T.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		s.T.Fatal(err)
	}
	_, err = client.Resource(sites.GVR("", "v1", "configmaps")).Namespace(s.Namespace).
		Patch(s.T.Context(), sites.NameIn(m), types.ApplyPatchType, sites.Encode(s.T, m), metav1.PatchOptions{FieldManager: "lynq"})
	return err
}

// inEndingNamespace applies to a namespace that is being deleted. A finalizer of an object
// in it blocks that.
func (s *site) inEndingNamespace(m map[string]any) error {
	s.T.Helper()
	name := s.NewNamespace(s.T)
	holds := sites.With(sites.With(sites.With(m, name, "metadata", "namespace"), "holds", "metadata", "name"), []any{"example.com/test"}, "metadata", "finalizers")
	s.Create("test", holds)
	ns := sites.Parse(s.T, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	if err := s.Client(ns).Delete(s.T.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() {
		_, _ = s.Client(holds).Patch(context.Background(), "holds", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	})
	_, err := s.TryApply("lynq", sites.With(m, name, "metadata", "namespace"), false)
	return err
}

// againstPolicy applies an object that a ValidatingAdmissionPolicy forbids.
func (s *site) againstPolicy(m map[string]any) error {
	s.T.Helper()
	for _, text := range []string{`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "object.metadata.name != 'by-policy'", message: not that name}]
`, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec:
  policyName: NAME
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}}
`} {
		policy := sites.Parse(s.T, strings.ReplaceAll(text, "NAME", s.Namespace))
		s.Create("test", policy)
		s.DeleteLater(policy)
	}
	return s.untilRefused(sites.With(m, "by-policy", "metadata", "name"))
}

// againstWebhook applies an object that a webhook denies.
func (s *site) againstWebhook(m map[string]any) error {
	s.T.Helper()
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":false,"status":{"reason":"Invalid","message":"field is immutable, says the hook"}}}`, review.Request.UID)
	}))
	s.T.Cleanup(hook.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	config := sites.Parse(s.T, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: `+s.Namespace+`}
webhooks:
- name: deny.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "`+hook.URL+`", caBundle: `+base64.StdEncoding.EncodeToString(ca)+`}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+s.Namespace+`}}
  matchConditions: [{name: name, expression: "request.name == 'by-hook'"}]
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`)
	s.Create("test", config)
	s.DeleteLater(config)
	return s.untilRefused(sites.With(m, "by-hook", "metadata", "name"))
}

// overQuota creates more than a quota allows.
func (s *site) overQuota(m map[string]any) error {
	s.T.Helper()
	s.Create("test", sites.Parse(s.T, `
apiVersion: v1
kind: ResourceQuota
metadata: {name: few}
spec: {hard: {configmaps: "0"}}
`))
	s.Wait(s.T, "resourcequota/few", harness.PathEquals(".status.hard.configmaps", "0"))
	return s.untilRefused(sites.With(m, "by-quota", "metadata", "name"))
}

// untilRefused sends dry runs until the server enforces a new rule, because the server
// learns about rules from a watch.
func (s *site) untilRefused(m map[string]any) error {
	s.T.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); <-tick.C {
		u := &unstructured.Unstructured{Object: m}
		if _, err := s.Client(m).Create(s.T.Context(), u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			return err
		}
	}
	s.T.Fatal("not refused within three minutes")
	return nil
}

// TestDescribeSecret checks that a message never has quoted content of a Secret.
func TestDescribeSecret(t *testing.T) {
	s := newSite(t)
	secret := sites.Parse(t, `
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {password: hunter2}
`)
	ref := lynq.Ref{Kind: "Secret", Namespace: s.Namespace, Name: "s"}
	s.Apply("lynq", secret)
	for _, tt := range []struct {
		name string
		m    map[string]any
		want string
	}{
		{"number", sites.With(secret, int64(987654321), "stringData", "password"),
			"the server refused it: failed to create typed patch object: .stringData.password: expected string (" + misfitHint("expected string") + ")"},
		{"no base64", sites.With(secret, "hunter2!", "data", "password"),
			"the server refused it: illegal base64 data at input byte 7 (" + misfitHint("illegal base64 data") + ")"},
		{"key", sites.With(secret, "hunter2", "stringData", "pass word"), "the server refused it: Invalid data[pass word]"},
		{"type", sites.With(secret, "hunter2", "type"), "the server refused it: Invalid type (" + hintOf(ProblemImmutable) + ")"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.TryApply("lynq", tt.m, false)
			if text := Describe(ref, err); text != tt.want {
				t.Errorf("%s\nwant %s\n(%v)", text, tt.want, err)
			}
		})
	}
	_, err := s.Client(secret).Patch(t.Context(), "s", types.StrategicMergePatchType, []byte(`{"stringData":{"password":987654321}}`), metav1.PatchOptions{})
	if got, want := Describe(ref, err), "the server refused it: cannot convert int64 to string ("+misfitHint("")+")"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestMisfit checks that a permanent refusal differs from a temporary one, and that its
// cause has no values.
func TestMisfit(t *testing.T) {
	for message, want := range map[string]string{
		`failed to convert new object (/s; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 3`: "illegal base64 data at input byte 3",
		`failed to create typed patch object (/s; /v1, Kind=Secret): .data.p: expected string, got &value.valueUnstructured{Value:12345}`:                                                                 "failed to create typed patch object: .data.p: expected string",
		`failed to create typed patch object (/s; /v1, Kind=Secret): .spec: field not declared in schema`:                                                                                                 "failed to create typed patch object: .spec: field not declared in schema",
		`Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal number 12345 into Go struct field Secret.stringData of type string`:                                                 "json: cannot unmarshal number into Go struct field Secret.stringData of type string",
		`failed to convert new object (/q; apps/v1, Kind=Deployment) to proper version: quantities must match the regular expression '^([+-]?[0-9.]+)$'`:                                                  "quantities must match the regular expression '^([+-]?[0-9.]+)$'",
	} {
		t.Run(message, func(t *testing.T) {
			if got := MisfitCause(message); !Misfit(message) || got != want {
				t.Errorf("%s: %s, want %s", message, got, want)
			}
		})
	}
	for _, message := range []string{
		"etcdserver: request timed out",
		`Internal error occurred: failed calling webhook "a.b.c": connection refused`,
		"failed to convert new object (/a; x.io/v1, Kind=A) to proper version: conversion webhook for x.io/v2, Kind=A failed: connection refused",
	} {
		t.Run(message, func(t *testing.T) {
			if Misfit(message) || MisfitCause(message) != "" {
				t.Errorf("%s: never taken, for %q", message, MisfitCause(message))
			}
		})
	}
}

// TestDescribeStructures checks that messages leave out quoted structures, such as the
// template of a Job with passwords in its variables. They still name the problem.
func TestDescribeStructures(t *testing.T) {
	s := newSite(t)
	job := sites.Parse(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: a, image: a, env: [{name: PASSWORD, value: hunter2}]}]}}
`)
	s.Apply("lynq", job)
	_, err := s.TryApply("lynq", sites.WithContainer(job, 0, "env", []any{map[string]any{"name": "PASSWORD", "value": "hunter3"}}), false)
	if err == nil || !strings.Contains(err.Error(), "hunter3") {
		t.Fatalf("the server quotes nothing: %v", err)
	}
	got := Describe(lynq.Ref{Group: "batch", Kind: "Job"}, fmt.Errorf("apply jobs.batch: %w", err))
	want := `apply jobs.batch: Job.batch "once" is invalid: spec.template.spec: Invalid value: field is immutable (` + hintOf(ProblemImmutable) + ")"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestWithoutStructure(t *testing.T) {
	for message, want := range map[string]string{
		`Invalid value: {"a":{"b":"c: d"}}: field is immutable`:       `Invalid value: field is immutable`,
		`Invalid value: ["a","b"]: may not change once set`:           `Invalid value: may not change once set`,
		`Invalid value: "a_b": must be a DNS label`:                   `Invalid value: "a_b": must be a DNS label`,
		`Invalid value: 5: must be less`:                              `Invalid value: 5: must be less`,
		`Invalid value: {not: JSON}: field is immutable`:              `Invalid value`,
		`Invalid value: "map[data:map[a:5]]": cannot convert int64`:   `Invalid value: cannot convert int64`,
		`Invalid value: "{\"data\":{\"a\":5}}": json: cannot`:         `Invalid value: json: cannot`,
		`Duplicate value: {"containerPort":80,"name":"a"}`:            `Duplicate value`,
		`Forbidden: spec is immutable after creation`:                 `Forbidden: spec is immutable after creation`,
		`Unsupported value: "x": supported values: "Always", "Never"`: `Unsupported value: "x": supported values: "Always", "Never"`,
		`Required value`: `Required value`,
	} {
		t.Run(message, func(t *testing.T) {
			if got := withoutStructure(message); got != want {
				t.Errorf("%s: %s, want %s", message, got, want)
			}
		})
	}
}

func TestFieldConflictOf(t *testing.T) {
	for message, want := range map[string]fields.Conflict{
		`conflict with "helm"`:                                                               {Manager: "helm", Applied: true},
		`conflict with "helm" using apps/v1`:                                                 {Manager: "helm"},
		`conflict with "a \"b\" c" using apps/v1 at 2024-02-29T12:00:00Z`:                    {Manager: `a "b" c`},
		`conflict with "hpa" with subresource "scale" using apps/v1 at 2024-02-29T12:00:00Z`: {Manager: "hpa", Subresource: "scale"},
		`conflict with "x" with subresource "status"`:                                        {Manager: "x", Subresource: "status", Applied: true},
		`words of another server`:                                                            {Manager: "words of another server", Applied: true},
	} {
		t.Run(message, func(t *testing.T) {
			want.Field = ".spec"
			got := fieldConflictOf(metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: message, Field: ".spec"})
			if got != want {
				t.Errorf("%s: %+v, want %+v", message, got, want)
			}
		})
	}
}

func TestSayFields(t *testing.T) {
	one := []fields.Conflict{{Manager: "helm", Field: ".spec.replicas"}}
	several := []fields.Conflict{
		{Manager: "helm", Field: ".a"}, {Manager: "helm", Field: ".b"}, {Manager: "hpa", Subresource: "scale", Field: ".c"},
	}
	var many []fields.Conflict
	for _, f := range []string{".a", ".b", ".c", ".d", ".e", ".f", ".g"} {
		many = append(many, fields.Conflict{Manager: "helm", Field: f})
	}
	for _, tt := range []struct{ got, want string }{
		{fields.ManagedBy(one), `.spec.replicas is managed by "helm"`},
		{fields.ManagedBy(several), `.a and .b are managed by "helm", .c is managed by "hpa" (scale)`},
		{fields.ManagedBy(many), `.a, .b, .c, .d, .e and 2 more are managed by "helm"`},
		{fields.ManagedBy(many[:3]), `.a, .b and .c are managed by "helm"`},
		{fields.Describe(several), `.a and .b from "helm", .c from "hpa" (scale)`},
		{fields.ManagedBy(nil), ""},
	} {
		t.Run(tt.got, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("%s, want %s", tt.got, tt.want)
			}
		})
	}
}

// TestRefused checks that only writes which the server certainly didn't do count as
// refused.
func TestRefused(t *testing.T) {
	for code, want := range map[int32]bool{400: true, 408: false, 422: true, 429: true, 500: false, 503: false} {
		p := ProblemOf(&apierrors.StatusError{ErrStatus: metav1.Status{Code: code}})
		if p.Refused != want || p.Kind != ProblemOther {
			t.Errorf("%d: %+v", code, p)
		}
	}
	secret := lynq.Ref{Kind: "Secret", Namespace: "a", Name: "b"}
	if got, want := Describe(secret, &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "hunter2"}}), "the server refused it: status 500"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Describe(secret, errors.New("connection refused")); got != "connection refused" {
		t.Error(got)
	}
}

// TestDeniedBy checks that a message names the denying webhook or policy, even if the
// reason may quote passwords.
func TestDeniedBy(t *testing.T) {
	for message, want := range map[string]string{
		`admission webhook "books.example.com" denied the request: hunter2`:                                            `admission webhook "books.example.com" denied the request`,
		`secrets "a" is invalid: : ValidatingAdmissionPolicy 'books' with binding 'all.books' denied request: hunter2`: `ValidatingAdmissionPolicy 'books' with binding 'all.books' denied request`,
		`Invalid value: "ValidatingAdmissionPolicy 'hunter2 it is' denied request"`:                                    "",
		`Invalid value: "admission webhook \"hunter2": must be something else`:                                         "",
		"": "",
	} {
		t.Run(message, func(t *testing.T) {
			if got := DeniedBy(message); got != want {
				t.Errorf("%s: %q, want %q", message, got, want)
			}
		})
	}
	err := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid,
		Message: "ValidatingAdmissionPolicy 'books' with binding 'all' denied request: hunter2"}}
	want := "ValidatingAdmissionPolicy 'books' with binding 'all' denied request (why is hidden, because it may quote the Secret's values) (" + hintOf(ProblemDenied) + ")"
	if got := Describe(lynq.Ref{Kind: "Secret", Namespace: "a", Name: "b"}, err); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestImmutable checks that the message about an immutable field names a possible fix, and
// never Force.
func TestImmutable(t *testing.T) {
	const stays = "spec.a, spec.b cannot change on an object that exists, which stays as it was: take the change back, or "
	deployment, claim := lynq.Ref{Group: "apps", Kind: "Deployment", Name: "a"}, lynq.Ref{Kind: "PersistentVolumeClaim", Name: "a"}
	for name, tt := range map[string]struct {
		ref    lynq.Ref
		change func(*plan.Step)
		want   string
	}{
		"most":          {deployment, func(*plan.Step) {}, "set patchStrategy: recreate, which deletes it and creates it again"},
		"data":          {claim, func(*plan.Step) {}, "set patchStrategy: recreate and apply with --include-data, which deletes it with its data and creates it again"},
		"retained data": {claim, func(s *plan.Step) { s.Object.Policy.Deletion = lynq.DeleteRetain }, "delete the object so that it is created again"},
		"adopted":       {deployment, func(s *plan.Step) { s.Adopted = true }, "delete the object so that it is created again"},
		"recreate":      {deployment, func(s *plan.Step) { s.Object.Policy.Patch = lynq.PatchRecreate }, "apply again, which recreates it"},
		"written once":  {deployment, func(s *plan.Step) { s.Object.Policy.Creation = lynq.CreateOnce }, "delete the object so that it is created again"},
		"in place":      {deployment, func(s *plan.Step) { s.InPlace = "it is so" }, "delete the object so that it is created again; patchStrategy recreate does not, since it is so"},
	} {
		t.Run(name, func(t *testing.T) {
			p := lynq.DefaultPolicy()
			s := &plan.Step{Object: &plan.Object{Ref: tt.ref, Policy: &p}}
			tt.change(s)
			if got := immutableHint(s, []string{"spec.a", "spec.b"}); got != stays+tt.want {
				t.Errorf("%s", got)
			}
		})
	}
}
