package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/sites"
)

var trackedCluster harness.Shared

// dynamicWatcher watches a real API server.
type dynamicWatcher struct{ dynamic.Interface }

func (d dynamicWatcher) Watch(ctx context.Context, r lynq.APIResource, in Scope, h Handler) error {
	client := resourceClient(d.Interface, r, in.Namespace)
	selected := metav1.ListOptions{LabelSelector: in.Labels}
	if in.Name != "" {
		selected.FieldSelector = "metadata.name=" + in.Name
	}
	for {
		list, err := client.List(ctx, selected)
		if err != nil {
			return err
		}
		for i := range list.Items {
			h.Read(&list.Items[i])()
		}
		h.Synced()
		from := selected
		from.ResourceVersion = list.GetResourceVersion()
		events, err := client.Watch(ctx, from)
		if err != nil {
			return err
		}
		if err := relay(ctx, events, h); err != nil {
			return err
		}
	}
}

// relay passes events on until the connection ends.
func relay(ctx context.Context, events watch.Interface, h Handler) error {
	defer events.Stop()
	for event := range events.ResultChan() {
		o, ok := event.Object.(*unstructured.Unstructured)
		switch {
		case !ok:
			return apierrors.FromObject(event.Object)
		case event.Type == watch.Deleted:
			h.Gone(o.GetNamespace(), o.GetName(), o.GetUID())
		default:
			h.Read(o)()
		}
	}
	return ctx.Err()
}

func resourceClient(c dynamic.Interface, r lynq.APIResource, namespace string) dynamic.ResourceInterface {
	client := c.Resource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural})
	if namespace == "" {
		return client
	}
	return client.Namespace(namespace)
}

// clusterTest is a tracker on a real cluster.
type clusterTest struct {
	*Tracker
	env      *harness.Env
	selector string
	t        *testing.T
	wakeUp   chan struct{}
}

func newClusterTest(t *testing.T) *clusterTest {
	t.Helper()
	env := trackedCluster.Env(t)
	ctx, cancel := context.WithCancel(t.Context())
	tr := New(ctx, dynamicWatcher{env.Dynamic})
	t.Cleanup(func() {
		cancel()
		tr.Wait()
	})
	return &clusterTest{Tracker: tr, env: env, selector: wellknown.LabelHub + "=" + env.Namespace, t: t, wakeUp: make(chan struct{}, 1)}
}

func (ct *clusterTest) notify() {
	select {
	case ct.wakeUp <- struct{}{}:
	default:
	}
}

// create creates an object from YAML, expects it, and returns its reference.
func (ct *clusterTest) create(r lynq.APIResource, text string) lynq.Ref {
	ct.t.Helper()
	o := sites.Parsed(ct.t, "apiVersion: "+r.APIVersion()+"\nkind: "+r.Kind+"\n"+text)
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[wellknown.LabelHub] = ct.env.Namespace
	o.SetLabels(labels)
	namespace := ""
	if r.Namespaced {
		namespace = ct.env.Namespace
	}
	ref := lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: namespace, Name: o.GetName()}
	ct.Plan(ref)
	ct.Start(r, ref, ct.selector)
	made, err := resourceClient(ct.env.Dynamic, r, namespace).Create(ct.t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		ct.t.Fatal(err)
	}
	ct.Expect(ref, RevisionOf(made), ct.notify)
	return ref
}

// becomes waits, like a node does, until an object has the desired state.
func (ct *clusterTest) becomes(ref lynq.Ref, want ready.State, message string) {
	ct.t.Helper()
	ctx, cancel := context.WithTimeoutCause(ct.t.Context(), 3*time.Minute, errors.New("three minutes are over"))
	defer cancel()
	for {
		r, _ := ct.State(ref)
		if r.State == want && strings.HasPrefix(r.Message, message) {
			return
		}
		select {
		case <-ct.wakeUp:
		case <-ctx.Done():
			ct.t.Fatalf("%s is %s: %q, want %s: %q: %v", ref, r.State, r.Message, want, message, context.Cause(ctx))
		}
	}
}

func resourceOf(group, kind, plural string) lynq.APIResource {
	return lynq.APIResource{Group: group, Version: "v1", Kind: kind, Plural: plural, Namespaced: true}
}

func pods(labels string) string {
	return "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a" + labels + "}}, " +
		"spec: {containers: [{name: a, image: example.com/a}]}}"
}

