package fields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestOwnAppliedWritesNothing checks that not even the version changes, for kinds without a
// controller.
func TestOwnAppliedWritesNothing(t *testing.T) {
	s := newSite(t)
	all := manifests(t, s.Widgets())
	all["Secret"] = sites.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: s, finalizers: [example.com/a]}, type: example.com/t, data: {a: Yg==, empty: ''}}")
	all["ServiceAccount"] = sites.Parse(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: sa}, imagePullSecrets: [{name: a}, {name: b}]}")
	all["RoleBinding"] = sites.Parse(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: view}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: sa}, {kind: User, name: u, apiGroup: rbac.authorization.k8s.io}]
`)
	all["LimitRange"] = sites.Parse(t, "{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, default: {cpu: 1000m}}]}}")
	for _, kind := range []string{"ConfigMap", "Secret", "Ingress", "Role", "RoleBinding", "NetworkPolicy", "ServiceAccount", "LimitRange", "Widget"} {
		t.Run(kind, func(t *testing.T) {
			m := all[kind]
			s.Apply("lynq", m)
			before := s.Get(m)
			body, ours, err := ownApplied(before)
			if err != nil || !ours {
				t.Fatalf("%s: %v, %v", kind, ours, err)
			}
			if diff := cmp.Diff(before.Object, s.Apply("lynq", body).Object); diff != "" {
				t.Errorf("%s: %s", kind, diff)
			}
		})
	}
	s.Unfinalize(all["Secret"])
}

// TestRetrackedOfAnotherVersion checks fields that lynq applied in another API version,
// which this one can't repeat. The content is kept, and the marks are removed when the
// version comes back.
func TestRetrackedOfAnotherVersion(t *testing.T) {
	s := newSite(t)
	old := sites.Parse(t, `
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web, labels: {lynq.sh/hub: hub}}
spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}
`)
	s.Apply("lynq", old)
	now := sites.Parse(t, `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, labels: {lynq.sh/hub: hub}}
spec:
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}
`)
	change := MetadataChange{
		RemoveLabels: []string{wellknown.LabelHub}, SetLabels: map[string]string{wellknown.LabelOrphaned: "true"},
		SetAnnotations: map[string]string{wellknown.AnnotationOrphanedReason: "why"},
	}
	var live, marked *unstructured.Unstructured
	s.Unmoved(func() (err error) { // its controller writes the status meanwhile
		live = s.Get(now)
		if body, ours, err := Retracked(live, change); ours || err != nil {
			t.Fatalf("%v, %v: %v", ours, err, body)
		}
		patch, err := MetadataPatch(live, change)
		if err != nil {
			t.Fatal(err)
		}
		marked, err = s.Client(now).Patch(t.Context(), sites.NameIn(now), types.MergePatchType, patch, sites.PatchOptions("lynq"))
		return err
	})
	if diff := cmp.Diff(live.Object["spec"], marked.Object["spec"]); diff != "" || marked.GetLabels()[wellknown.LabelOrphaned] != "true" || marked.GetLabels()[wellknown.LabelHub] != "" {
		t.Errorf("%v %s", marked.GetLabels(), diff)
	}
	// The object comes back. The first apply makes its version ours, and then lynqctl can
	// move and remove the marks.
	for range 2 {
		s.upgrade(now)
		s.Apply("lynq", now)
	}
	back := s.Get(now)
	l := tracking.LiveOf(lynq.Ref{}, metaOf(t, back))
	if l.Orphaned || l.Updated || l.Hub != "hub" || back.GetAnnotations()[wellknown.AnnotationOrphanedReason] != "" {
		t.Errorf("%s", sites.Encode(t, back.Object["metadata"]))
	}
	if n, _ := sites.Field(back, "spec", "metrics").([]any); len(n) != 1 {
		t.Errorf("%s", sites.Encode(t, back.Object["spec"]))
	}
}
