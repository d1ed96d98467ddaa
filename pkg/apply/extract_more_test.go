package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestOwnAppliedWritesNothing: of kinds that no controller writes to, not even
// the version moves.
func TestOwnAppliedWritesNothing(t *testing.T) {
	s := newSite(t)
	all := manifests(t, s.widgets())
	all["Secret"] = parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: s, finalizers: [example.com/a]}, type: example.com/t, data: {a: Yg==, empty: ''}}")
	all["ServiceAccount"] = parse(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: sa}, imagePullSecrets: [{name: a}, {name: b}]}")
	all["RoleBinding"] = parse(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: view}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: sa}, {kind: User, name: u, apiGroup: rbac.authorization.k8s.io}]
`)
	all["LimitRange"] = parse(t, "{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, default: {cpu: 1000m}}]}}")
	for _, kind := range []string{"ConfigMap", "Secret", "Ingress", "Role", "RoleBinding", "NetworkPolicy", "ServiceAccount", "LimitRange", "Widget"} {
		m := all[kind]
		s.apply("lynq", m)
		before := s.get(m)
		body, ours, err := ownApplied(before)
		if err != nil || !ours {
			t.Fatalf("%s: %v, %v", kind, ours, err)
		}
		if diff := cmp.Diff(before.Object, s.apply("lynq", body).Object); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
	s.unfinalize(all["Secret"])
}

// TestRetrackedOfAnotherVersion: what was applied in another version of the API
// cannot be repeated in this one. Its content stays all the same, and the marks
// go when it comes back.
func TestRetrackedOfAnotherVersion(t *testing.T) {
	s := newSite(t)
	old := parse(t, `
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web, labels: {lynq.sh/hub: hub}}
spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}
`)
	s.apply("lynq", old)
	now := parse(t, `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, labels: {lynq.sh/hub: hub}}
spec:
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}
`)
	change := trackChange{
		RemoveLabels: []string{lynq.LabelHub}, SetLabels: map[string]string{lynq.LabelOrphaned: "true"},
		SetAnnotations: map[string]string{lynq.AnnotationOrphanedReason: "why"},
	}
	var live, marked *unstructured.Unstructured
	s.unmoved(func() (err error) { // its controller writes the status meanwhile
		live = s.get(now)
		if body, ours, err := retracked(live, change); ours || err != nil {
			t.Fatalf("%v, %v: %v", ours, err, body)
		}
		patch, err := metadataPatch(live, change)
		if err != nil {
			t.Fatal(err)
		}
		marked, err = s.client(now).Patch(t.Context(), nameIn(now), types.MergePatchType, patch, patchOptions("lynq"))
		return err
	})
	if diff := cmp.Diff(live.Object["spec"], marked.Object["spec"]); diff != "" || marked.GetLabels()[lynq.LabelOrphaned] != "true" || marked.GetLabels()[lynq.LabelHub] != "" {
		t.Errorf("%v %s", marked.GetLabels(), diff)
	}
	// It comes back: the first apply makes the version ours, after which the
	// marks can be moved and go.
	for range 2 {
		s.upgrade(now)
		s.apply("lynq", now)
	}
	back := s.get(now)
	l := LiveOf(lynq.Ref{}, metaOf(t, back))
	if l.Orphaned || l.Updated || l.Hub != "hub" || back.GetAnnotations()[lynq.AnnotationOrphanedReason] != "" {
		t.Errorf("%s", encode1(t, back.Object["metadata"]))
	}
	if n, _ := field(back, "spec", "metrics").([]any); len(n) != 1 {
		t.Errorf("%s", encode1(t, back.Object["spec"]))
	}
}
