package apply_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/sites"
)

// fill is an object with an empty value that another client fills.
type fill struct {
	manifest    string
	field       []string // filled, for the assertion
	manager     string   // writes patch. "" if a controller or the server fills the field
	patch       string
	subresource []string
	status      bool // the manager also writes the status
}

// fills has an object of each kind in which others fill a field, with every sort of empty
// value.
func fills() map[string]fill {
	const webhook = "admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [none]}]"
	return map[string]fill{
		"claim":       {manifest: "{apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: none, volumeName: '', accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", field: []string{"spec", "volumeName"}, manager: "kube-controller-manager", patch: `{"spec":{"volumeName":"pv"}}`},
		"null claim":  {manifest: "{apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: none, volumeName: null, volumeMode: null, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", field: []string{"spec", "volumeName"}, manager: "somebody", patch: `{"spec":{"volumeName":"pv"}}`},
		"volume":      {manifest: "{apiVersion: v1, kind: PersistentVolume, spec: {storageClassName: none, claimRef: {}, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}}", field: []string{"spec", "claimRef"}, manager: "kube-controller-manager", patch: `{"spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"none","name":"none"}}}`},
		"service":     {manifest: "{apiVersion: v1, kind: Service, spec: {type: NodePort, clusterIP: '', clusterIPs: [], ipFamilies: [], healthCheckNodePort: 0, ports: [{port: 80, nodePort: 0}]}}", field: []string{"spec", "clusterIP"}},
		"tokens":      {manifest: "{apiVersion: v1, kind: ServiceAccount, secrets: [], imagePullSecrets: null}", field: []string{"secrets"}, manager: "openshift-controller-manager", patch: `{"secrets":[{"name":"t"}],"imagePullSecrets":[{"name":"p"}]}`},
		"pull secret": {manifest: "{apiVersion: v1, kind: ServiceAccount, imagePullSecrets: []}", field: []string{"imagePullSecrets"}, manager: "openshift-controller-manager", patch: `{"imagePullSecrets":[{"name":"p"}]}`},
		"token":       {manifest: "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {annotations: {kubernetes.io/service-account.name: default}}, data: {}}", field: []string{"data", "token"}},
		"null token":  {manifest: "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {annotations: {kubernetes.io/service-account.name: default}}, data: {token: null, ca.crt: '', more: eA==}}", field: []string{"data", "token"}},
		"pod":         {manifest: "{apiVersion: v1, kind: Pod, spec: {nodeName: '', tolerations: [], volumes: [], containers: [{name: a, image: a, volumeMounts: [], resources: {}}]}}", field: []string{"spec", "nodeName"}},
		"deployment":  {manifest: "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: null, strategy: {}, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}", field: []string{"spec", "replicas"}, manager: "hpa", patch: `{"spec":{"replicas":3}}`, subresource: []string{"scale"}},
		"set":         {manifest: "{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: a, replicas: null, updateStrategy: {}, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}", field: []string{"spec", "replicas"}, manager: "kubectl", patch: `{"spec":{"replicas":0}}`, subresource: []string{"scale"}},
		"job":         {manifest: "{apiVersion: batch/v1, kind: Job, spec: {suspend: true, selector: {}, template: {metadata: {labels: {}}, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}", field: []string{"spec", "selector"}},
		"role":        {manifest: "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {clusterRoleSelectors: [{matchLabels: {kubernetes.io/bootstrapping: rbac-defaults}}]}, rules: []}", field: []string{"rules"}},
		"null role":   {manifest: "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {clusterRoleSelectors: [{matchLabels: {kubernetes.io/bootstrapping: rbac-defaults}}]}, rules: null}", field: []string{"rules"}},
		"validating":  {manifest: "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{name: a.example.com, " + webhook + ", clientConfig: {url: 'https://none.example.com', caBundle: ''}}]}", field: []string{"webhooks"}, manager: "kubectl-patch", patch: `{"webhooks":[{"name":"a.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","failurePolicy":"Ignore","rules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["none"]}],"clientConfig":{"url":"https://none.example.com","caBundle":"eA=="}}]}`},
		"mutating":    {manifest: "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: [{name: a.example.com, " + webhook + ", clientConfig: {url: 'https://none.example.com', caBundle: null}}]}", field: []string{"webhooks"}, manager: "cert-manager-cainjector", patch: `{"webhooks":[{"name":"a.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","failurePolicy":"Ignore","rules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["none"]}],"clientConfig":{"url":"https://none.example.com","caBundle":"eA=="}}]}`},
		"ingress":     {manifest: "{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {ingressClassName: null, defaultBackend: {service: {name: a, port: {number: 1}}}}}", field: []string{"spec", "ingressClassName"}, manager: "kubectl-edit", patch: `{"spec":{"ingressClassName":"c"}}`},
		"lease":       {manifest: "{apiVersion: coordination.k8s.io/v1, kind: Lease, spec: {holderIdentity: ''}}", field: []string{"spec", "holderIdentity"}, manager: "leader", patch: `{"spec":{"holderIdentity":"me"}}`},
		"finalizers":  {manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {finalizers: []}}", field: []string{"metadata", "finalizers"}, manager: "backup", patch: `{"metadata":{"finalizers":["example.com/a"]}}`},
		"widget":      {manifest: "{apiVersion: WIDGETS, kind: Widget, spec: {host: '', endpoint: {}, list: [], none: null, kept: ''}}", field: []string{"spec"}, manager: "operator", patch: `{"spec":{"host":"h","endpoint":{"port":1},"list":["a"],"none":"n"}}`, status: true},
	}
}

