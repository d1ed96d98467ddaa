package apply_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/sites"
)

// unions has, for the unions of built-in kinds, forms that set one member after the other.
// The first may set none, and then the server's default is one.
func unions() map[string][]string {
	pod := func(fields string) string {
		return "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + fields + "}}}}"
	}
	container := func(fields string) string { return pod("containers: [{name: a, image: a, " + fields + "}]") }
	volume := func(source string) string {
		return pod("containers: [{name: a, image: a}], volumes: [{name: v" + source + "}]")
	}
	strategy := func(kind, field, strategy string) string {
		return "{apiVersion: apps/v1, kind: " + kind + ", spec: {" + field + ": " + strategy + ", selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}"
	}
	set := func(update string) string {
		return strings.Replace(strategy("StatefulSet", "updateStrategy", update), "spec: {", "spec: {replicas: 0, serviceName: a, ", 1)
	}
	service := func(fields string) string {
		return "{apiVersion: v1, kind: Service, spec: {" + fields + "}}"
	}
	spec := func(head, fields string) string { return "{" + head + ", spec: {" + fields + "}}" }
	const (
		ingress = "apiVersion: networking.k8s.io/v1, kind: Ingress"
		peers   = "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy"
		budget  = "apiVersion: policy/v1, kind: PodDisruptionBudget"
		scaler  = "apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler"
		target  = "maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}, "
		from    = "podSelector: {}, policyTypes: [Ingress], ingress: "
		webhook = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, " +
			"rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [none]}], clientConfig: "
	)
	return map[string][]string{
		"deployment": {strategy("Deployment", "strategy", "{}"), strategy("Deployment", "strategy", "{type: Recreate}"), strategy("Deployment", "strategy", "{type: RollingUpdate, rollingUpdate: {maxSurge: 2}}"), strategy("Deployment", "strategy", "{type: Recreate}"), strategy("Deployment", "strategy", "{type: RollingUpdate}"), strategy("Deployment", "strategy", "{type: Recreate, rollingUpdate: null}")},
		"set":        {set("{}"), set("{type: OnDelete}"), set("{type: RollingUpdate, rollingUpdate: {partition: 1}}"), set("{type: OnDelete}")},
		"daemons":    {strategy("DaemonSet", "updateStrategy", "{}"), strategy("DaemonSet", "updateStrategy", "{type: OnDelete}"), strategy("DaemonSet", "updateStrategy", "{type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}}")},
		"volume":     {volume(""), volume(", configMap: {name: a}"), volume(", secret: {secretName: a}"), volume(", hostPath: {path: /a}"), volume(", emptyDir: {medium: Memory}"), volume(", projected: {sources: [{configMap: {name: a}}]}"), volume(", downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}"), volume(", persistentVolumeClaim: {claimName: a}"), volume(", emptyDir: {}")},
		"probe":      {container("livenessProbe: {httpGet: {path: /, port: 1}}"), container("livenessProbe: {tcpSocket: {port: 1}}"), container("livenessProbe: {exec: {command: [a]}}"), container("livenessProbe: {grpc: {port: 1}}"), container("livenessProbe: {httpGet: {port: 2}}")},
		"readiness":  {container("readinessProbe: {exec: {command: [a]}}, startupProbe: {httpGet: {port: 1}}"), container("readinessProbe: {httpGet: {port: 1}}, startupProbe: {exec: {command: [a]}}")},
		"hook":       {container("lifecycle: {preStop: {httpGet: {port: 1}}, postStart: {exec: {command: [a]}}}"), container("lifecycle: {preStop: {exec: {command: [a]}}, postStart: {httpGet: {port: 1}}}"), container("lifecycle: {preStop: {sleep: {seconds: 1}}, postStart: {exec: {command: [a]}}}")},
		"variable":   {container("env: [{name: A, value: a}]"), container("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), container("env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: b}}}]"), container("env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: b}}}]"), container("env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]"), container("env: [{name: A, value: b}]")},
		"variables":  {container("envFrom: [{configMapRef: {name: a}}]"), container("envFrom: [{secretRef: {name: a}}]")},
		"type":       {service("ports: [{port: 80}]"), service("type: NodePort, ports: [{port: 80}]"), service("type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]"), service("type: ClusterIP, ports: [{port: 80}]"), service("type: ExternalName, externalName: a.example.com"), service("type: ClusterIP, ports: [{port: 80}]")},
		"affinity":   {service("ports: [{port: 80}], sessionAffinity: ClientIP"), service("ports: [{port: 80}], sessionAffinity: None"), service("ports: [{port: 80}], sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}"), service("ports: [{port: 80}]")},
		"backend":    {spec(ingress, "defaultBackend: {service: {name: a, port: {number: 1}}}"), spec(ingress, "defaultBackend: {resource: {kind: a, name: b}}"), spec(ingress, "defaultBackend: {service: {name: a, port: {name: b}}}")},
		"peers":      {spec(peers, from+"[{from: [{podSelector: {}}]}]"), spec(peers, from+"[{from: [{ipBlock: {cidr: 192.0.2.0/24}}]}]"), spec(peers, from+"[{from: [{namespaceSelector: {}}]}]")},
		"budget":     {spec(budget, "selector: {matchLabels: {a: b}}, minAvailable: 1"), spec(budget, "selector: {matchLabels: {a: b}}, maxUnavailable: 1"), spec(budget, "selector: {matchLabels: {a: b}}, minAvailable: 10%")},
		"metrics":    {spec(scaler, target), spec(scaler, target+"metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 50}}}]"), spec(scaler, target+"metrics: [{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: '1'}}}]"), spec(scaler, target+"metrics: [{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: '1'}}}]")},
		"webhook":    {webhook + "{service: {name: a, namespace: b}}}]}", webhook + "{url: 'https://none.example.com'}}]}", webhook + "{service: {name: a, namespace: b, path: /a}}}]}"},
	}
}

