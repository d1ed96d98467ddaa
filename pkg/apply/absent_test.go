package apply

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestAbsentVersion checks that a server-side apply with that version creates a missing
// object and never changes an existing one, whatever its kind and managers.
func TestAbsentVersion(t *testing.T) {
	s := newSite(t)
	widgets := s.Widgets()
	for _, text := range []string{
		sites.Settings, sites.WebDeployment,
		"{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {a: b}}",
		"{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{port: 80}]}}",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: x}}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
		"{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: example.com/a}]}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: " + s.Namespace + "-x}}",
		"{apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {schedule: '* * * * *', suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a}]}}}}}}",
		"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x}, spec: {defaultBackend: {service: {name: x, port: {number: 80}}}}}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: x}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + s.Namespace + "-x}}",
		"{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1." + s.Namespace + ".example.org}, spec: {group: " + s.Namespace + ".example.org, version: v1, groupPriorityMinimum: 1, versionPriority: 1, service: {name: x, namespace: x}}}",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things." + s.Namespace + ".example.net}, spec: {group: " + s.Namespace + ".example.net, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}",
		"{apiVersion: " + widgets + ", kind: Widget, metadata: {name: w}, spec: {fixed: a}}",
	} {
		t.Run(text, func(t *testing.T) {
			m := sites.With(sites.Parse(t, text), "1", "metadata", "labels", "some")
			s.DeleteLater(m)
			onlyNew := sites.With(m, write.AbsentVersion, "metadata", "resourceVersion")
			made, err := s.TryApply(wellknown.FieldManager, onlyNew, false)
			if err != nil || made.GetResourceVersion() == write.AbsentVersion {
				t.Errorf("%s is not created: %v", text, err)
				return
			}
			if entries := made.GetManagedFields(); len(entries) == 0 || entries[0].Operation != "Apply" {
				t.Errorf("%s: it is managed by %v, want an apply", text, entries)
			}
			for _, force := range []bool{false, true} {
				if _, err := s.TryApply(wellknown.FieldManager, onlyNew, force); write.ProblemOf(err).Kind != write.ProblemMoved {
					t.Errorf("%s, there already, by ourselves: %v", text, err)
				}
			}
			changed := sites.With(onlyNew, "b", "metadata", "labels", "a")
			if _, err := s.TryApply("other", changed, true); write.ProblemOf(err).Kind != write.ProblemMoved {
				t.Errorf("%s, there already, by another manager: %v", text, err)
			}
			if labels := s.Get(m).GetLabels(); labels["a"] != "" {
				t.Errorf("%s was changed: %v", text, labels)
			}
		})
	}
}
