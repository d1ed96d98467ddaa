package apply_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness"
)

// TestAdoptions adopts objects of several kinds from other tools, with forms that set some
// of their fields. For each tool, strategy and policy it checks:
//
//   - A dry run reports exactly the later result.
//   - Fields outside the form keep their values and managers.
//   - A form that then drops fields removes these, and nothing else.
func TestAdoptions(t *testing.T) {
	t.Parallel()
	for kind, build := range adoptedKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := newAdoptions(t)
			n, all := uint64(0), makers()
			for _, maker := range slices.Sorted(maps.Keys(all)) {
				for _, strategy := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchReplace, lynq.PatchMerge} {
					for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
						n++
						c := &adoption{
							adoptions: a, chance: rand.New(rand.NewPCG(n, 1)), build: build, make: all[maker],
							name: fmt.Sprintf("c%d", n), title: fmt.Sprintf("%s, %s, %s", maker, strategy, conflict),
							policy: lynq.DefaultPolicy(),
						}
						c.policy.Patch, c.policy.Conflict = strategy, conflict
						c.run()
					}
				}
			}
		})
	}
}

// adoptions has everything that the cases of one kind share.
type adoptions struct {
	*harness.Env
	t      *testing.T
	client *kube.Client
	store  *store.Store
	group  string // the API group of the custom resources
}

func newAdoptions(t *testing.T) *adoptions {
	t.Helper()
	env := apply.ClusterOfTests().Env(t)
	client, err := kube.Access{Kubeconfig: env.Kubeconfig}.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := &adoptions{Env: env, t: t, client: client, store: store.New(client.ConfigMaps())}
	if strings.HasSuffix(t.Name(), "/Widget") {
		a.group = env.Namespace + ".example.com"
		a.Kubectl(t, widgetsKind(a.group), "create", "-f", "-")
		a.Wait(t, "customresourcedefinition/widgets."+a.group, harness.ConditionTrue("Established"))
		a.Wait(t, "widgets."+a.group+"/none", harness.Gone()) // the server serves the kind
		t.Cleanup(func() {
			_, _ = env.TryKubectl(t, "", "delete", "crd", "widgets."+a.group, "--wait=false") // the cluster may have ended
		})
	}
	return a
}

// adoption is one case.
type adoption struct {
	*adoptions
	chance      *rand.Rand
	build       func(*form) map[string]any
	make        func(*adoption, map[string]any)
	name, title string
	policy      lynq.Policy
	resource    lynq.APIResource
}

func (c *adoption) run() {
	c.t.Helper()
	full := c.form()
	full.all = true
	c.find(c.build(full))
	there, wanted := c.form(), c.form()
	for _, p := range full.parts {
		there.on[p] = c.chance.IntN(6) > 0
		wanted.on[p] = c.chance.IntN(2) == 0
		// A value that differs from other managers' is a conflict under Stuck.
		wanted.other[p] = c.policy.Conflict == lynq.ConflictForce && c.chance.IntN(3) == 0
	}
	c.make(c, c.named(c.build(there)))
	before := c.get()
	predicted := c.apply(wanted, true)
	c.same("the dry run changed it", before, c.get())
	after := c.apply(wanted, false)
	c.predicts(predicted, after)
	c.untouched(before, after)

	less := c.form()
	less.other = wanted.other
	for p, on := range wanted.on {
		less.on[p] = on && c.chance.IntN(2) == 0
	}
	adopted := c.get()
	predicted = c.apply(less, true)
	then := c.apply(less, false)
	c.predicts(predicted, then)
	c.dropped(adopted, then)
}

// form returns a form without parts.
func (c *adoption) form() *form {
	return &form{group: c.group, whole: c.policy.Patch == lynq.PatchMerge, on: map[string]bool{}, other: map[string]bool{}}
}

// find finds out how the server serves the kind.
func (c *adoption) find(m map[string]any) {
	c.t.Helper()
	gvk := (&unstructured.Unstructured{Object: m}).GroupVersionKind()
	var err error
	if c.resource, err = c.client.Resource(c.t.Context(), gvk.Group, gvk.Version, gvk.Kind); err != nil {
		c.t.Fatal(err)
	}
}

func (c *adoption) named(m map[string]any) map[string]any {
	u := unstructured.Unstructured{Object: m}
	u.SetName(c.name)
	u.SetNamespace(c.Namespace)
	return u.Object
}

func (c *adoption) get() *unstructured.Unstructured {
	c.t.Helper()
	u, err := c.client.Get(c.t.Context(), c.resource, c.Namespace, c.name)
	if err != nil {
		c.t.Fatalf("%s: %v", c.title, err)
	}
	return u
}

func (c *adoption) objects() dynamic.ResourceInterface {
	return c.Dynamic.Resource(schema.GroupVersionResource{Group: c.resource.Group, Version: c.resource.Version, Resource: c.resource.Plural}).Namespace(c.Namespace)
}