// TestUnions checks, for each union and strategy, that a form may change from one member to
// another, and that the object has what the form says then.
func TestUnions(t *testing.T) {
	base := newLone(t)
	for name, forms := range unions() {
		for _, strategy := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchMerge} {
			first := sites.Parse(t, forms[0])
			c := base.of(fmt.Sprintf("%s-%s", name, strategy), policyOf(strategy, lynq.ConflictStuck), first)
			if outcome, says := c.apply(first); outcome != report.OutcomeDone {
				t.Errorf("%s: %s: %s", c.name, outcome, says)
				continue
			}
			if c.clusterScoped() {
				c.DeleteLater(sites.With(first, c.objectName(), "metadata", "name"))
			}
			for _, form := range forms[1:] {
				m := sites.Parse(t, form)
				outcome, says := c.apply(m)
				if outcome == report.OutcomeFailed || outcome == report.OutcomeConflicted {
					t.Errorf("%s: %s: %s: %s", c.name, form, outcome, says)
					continue
				}
				if !covers(c.get().Object["spec"], withoutNulls(m["spec"])) {
					t.Errorf("%s: the form says\n%s\nthe object is\n%s", c.name, sites.Encode(t, m["spec"]), sites.Encode(t, c.get().Object["spec"]))
				}
				if outcome, says := c.apply(m); outcome != report.OutcomeUnchanged {
					t.Errorf("%s: %s: again: %s: %s", c.name, form, outcome, says)
				}
			}
		}
	}
}

// withoutNulls returns a copy of a value without the nulls in its maps.
func withoutNulls(v any) any {
	m, is := v.(map[string]any)
	if !is {
		return v
	}
	without := map[string]any{}
	for name, child := range m {
		if child != nil {
			without[name] = withoutNulls(child)
		}
	}
	return without
}

