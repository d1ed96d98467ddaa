package fields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestUnclaim checks that empty values claim no field that others fill, and that all other
// empty values stay.
func TestUnclaim(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ manifest, want string }{
		"a claim's volume":             {"{kind: PersistentVolumeClaim, spec: {volumeName: '', storageClassName: ''}}", "{spec: {storageClassName: ''}}"},
		"a claim's class":              {"{kind: PersistentVolumeClaim, spec: {storageClassName: null, volumeMode: null}}", "{spec: {}}"},
		"a volume's claim":             {"{kind: PersistentVolume, spec: {claimRef: {}}}", "{spec: {}}"},
		"a Service's addresses":        {"{kind: Service, spec: {clusterIP: '', clusterIPs: [], healthCheckNodePort: 0, ports: [{port: 1, nodePort: 0}, {port: 2, nodePort: 30000}]}}", "{spec: {ports: [{port: 1}, {port: 2, nodePort: 30000}]}}"},
		"a headless Service":           {"{kind: Service, spec: {clusterIP: None, selector: {}}}", "{spec: {clusterIP: None, selector: {}}}"},
		"tokens":                       {"{kind: ServiceAccount, secrets: [], imagePullSecrets: [{name: a}]}", "{imagePullSecrets: [{name: a}]}"},
		"a token":                      {"{kind: Secret, type: kubernetes.io/service-account-token, data: {token: '', a: ''}}", "{type: kubernetes.io/service-account-token, data: {a: ''}}"},
		"another Secret":               {"{kind: Secret, data: {token: ''}}", "{data: {token: ''}}"},
		"an aggregated role":           {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: [], aggregationRule: {a: b}}", "{aggregationRule: {a: b}}"},
		"a role":                       {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: [], aggregationRule: {}}", "{rules: [], aggregationRule: {}}"},
		"a webhook's certificate":      {"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{clientConfig: {caBundle: '', url: u}}]}", "{webhooks: [{clientConfig: {url: u}}]}"},
		"a conversion":                 {"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {conversion: {webhook: {clientConfig: {caBundle: ''}}}, names: {singular: ''}}}", "{spec: {conversion: {webhook: {clientConfig: {}}}, names: {}}}"},
		"a Job's selector":             {"{apiVersion: batch/v1, kind: Job, spec: {selector: {}}}", "{spec: {}}"},
		"replicas":                     {"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: null}}", "{spec: {}}"},
		"no replicas":                  {"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0}}", "{spec: {replicas: 0}}"},
		"data":                         {"{kind: ConfigMap, data: {a: ''}}", "{data: {a: ''}}"},
		"a policy that denies all":     {"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}, ingress: []}}", "{spec: {podSelector: {}, ingress: []}}"},
		"finalizers":                   {"{kind: ConfigMap, metadata: {name: a, finalizers: []}}", "{metadata: {name: a}}"},
		"a custom resource":            {"{apiVersion: example.com/v1, kind: Service, metadata: {finalizers: null}, spec: {clusterIP: ''}, status: {}}", "{metadata: {}, spec: {clusterIP: ''}, status: {}}"},
		"the status of a built-in one": {"{kind: Service, status: {}}", "{status: {}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, want := sites.Parse(t, tt.manifest), sites.Parse(t, tt.want)
			if m["apiVersion"] == nil {
				m["apiVersion"] = "v1"
			}
			want["apiVersion"], want["kind"] = m["apiVersion"], m["kind"]
			u := unstructured.Unstructured{Object: m}
			ref := lynq.Ref{Group: u.GroupVersionKind().Group, Kind: u.GetKind()}
			changes := !cmp.Equal(m, want)
			if body, err := manifest.Encode(sites.With(m, "a", "metadata", "labels", "a")); err != nil || changes && !MayUnclaim(ref, body) {
				t.Errorf("%s: MayUnclaim misses it (%v)", name, err)
			}
			Unclaim(m)
			if diff := cmp.Diff(want, m); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		})
	}
}