func (c *adoption) patchAs(manager, patch string) {
	c.t.Helper()
	if _, err := c.objects().Patch(c.t.Context(), c.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *adoption) createAs(manager string, m map[string]any) {
	c.t.Helper()
	if _, err := c.objects().Create(c.t.Context(), &unstructured.Unstructured{Object: m}, metav1.CreateOptions{FieldManager: manager}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *adoption) applyAs(manager string, m map[string]any) {
	c.t.Helper()
	if _, err := c.objects().Apply(c.t.Context(), c.name, &unstructured.Unstructured{Object: m}, metav1.ApplyOptions{FieldManager: manager}); err != nil {
		c.t.Fatal(err)
	}
}

// apply applies a form with some parts, or tries to. It returns the resulting object.
func (c *adoption) apply(f *form, dryRun bool) *unstructured.Unstructured {
	c.t.Helper()
	node := c.node(c.build(f))
	hub := lynq.HubKey{Namespace: c.Namespace, Name: c.Namespace}
	in := &decide.Input{Hub: hub, Desired: decide.Desired{Nodes: []*plan.Node{node}, Active: 1}}
	var err error
	if in.Recorded.Inventories, err = c.store.Nodes(c.t.Context(), hub); err != nil {
		c.t.Fatal(err)
	}
	seen, err := observe.Nodes(c.t.Context(), c.client, in.Hub.Name, in.Desired.Nodes, in.Recorded.Inventories)
	if err != nil {
		c.t.Fatal(err)
	}
	in.Observed = *seen
	decided := decide.Decide(in, decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 1}})
	trying, told := &trying{Client: c.client}, &said{}
	r := &apply.Runner{Cluster: c.client, Inventories: c.store, Reporter: told, Now: time.Now, Options: apply.Options{Concurrency: 1, DryRun: dryRun, Grace: time.Minute}}
	if dryRun {
		r.Cluster = trying
	}
	result, err := r.Run(c.t.Context(), []plan.Plan{*decided})
	if err != nil || len(result.Summary.Failed) > 0 {
		c.t.Fatalf("%s: %v: %q", c.title, err, told.messages)
	}
	if !dryRun || trying.last == nil {
		return c.get()
	}
	return trying.last
}

// node returns a node with one object.
func (c *adoption) node(m map[string]any) *plan.Node {
	c.t.Helper()
	u := unstructured.Unstructured{Object: c.named(m)}
	labels, annotations := u.GetLabels(), u.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[wellknown.LabelHub], annotations[wellknown.AnnotationDeletionPolicy], annotations[wellknown.AnnotationResourceID] = c.Namespace, "Delete", "it"
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	body, err := manifest.Encode(u.Object)
	if err != nil {
		c.t.Fatal(err)
	}
	node, err := plan.Make(&lynq.Node{
		NodeID: lynq.NodeID{Name: c.name + "-web", Namespace: c.Namespace, UID: c.name, Hub: lynq.HubKey{Name: c.Namespace}, Form: lynq.FormKey{Name: "web"}},
		Objects: []lynq.Object{{
			Ref: lynq.Ref{Group: c.resource.Group, Kind: c.resource.Kind, Namespace: c.Namespace, Name: c.name},
			ID:  "it", APIVersion: u.GetAPIVersion(), Policy: &c.policy, Body: body,
		}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return node
}

// trying keeps the result of the last dry run.
type trying struct {
	*kube.Client
	last *unstructured.Unstructured
}

func (c *trying) Write(ctx context.Context, r lynq.APIResource, w write.Request) (*metav1.PartialObjectMetadata, error) {
	u, m, err := c.Try(ctx, r, w)
	if err == nil {
		c.last = u
	}
	return m, err
}

// said keeps a run's messages about its object.
type said struct{ messages []string }

func (s *said) Report(e report.Event) {
	if e.Message != "" {
		s.messages = append(s.messages, e.Message)
	}
}

// predicts requires that a dry run reported the later result.
func (c *adoption) predicts(predicted, is *unstructured.Unstructured) {
	c.t.Helper()
	c.same("the dry run told otherwise", predicted, is)
	if c.policy.Patch != lynq.PatchMerge {
		// The inventory has no uid yet.
		owners := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "ownerReferences"))
		want, got := setsOf(c.t, predicted)["lynq Apply"].RecursiveDifference(owners), setsOf(c.t, is)["lynq Apply"].RecursiveDifference(owners)
		if !want.Equals(got) {
			c.t.Errorf("%s: lynq manages %s, the dry run told %s", c.title, got, want)
		}
	}
}

// same requires that two objects have the same content, except for their tracking.
func (c *adoption) same(what string, a, b *unstructured.Unstructured) {
	c.t.Helper()
	if diff := cmp.Diff(contentOf(a), contentOf(b)); diff != "" {
		c.t.Errorf("%s: %s: %s", c.title, what, diff)
	}
}

// untouched requires that fields outside the form keep their values and managers from
// before the adoption.
func (c *adoption) untouched(before, after *unstructured.Unstructured) {
	c.t.Helper()
	was, is := setsOf(c.t, before), setsOf(c.t, after)
	own := is["lynq Apply"]
	if c.policy.Patch == lynq.PatchMerge {
		own = is["lynq Update"]
	}
	if own == nil { // nobody manages any field, so the server records no managers
		if c.policy.Conflict == lynq.ConflictStuck && !covers(contentOf(after), contentOf(before)) {
			c.t.Errorf("%s: something changed: %s", c.title, cmp.Diff(contentOf(before), contentOf(after)))
		}
		return
	}
	// New items come with the server's defaults.
	items := itemsIn(own, func(p fieldpath.Path) bool { _, there := valueAt(before.Object, p); return !there })
	want, got := without(contentOf(before), own, items), without(contentOf(after), own, items)
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("%s: what the form does not set changed: %s\nof %s", c.title, diff, own)
	}
	for manager, set := range was {
		want := set
		if c.takes(manager) {
			want = unbare(set.Difference(own), own)
		}
		got := is[manager]
		if got == nil {
			got = fieldpath.NewSet()
		} else if c.takes(manager) {
			got = unbare(got, own)
		}
		if !got.Equals(want) {
			c.t.Errorf("%s: %s managed %s and now %s, want %s\nlynq: %s", c.title, manager, set, got, want, own)
		}
	}
	for manager, set := range is {
		if was[manager] == nil && !strings.HasPrefix(manager, "lynq ") && !set.Intersection(own).Empty() {
			c.t.Errorf("%s: %s manages what lynq does: %s", c.title, manager, set)
		}
	}
}

