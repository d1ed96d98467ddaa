package apply_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/sites"
)

// lone has a node with one object, which other clients change too.
type lone struct {
	*sites.Site
	client   *kube.Client
	store    *store.Store
	name     string
	policy   lynq.Policy
	resource lynq.APIResource
}

// newLone returns a lone for objects with a manifest's kind. Its site makes the test parallel.
func newLone(t *testing.T) *lone {
	t.Helper()
	s := sites.New(t, apply.ClusterOfTests())
	client, err := kube.Access{Kubeconfig: s.Kubeconfig}.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &lone{Site: s, client: client, store: store.New(client.ConfigMaps())}
}

// of returns a copy for another object and policy.
func (l *lone) of(name string, p lynq.Policy, m map[string]any) *lone {
	l.T.Helper()
	c := *l
	c.name, c.policy = name, p
	gvk := (&unstructured.Unstructured{Object: m}).GroupVersionKind()
	var err error
	if c.resource, err = l.client.Resource(l.T.Context(), gvk.Group, gvk.Version, gvk.Kind); err != nil {
		l.T.Fatal(err)
	}
	return &c
}

func (l *lone) clusterScoped() bool { return kinds.ClusterScoped(l.resource.Group, l.resource.Kind) }

// namespace returns the object's namespace, or "".
func (l *lone) namespace() string {
	if l.clusterScoped() {
		return ""
	}
	return l.Namespace
}

// objectName returns a name that no other namespace of the cluster has.
func (l *lone) objectName() string {
	switch {
	case l.resource.Kind == "CustomResourceDefinition":
		return "widgets." + l.Namespace + ".example.com"
	case l.clusterScoped():
		return l.Namespace + "-" + l.name
	}
	return l.name
}

func (l *lone) objects() dynamic.ResourceInterface {
	all := l.Dynamic.Resource(schema.GroupVersionResource{Group: l.resource.Group, Version: l.resource.Version, Resource: l.resource.Plural})
	if l.clusterScoped() {
		return all
	}
	return all.Namespace(l.Namespace)
}

func (l *lone) get() *unstructured.Unstructured {
	l.T.Helper()
	return l.Must(l.objects().Get(l.T.Context(), l.objectName(), metav1.GetOptions{}))
}

// patch changes the object like another client.
func (l *lone) patch(manager, patch string, subresources ...string) {
	l.T.Helper()
	l.Must(l.objects().Patch(l.T.Context(), l.objectName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}, subresources...))
}

// applied lets another client apply a part of the object by force.
func (l *lone) applied(manager, part string) {
	l.T.Helper()
	m := sites.Parse(l.T, part)
	m["apiVersion"], m["kind"] = l.get().GetAPIVersion(), l.resource.Kind
	m = sites.With(m, l.objectName(), "metadata", "name")
	force := true
	l.Must(l.objects().Patch(l.T.Context(), l.objectName(), types.ApplyPatchType, sites.Encode(l.T, m), metav1.PatchOptions{FieldManager: manager, Force: &force}))
}

// apply runs lynqctl with a manifest for the object. It returns the outcome and the messages.
func (l *lone) apply(m map[string]any) (report.Outcome, string) {
	l.T.Helper()
	node := l.node(m)
	hub := lynq.HubKey{Namespace: l.Namespace, Name: l.Namespace + "-" + l.name}
	in := &decide.Input{Hub: hub, Desired: decide.Desired{Nodes: []*plan.Node{node}, Active: 1}, Now: time.Now()}
	var err error
	if in.Recorded.Inventories, err = l.store.Nodes(l.T.Context(), hub); err != nil {
		l.T.Fatal(err)
	}
	seen, err := observe.Nodes(l.T.Context(), l.client, in.Hub.Name, in.Desired.Nodes, in.Recorded.Inventories)
	if err != nil {
		l.T.Fatal(err)
	}
	in.Observed = *seen
	limits := decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 1}}
	found, err := apply.Ask(l.T.Context(), l.client, decide.Decide(in, limits))
	if err != nil {
		l.T.Fatal(err)
	}
	in.Found(found)
	told := &outcomes{outcome: report.OutcomeUnchanged}
	r := &apply.Runner{Cluster: l.client, Inventories: l.store, Reporter: told, Now: time.Now, Options: apply.Options{Concurrency: 1, Grace: time.Minute}}
	if _, err := r.Run(l.T.Context(), []plan.Plan{*decide.Decide(in, limits)}); err != nil {
		l.T.Fatalf("%s: %v", l.name, err)
	}
	return told.outcome, strings.Join(told.messages, "; ")
}

// outcomes keeps what a run says about its object.
type outcomes struct {
	outcome  report.Outcome
	messages []string
}

func (o *outcomes) Report(e report.Event) {
	if e.Type != report.EventObject {
		return
	}
	o.outcome = e.Outcome
	if e.Message != "" {
		o.messages = append(o.messages, fmt.Sprintf("%s %s: %s", e.Action, e.Reason, e.Message))
	}
}

// node returns the node with its object.
func (l *lone) node(m map[string]any) *plan.Node {
	l.T.Helper()
	u := unstructured.Unstructured{Object: runtime.DeepCopyJSON(m)}
	u.SetName(l.objectName())
	u.SetNamespace(l.namespace())
	id := lynq.NodeID{Name: l.name + "-web", Namespace: l.Namespace, UID: l.name, Hub: lynq.HubKey{Namespace: l.Namespace, Name: l.Namespace + "-" + l.name}, Form: lynq.FormKey{Name: "web"}}
	labels, annotations := map[string]string{wellknown.LabelHub: id.Hub.Name}, map[string]string{}
	if l.clusterScoped() {
		maps.Copy(labels, lynq.NodeLabels(id.Hub, id.Key()))
	}
	maps.Copy(labels, u.GetLabels())
	maps.Copy(annotations, u.GetAnnotations())
	annotations[wellknown.AnnotationDeletionPolicy], annotations[wellknown.AnnotationResourceID] = string(lynq.DeleteDelete), "it"
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	body, err := manifest.Encode(u.Object)
	if err != nil {
		l.T.Fatal(err)
	}
	policy := l.policy
	policy.Unwaited = true
	node, err := plan.Make(&lynq.Node{NodeID: id, Objects: []lynq.Object{{
		Ref: lynq.Ref{Group: l.resource.Group, Kind: l.resource.Kind, Namespace: l.namespace(), Name: l.objectName()},
		ID:  "it", APIVersion: u.GetAPIVersion(), Policy: &policy, Body: body,
	}}})
	if err != nil {
		l.T.Fatal(err)
	}
	return node
}

// policyOf returns a policy with a strategy.
func policyOf(s lynq.PatchStrategy, c lynq.ConflictPolicy, ignored ...string) lynq.Policy {
	p := lynq.DefaultPolicy()
	p.Patch, p.Conflict, p.IgnoreFields = s, c, ignored
	return p
}