// TestFills checks, for each kind and strategy, that an empty value of the form leaves the
// field to those who fill it, whether or not something else in the form changes, and that
// nothing changes between.
func TestFills(t *testing.T) {
	base := newLone(t)
	widgets := base.Widgets()
	base.Wait(t, "serviceaccount/default", harness.Exists())
	for name, f := range fills() {
		m := sites.Parse(t, strings.ReplaceAll(f.manifest, "WIDGETS", widgets))
		for _, p := range []lynq.Policy{
			policyOf(lynq.PatchApply, lynq.ConflictStuck), policyOf(lynq.PatchApply, lynq.ConflictForce), policyOf(lynq.PatchMerge, lynq.ConflictStuck),
			policyOf(lynq.PatchReplace, lynq.ConflictForce), policyOf(lynq.PatchRecreate, lynq.ConflictStuck),
		} {
			c := base.of(strings.ToLower(strings.ReplaceAll(fmt.Sprintf("%s-%s-%s", name, p.Patch, p.Conflict), " ", "-")), p, m)
			c.filled(m, f)
		}
	}
}

// filled runs one case.
func (l *lone) filled(m map[string]any, f fill) {
	l.T.Helper()
	if outcome, says := l.apply(m); outcome != report.OutcomeDone {
		l.T.Errorf("%s: %s: %s", l.name, outcome, says)
		return
	}
	l.T.Cleanup(func() { l.remove(m) })
	if f.manager != "" {
		l.patch(f.manager, f.patch, f.subresource...)
	}
	if f.status {
		l.patch(f.manager, `{"status":{"phase":"Done"}}`)
	}
	var filled any
	for filled == nil || filled == "" {
		filled, _, _ = unstructured.NestedFieldNoCopy(l.get().Object, f.field...)
	}
	uid := l.get().GetUID()
	outcome, says := l.apply(m)
	if outcome != report.OutcomeUnchanged {
		l.T.Errorf("%s: after it was filled: %s: %s", l.name, outcome, says)
	}
	labelled := sites.With(m, "x", "metadata", "labels", "more")
	if outcome, says = l.apply(labelled); outcome != report.OutcomeDone {
		l.T.Errorf("%s: with a changed label: %s: %s", l.name, outcome, says)
	}
	now := l.get()
	if v, _, _ := unstructured.NestedFieldNoCopy(now.Object, f.field...); !reflect.DeepEqual(v, filled) && l.resource.Kind != "ClusterRole" {
		l.T.Errorf("%s: it is %v, and was %v", l.name, v, filled)
	}
	if now.GetUID() != uid || now.GetLabels()["more"] != "x" {
		l.T.Errorf("%s: recreated or without its label", l.name)
	}
}

// remove deletes an object without a namespace, and finalizers of the test.
func (l *lone) remove(m map[string]any) {
	if l.resource.Kind == "ConfigMap" {
		l.Unfinalize(sites.With(m, l.objectName(), "metadata", "name"))
	}
	if l.clusterScoped() {
		l.DeleteLater(sites.With(m, l.objectName(), "metadata", "name"))
	}
}

// TestEmptyCounts checks that an empty value that nobody fills counts, under each strategy. A
// list or map that only lynqctl filled is emptied, and another client's change is undone.
func TestEmptyCounts(t *testing.T) {
	base := newLone(t)
	for name, tt := range map[string]struct {
		from, to string
		field    []string
		patch    string // another client's change of to
	}{
		"data": {"{apiVersion: v1, kind: ConfigMap, data: {a: x}}", "{apiVersion: v1, kind: ConfigMap, data: {a: ''}}", []string{"data", "a"}, `{"data":{"a":"y"}}`},
		"policy": {
			"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{}]}}",
			"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}, policyTypes: [Ingress], ingress: []}}", []string{"spec", "ingress"}, `{"spec":{"ingress":[{}]}}`,
		},
		"role": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: []}", []string{"rules"}, `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["list"]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, strategy := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchOverride, lynq.PatchMerge, lynq.PatchReplace} {
				from, to := sites.Parse(t, tt.from), sites.Parse(t, tt.to)
				c := base.of(name+"-"+string(strategy), policyOf(strategy, lynq.ConflictStuck), from)
				c.apply(from)
				c.apply(to)
				empty := func(when string) {
					v, _, _ := unstructured.NestedFieldNoCopy(c.get().Object, tt.field...)
					if list, is := v.([]any); v != nil && v != "" && (!is || len(list) > 0) {
						t.Errorf("%s %s: it is %v", c.name, when, v)
					}
				}
				empty("after the form emptied it")
				c.patch("kubectl-edit", tt.patch)
				if outcome, says := c.apply(to); outcome != report.OutcomeDone {
					t.Errorf("%s: %s: %s", c.name, outcome, says)
				}
				empty("after somebody changed it")
			}
		})
	}
}