func TestClusterReadiness(t *testing.T) {
	t.Parallel()
	const neverReady = `, test.lynq.sh/never-ready: "true"`
	const claim = "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}"
	jobPod := func(labels string) string {
		return "template: {metadata: {labels: {app: job" + labels + "}}, " +
			"spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a}]}}"
	}
	deployments, jobs := resourceOf("apps", "Deployment", "deployments"), resourceOf("batch", "Job", "jobs")
	sets, services := resourceOf("apps", "StatefulSet", "statefulsets"), resourceOf("", "Service", "services")
	tests := []struct {
		resource lynq.APIResource
		object   string
		want     ready.State
		message  string
	}{
		{deployments, "metadata: {name: web}\nspec: {replicas: 2, " + pods("") + "}", ready.StateReady, ""},
		{deployments, "metadata: {name: none}\nspec: {replicas: 0, " + pods("") + "}", ready.StateReady, ""},
		{deployments, "metadata: {name: slow}\nspec: {replicas: 1, " + pods(neverReady) + "}", ready.StateWaiting, "0 of 1 replicas available"},
		{deployments, "metadata: {name: late}\nspec: {replicas: 1, progressDeadlineSeconds: 1, " + pods(neverReady) + "}",
			ready.StateFailed, "0 of 1 replicas available: ProgressDeadlineExceeded: "},
		{sets, "metadata: {name: db}\nspec: {serviceName: db, replicas: 2, " + pods("") + "}", ready.StateReady, ""},
		{sets, "metadata: {name: none}\nspec: {serviceName: db, replicas: 0, " + pods("") + "}", ready.StateReady, ""},
		{jobs, "metadata: {name: migrate}\nspec: {" + jobPod("") + "}", ready.StateReady, ""},
		{jobs, "metadata: {name: brief}\nspec: {ttlSecondsAfterFinished: 0, " + jobPod("") + "}", ready.StateReady, ""},
		{jobs, "metadata: {name: suspended}\nspec: {suspend: true, " + jobPod("") + "}", ready.StateReady, "suspended"},
		{jobs, "metadata: {name: broken}\nspec: {backoffLimit: 0, " + jobPod(`, test.lynq.sh/fail: "true"`) + "}",
			ready.StateFailed, "Job failed: BackoffLimitExceeded: "},
		{claims(), "metadata: {name: data}\n" + claim + "}", ready.StateReady, ""},
		{claims(), "metadata: {name: lazy}\n" + claim + ", storageClassName: wait}", ready.StateReady, "waiting for the first consumer"},
		{claims(), "metadata: {name: never, labels: {test.lynq.sh/never-ready: \"true\"}}\n" + claim + "}",
			ready.StateWaiting, `not bound: storage class "standard" has given no volume yet`},
		{claims(), "metadata: {name: wrong}\n" + claim + ", storageClassName: none}", ready.StateWaiting, `not bound: storage class "none" doesn't exist`},
		{services, "metadata: {name: public}\nspec: {type: LoadBalancer, ports: [{port: 80}]}", ready.StateReady, ""},
		{services, "metadata: {name: never, labels: {test.lynq.sh/never-ready: \"true\"}}\nspec: {type: LoadBalancer, ports: [{port: 80}]}",
			ready.StateWaiting, "its load balancer has no address yet"},
	}
	ct := newClusterTest(t)
	refs := make([]lynq.Ref, len(tests))
	for i, test := range tests {
		refs[i] = ct.create(test.resource, test.object)
	}
	for i, test := range tests {
		ct.becomes(refs[i], test.want, test.message)
	}
}

func TestClusterReadinessOfChanges(t *testing.T) {
	t.Parallel()
	deployments := resourceOf("apps", "Deployment", "deployments")
	ct := newClusterTest(t)
	ref := ct.create(deployments, "metadata: {name: web}\nspec: {replicas: 1, "+pods("")+"}")
	ct.becomes(ref, ready.StateReady, "")

	// The known state is from before the change.
	client := resourceClient(ct.env.Dynamic, deployments, ct.env.Namespace)
	o := ct.env.Get(t, "deployment/web")
	if err := unstructured.SetNestedField(o.Object, int64(3), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	changed, err := client.Update(t.Context(), o, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ct.Expect(ref, RevisionOf(changed), ct.notify)
	ct.becomes(ref, ready.StateReady, "")
	ct.env.Equal(t, "deployment/web", ".status.availableReplicas", "3")

	ct.ExpectGone(ref, changed.GetUID(), ct.notify)
	if err := client.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	ct.becomes(ref, ready.StateGone, Deleted)
}

func TestClusterReadinessOfDefinitions(t *testing.T) {
	t.Parallel()
	ct := newClusterTest(t)
	group := ct.env.Namespace + ".example.com"
	definitions := lynq.APIResource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Plural: "customresourcedefinitions"}
	definition := func(plural string) string {
		return fmt.Sprintf(`
metadata: {name: %s.%s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {kind: Widget, plural: %[1]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {status: {}}
`, plural, group)
	}
	t.Cleanup(func() {
		for _, plural := range []string{"widgets", "gadgets"} {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			err := resourceClient(ct.env.Dynamic, definitions, "").Delete(ctx, plural+"."+group, metav1.DeleteOptions{})
			cancel()
			if err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("delete %s: %v", plural, err)
			}
		}
	})
	ct.becomes(ct.create(definitions, definition("widgets")), ready.StateReady, "")
	ct.becomes(ct.create(definitions, definition("gadgets")), ready.StateFailed, `ListKindConflict: "WidgetList" is already in use`)

	widgets := resourceOf(group, "Widget", "widgets")
	ref := ct.create(widgets, "metadata: {name: w}")
	ct.becomes(ref, ready.StateReady, "")
	ct.env.Kubectl(t, "", "patch", "widgets."+group, "w", "--subresource=status", "--type=merge",
		"-p", `{"status":{"conditions":[{"type":"Stalled","status":"True","reason":"Bad","message":"no chart"}]}}`)
	ct.becomes(ref, ready.StateFailed, "Bad: no chart")
}

func TestClusterReadinessForbidden(t *testing.T) {
	t.Parallel()
	ct := newClusterTest(t)
	config, err := clientcmd.BuildConfigFromFlags("", ct.env.As(t, "eve-"+ct.env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ct.cluster = dynamicWatcher{client}
	ref := ct.create(resourceOf("apps", "Deployment", "deployments"), "metadata: {name: web}\nspec: {"+pods("")+"}")
	ct.becomes(ref, ready.StateFailed, `cannot watch deployments.apps `+ct.env.Namespace+`/web: deployments.apps "web" is forbidden: User "eve-`+ct.env.Namespace+
		`" cannot list resource "deployments" in API group "apps" in the namespace "`+ct.env.Namespace+`"`)
}