// TestReplacementKeepsFilled checks that a replacement keeps what others filled, and only
// that.
func TestReplacementKeepsFilled(t *testing.T) {
	t.Parallel()
	owns := func(manager, fields string) string {
		return "{manager: " + manager + ", operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: " + fields + "}"
	}
	for name, tt := range map[string]struct{ desired, live, managers, want string }{
		"a token": {
			"{kind: Secret, type: kubernetes.io/service-account-token}", "{data: {token: dA==, ca.crt: Yw==, other: bw==}}",
			owns("lynq", "{'f:type': {}}"), "{data: {token: dA==, ca.crt: Yw==}}",
		},
		"a token with a key of the form": {
			"{kind: Secret, type: kubernetes.io/service-account-token, data: {a: YQ==}}", "{data: {a: YQ==, token: dA==}}", "", "{data: {a: YQ==, token: dA==}}",
		},
		"another Secret": {"{kind: Secret, type: Opaque}", "{data: {token: dA==}}", "", "{}"},
		"an aggregated role": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {a: b}}", "{rules: [{verbs: [get]}]}",
			owns("clusterrole-aggregation-controller", "{'f:rules': {}}"), "{rules: [{verbs: [get]}]}",
		},
		"rules of an earlier form": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {a: b}}", "{rules: [{verbs: [get]}]}",
			owns("lynq", "{'f:rules': {}}"), "{}",
		},
		"a Pod": {
			"{kind: Pod, spec: {containers: [{name: a}, {name: b, volumeMounts: [{mountPath: /x}]}], volumes: [{name: x}]}}",
			"{spec: {nodeName: n, tolerations: [{key: node.kubernetes.io/not-ready}, {key: theirs}], volumes: [{name: x}, {name: kube-api-access-1}, {name: y}], containers: [" +
				"{name: a, volumeMounts: [{mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}, " +
				"{name: b, volumeMounts: [{mountPath: /x}, {mountPath: /var/run/secrets/kubernetes.io/serviceaccount}, {mountPath: /y}]}]}}", "",
			"{spec: {nodeName: n, tolerations: [{key: node.kubernetes.io/not-ready}], volumes: [{name: x}, {name: kube-api-access-1}], containers: [" +
				"{name: a, volumeMounts: [{mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}, " +
				"{name: b, volumeMounts: [{mountPath: /x}, {mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}]}}",
		},
		"a webhook's certificate": {
			"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {url: u}}, {name: b}]}",
			"{webhooks: [{name: b, clientConfig: {caBundle: Yg==}}, {name: a, clientConfig: {url: u, caBundle: YQ==}}]}", "",
			"{webhooks: [{name: a, clientConfig: {url: u, caBundle: YQ==}}, {name: b, clientConfig: {caBundle: Yg==}}]}",
		},
		"a certificate of an earlier form": {
			"{apiVersion: apiregistration.k8s.io/v1, kind: APIService, spec: {}}", "{spec: {caBundle: YQ==}}", owns("lynq", "{'f:spec': {'f:caBundle': {}}}"), "{spec: {}}",
		},
		"a custom resource's controller": {
			"{apiVersion: example.com/v1, kind: Widget, spec: {a: 1}}", "{spec: {a: 1, endpoint: {host: h}, list: [x], theirs: y}}",
			owns("operator", "{'f:spec': {'f:endpoint': {'f:host': {}}, 'f:list': {}}}") + ", {manager: operator, operation: Update, subresource: status, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {}}, " +
				owns("somebody", "{'f:spec': {'f:theirs': {}}}"), "{spec: {a: 1, endpoint: {host: h}, list: [x]}}",
		},
		"a person who edited the status": {
			"{apiVersion: example.com/v1, kind: Widget, spec: {a: 1}}", "{spec: {a: 1, b: 2}}",
			owns("kubectl-edit", "{'f:spec': {'f:b': {}}}") + ", {manager: kubectl-edit, operation: Update, subresource: status, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {}}", "{spec: {a: 1}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			desired, live := sites.Parse(t, tt.desired), sites.Parse(t, tt.live)
			if desired["apiVersion"] == nil {
				desired["apiVersion"] = "v1"
			}
			live["metadata"] = sites.Parse(t, "{managedFields: ["+tt.managers+"]}")
			body, err := Replacement(desired, &unstructured.Unstructured{Object: live})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := sites.Parse(t, tt.want)
			for _, field := range []string{"apiVersion", "kind", "metadata", "type", "aggregationRule"} {
				delete(body, field)
			}
			if diff := cmp.Diff(want, body); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		})
	}
}