// takes reports whether the form takes its fields from a manager.
func (c *adoption) takes(manager string) bool {
	switch manager {
	case "kubectl-create Update", "kubectl-client-side-apply Update", "before-first-apply Update", "helm Update", "helm Apply":
		return true
	}
	return c.policy.Conflict == lynq.ConflictForce && !strings.HasPrefix(manager, "lynq ")
}

// dropped requires that fields which the form drops are gone, unless another client manages
// them. All fields that it never set must be unchanged.
func (c *adoption) dropped(before, after *unstructured.Unstructured) {
	c.t.Helper()
	was, is := setsOf(c.t, before), setsOf(c.t, after)
	if c.policy.Patch == lynq.PatchMerge {
		c.same("a merge removed something", before, after)
		return
	}
	own, left := was["lynq Apply"], is["lynq Apply"]
	gone := own.Difference(left)
	for manager, set := range was {
		if manager != "lynq Apply" {
			gone = gone.Difference(set)
		}
	}
	gone.Leaves().Iterate(func(p fieldpath.Path) {
		if v, there := valueAt(after.Object, p); there {
			c.t.Errorf("%s: %s stays: %v", c.title, p, v)
		}
	})
	items := itemsIn(gone, func(fieldpath.Path) bool { return true })
	want, got := without(contentOf(before), own, items), without(contentOf(after), own, items)
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("%s: what the form never set changed when it dropped %s: %s", c.title, gone, diff)
	}
	for manager, set := range was {
		if manager == "lynq Apply" {
			continue
		}
		got := is[manager]
		if got == nil {
			got = fieldpath.NewSet()
		}
		want := unbare(set.RecursiveDifference(items), own)
		if !unbare(got.RecursiveDifference(items), own).Equals(want) {
			c.t.Errorf("%s: %s managed %s and now %v, though the form dropped %s only", c.title, manager, set, got, gone)
		}
	}
}

// makers create an object as different tools do.
func makers() map[string]func(*adoption, map[string]any) {
	kubectl := func(c *adoption, m map[string]any, verb string) {
		c.t.Helper()
		c.Kubectl(c.t, text(c.t, m), verb, "-f", "-")
	}
	// These are fields that people add and change. A form may set one of them.
	const edit = `{"metadata":{"labels":{"edited":"x","a":"1"},"annotations":{"edited":"x"}}}`
	return map[string]func(*adoption, map[string]any){
		"kubectl create": func(c *adoption, m map[string]any) { kubectl(c, m, "create") },
		"kubectl apply":  func(c *adoption, m map[string]any) { kubectl(c, m, "apply") },
		"kubectl edit": func(c *adoption, m map[string]any) {
			c.createAs("kubectl-create", m)
			c.patchAs("kubectl-edit", edit)
		},
		"kubectl patch": func(c *adoption, m map[string]any) {
			kubectl(c, m, "apply")
			c.patchAs("kubectl-patch", edit)
		},
		"helm update": func(c *adoption, m map[string]any) { c.createAs("helm", m) },
		"helm apply":  func(c *adoption, m map[string]any) { c.applyAs("helm", m) },
		"before-first-apply": func(c *adoption, m map[string]any) {
			c.createAs("somebody", m)
			c.patchAs("somebody", `{"metadata":{"managedFields":[{}]}}`)
		},
		"an applier": func(c *adoption, m map[string]any) { c.applyAs("ci", m) },
		"an applier over kubectl": func(c *adoption, m map[string]any) {
			c.createAs("kubectl-create", m)
			u := unstructured.Unstructured{Object: map[string]any{"apiVersion": m["apiVersion"], "kind": m["kind"]}}
			u.SetName(c.name)
			u.SetLabels(map[string]string{"a": "1", "applied": "x"})
			c.applyAs("ci", u.Object)
		},
	}
}