// TestUnionOfOthers checks that lynqctl doesn't drop a member that another client manages,
// and that a dry run changes nothing.
func TestUnionOfOthers(t *testing.T) {
	base := newLone(t)
	from, to := sites.Parse(t, unions()["deployment"][0]), sites.Parse(t, unions()["deployment"][1])
	for _, strategy := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchMerge} {
		t.Run(string(strategy), func(t *testing.T) {
			c := base.of("others-"+string(strategy), policyOf(strategy, lynq.ConflictStuck), from)
			c.apply(from)
			c.patch("kubectl-edit", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":3}}}}`)
			outcome, says := c.apply(to)
			surge, _, _ := unstructured.NestedFieldNoCopy(c.get().Object, "spec", "strategy", "rollingUpdate", "maxSurge")
			if outcome != report.OutcomeFailed || surge != int64(3) {
				t.Errorf("%s: %s: %s: %v", c.name, outcome, says, surge)
			}
		})
	}
}

// TestNulls checks, for each strategy, that an explicit null removes a field that no other
// manager has, and no other one.
func TestNulls(t *testing.T) {
	base := newLone(t)
	widgets := base.Widgets()
	deployment := func(fields string) string {
		return "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0, " + fields + "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}"
	}
	for name, tt := range map[string]struct {
		from, to, patch string
		field           []string
		want            any
	}{
		"ours":           {deployment("revisionHistoryLimit: 3, "), deployment("revisionHistoryLimit: null, "), "", []string{"spec", "revisionHistoryLimit"}, int64(10)},
		"theirs":         {deployment(""), deployment("revisionHistoryLimit: null, "), `{"spec":{"revisionHistoryLimit":4}}`, []string{"spec", "revisionHistoryLimit"}, int64(4)},
		"paused":         {deployment("paused: true, "), deployment("paused: null, "), "", []string{"spec", "paused"}, nil},
		"data":           {"{apiVersion: v1, kind: ConfigMap, data: {a: x, b: z}}", "{apiVersion: v1, kind: ConfigMap, data: {a: null, b: z}}", "", []string{"data", "a"}, nil},
		"their data":     {"{apiVersion: v1, kind: ConfigMap, data: {b: z}}", "{apiVersion: v1, kind: ConfigMap, data: {a: null, b: z}}", `{"data":{"a":"x"}}`, []string{"data", "a"}, "x"},
		"a resource":     {"{apiVersion: " + widgets + ", kind: Widget, spec: {size: 5, tags: [a], fixed: a}}", "{apiVersion: " + widgets + ", kind: Widget, spec: {size: null, tags: null, fixed: a}}", "", []string{"spec", "size"}, int64(3)},
		"their resource": {"{apiVersion: " + widgets + ", kind: Widget, spec: {size: 5}}", "{apiVersion: " + widgets + ", kind: Widget, spec: {size: 5, tags: null}}", `{"spec":{"tags":["x"]}}`, []string{"spec", "tags"}, []any{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, strategy := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchOverride, lynq.PatchMerge, lynq.PatchReplace} {
				from, to := sites.Parse(t, tt.from), sites.Parse(t, tt.to)
				c := base.of(strings.ToLower(strings.ReplaceAll(fmt.Sprintf("%s-%s", name, strategy), " ", "-")), policyOf(strategy, lynq.ConflictForce), from)
				if outcome, says := c.apply(from); outcome != report.OutcomeDone {
					t.Errorf("%s: %s: %s", c.name, outcome, says)
					continue
				}
				if tt.patch != "" {
					c.patch("kubectl-edit", tt.patch)
				}
				outcome, says := c.apply(sites.With(to, "x", "metadata", "labels", "more"))
				got, _, _ := unstructured.NestedFieldNoCopy(c.get().Object, tt.field...)
				if outcome != report.OutcomeDone || !reflect.DeepEqual(got, tt.want) {
					t.Errorf("%s: %s: %s: it is %v, want %v", c.name, outcome, says, got, tt.want)
				}
			}
		})
	}
}
