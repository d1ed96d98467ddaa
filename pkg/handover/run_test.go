package handover

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// stage is a cluster whose answers are lost or refused, which a real one does not do
// on demand.
type stage struct {
	apply.Cluster // nil: what is not here is not called
	t             *testing.T
	mu            sync.Mutex
	objects       map[lynq.Ref]*metav1.PartialObjectMetadata
	kinds         []lynq.APIResource
	// fail answers a call in the place of the server, where it does not give nil;
	// late does so once it has taken effect.
	fail, late func(call string) error
	calls      []string
}

func newStage(t *testing.T, kinds []lynq.APIResource, objects ...*metav1.PartialObjectMetadata) *stage {
	s := &stage{t: t, kinds: kinds, objects: map[lynq.Ref]*metav1.PartialObjectMetadata{}}
	for _, m := range objects {
		s.objects[refOf(m)] = m
	}
	return s
}

func refOf(m *metav1.PartialObjectMetadata) lynq.Ref {
	kind, group := m.Kind, m.GroupVersionKind().Group
	return lynq.Ref{Group: group, Kind: kind, Namespace: m.Namespace, Name: m.Name}
}

func typed(m *metav1.PartialObjectMetadata, apiVersion, kind string) *metav1.PartialObjectMetadata {
	m.APIVersion, m.Kind = apiVersion, kind
	return m
}

func (s *stage) call(call string) error {
	s.calls = append(s.calls, call)
	if s.fail != nil {
		return s.fail(call)
	}
	return nil
}

func (s *stage) done(call string) error {
	if s.late != nil {
		return s.late(call)
	}
	return nil
}

func (s *stage) Resource(_ context.Context, group, _, kind string) (lynq.APIResource, error) {
	for _, r := range s.kinds {
		if r.Group == group && r.Kind == kind {
			return r, nil
		}
	}
	return lynq.APIResource{}, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: group, Kind: kind}}
}

func (s *stage) Listable(context.Context) ([]lynq.APIResource, error) {
	return s.kinds, s.call("discover")
}

func (s *stage) List(_ context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata) (note func())) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call("list " + r.Kind + " " + namespace); err != nil {
		return err
	}
	for ref, m := range s.objects {
		if _, labelled := m.Labels[selector]; ref.Kind == r.Kind && ref.Group == r.Group && (namespace == "" || namespace == ref.Namespace) && (selector == "" || labelled) {
			read(m)()
		}
	}
	return nil
}

func (s *stage) find(r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	m := s.objects[lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: namespace, Name: name}]
	if m == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: r.Plural}, name)
	}
	return m, nil
}

func (s *stage) Metadata(_ context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call("get " + r.Kind + "/" + name); err != nil {
		return nil, err
	}
	m, err := s.find(r, namespace, name)
	if err != nil {
		return nil, err
	}
	return m.DeepCopy(), nil
}

// hides wants no message of the server to quote an object. A handover knows no secret value.
func (s *stage) hides(ctx context.Context, call string) {
	s.t.Helper()
	if !redact.HidesMessages(ctx) {
		s.t.Errorf("%s: messages may quote the object", call)
	}
}

func (s *stage) Write(ctx context.Context, r lynq.APIResource, w write.Request) (*metav1.PartialObjectMetadata, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := "patch " + r.Kind + "/" + w.Name
	s.hides(ctx, call)
	if err := s.call(call); err != nil {
		return nil, err
	}
	m, err := s.find(r, w.Namespace, w.Name)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(w.Body), `"value":"`+m.ResourceVersion+`"`) {
		return nil, conflict(w.Name)
	}
	next := applied(s.t, m, w.Body)
	next.ResourceVersion += "+"
	s.objects[refOf(m)] = next
	return next.DeepCopy(), s.done(call)
}

func conflict(name string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "things"}, name, errors.New("it was changed"))
}

func (s *stage) Delete(ctx context.Context, r lynq.APIResource, permit decide.Permit, o write.Deletion) (bool, error) {
	namespace, name := permit.Ref().Namespace, permit.Ref().Name
	s.mu.Lock()
	defer s.mu.Unlock()
	call := "delete " + r.Kind + "/" + name
	s.hides(ctx, call)
	if err := s.call(call); err != nil {
		return false, err
	}
	m, err := s.find(r, namespace, name)
	if err != nil {
		return false, err
	}
	if o.Propagation != metav1.DeletePropagationOrphan {
		s.t.Errorf("%s is deleted with %s", name, o.Propagation)
	}
	if permit.UID() != m.UID || permit.Version() != m.ResourceVersion {
		return false, conflict(name)
	}
	now := metav1.Now()
	m.DeletionTimestamp, m.Finalizers, m.ResourceVersion = &now, append(m.Finalizers, "orphan"), m.ResourceVersion+"+"
	return false, s.done(call)
}

// Save and Remove make it the records, too.
func (s *stage) Save(_ context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call("save " + inv.Node.Name); err != nil {
		return nil, err
	}
	saved := *inv
	saved.UID = "record"
	return &saved, nil
}

func (*stage) Check(context.Context, *inventory.Inventory) error { return nil }

func (s *stage) Reread(context.Context, *inventory.Inventory) (*inventory.Inventory, error) {
	s.t.Error("an inventory is read again")
	return nil, nil
}

func (s *stage) Restore(context.Context, *inventory.Inventory, func() (decide.Permit, error)) (*inventory.Inventory, error) {
	s.t.Error("an inventory is restored")
	return nil, nil
}

func (s *stage) Remove(context.Context, *inventory.Inventory, decide.Permit) error {
	s.t.Error("a record is removed")
	return nil
}

type events struct {
	mu  sync.Mutex
	all []string
}

func (e *events) Report(event report.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if event.Type == report.EventObject || event.Type == report.EventNode {
		e.all = append(e.all, strings.TrimSpace(string(event.Action)+" "+event.Object.Name+" "+string(event.Outcome)+" "+event.Message))
	}
}

func coreKinds() []lynq.APIResource {
	return []lynq.APIResource{
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true},
		{Group: wellknown.Group, Version: "v1", Kind: wellknown.KindNode, Plural: "lynqnodes", Namespaced: true},
	}
}

func lynqNodeMeta() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.Namespace, m.Name, m.UID, m.ResourceVersion, m.Finalizers = "shop", "acme-web", "node-uid", "7", []string{wellknown.FinalizerNode}
	return typed(m, wellknown.APIVersion, wellknown.KindNode)
}

// handOver hands the one node over, whose object is on the stage.
func handOver(ctx context.Context, t *testing.T, s *stage) (*report.Summary, []string, error) {
	t.Helper()
	n := node()
	n.finalizers = []string{wellknown.FinalizerNode}
	n.Resources = []Resource{{ID: "settings", APIVersion: "v1", Kind: "ConfigMap", Name: "acme", Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Patch: lynq.PatchApply}}}
	found, err := NewLooker(s, 2).Nodes(context.Background(), []*Node{n})
	if err != nil {
		t.Fatal(err)
	}
	s.calls = nil
	told := &events{}
	p := NewPlan(&Input{Nodes: []*Node{n}, Found: found})
	r := apply.Runner{Cluster: s, Inventories: s, Reporter: told, Now: time.Now, Worker: NewWorker(p), Options: apply.Options{Concurrency: 2}}
	result, err := r.Run(ctx, p.Plans())
	return result.Summary, told.all, err
}

// once answers one call with an error, and lets all others pass.
func once(call string, err error) func(string) error {
	answered := false
	return func(got string) error {
		if got != call || answered {
			return nil
		}
		answered = true
		return err
	}
}

func always(call string, err error) func(string) error {
	return func(got string) error {
		if got != call {
			return nil
		}
		return err
	}
}

// TestRun: in which order what is written, and what becomes of failures and of answers
// that are lost. (A client tries again what got no answer, and then finds its own
// effect: a conflict.)
func TestRun(t *testing.T) {
	whole := []string{"save acme-web", "patch ConfigMap/acme", "patch LynqNode/acme-web", "delete LynqNode/acme-web"}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "acme", errors.New("no"))
	for name, tt := range map[string]struct {
		fail, late func(string) error
		calls      []string
		told       []string // the end
	}{
		"all is well": {nil, nil, whole, []string{"track acme done", "release acme-web done", "done"}},
		"the record cannot be written": {always("save acme-web", forbidden), nil, whole[:1],
			[]string{"failed " + forbidden.Error()}},
		"an object may not be written": {always("patch ConfigMap/acme", forbidden), nil, whole[:2],
			[]string{"track acme failed " + forbidden.Error(), "failed ConfigMap/shop/acme: " + forbidden.Error() + "; " + errStays.Error()}},
		"an object's answer is lost": {nil, once("patch ConfigMap/acme", conflict("acme")),
			[]string{whole[0], whole[1], "get ConfigMap/acme", whole[2], whole[3]}, []string{"track acme done", "release acme-web done", "done"}},
		"an object changes meanwhile": {once("patch ConfigMap/acme", conflict("acme")), nil,
			[]string{whole[0], whole[1], "get ConfigMap/acme", whole[1], whole[2], whole[3]}, []string{"track acme done", "release acme-web done", "done"}},
		"the finalizer's answer is lost": {nil, once("patch LynqNode/acme-web", conflict("acme-web")),
			[]string{whole[0], whole[1], whole[2], "get LynqNode/acme-web", whole[3]}, []string{"release acme-web done", "done"}},
		"somebody changes the LynqNode": {always("patch LynqNode/acme-web", conflict("acme-web")), nil,
			[]string{whole[0], whole[1], whole[2], "get LynqNode/acme-web"},
			[]string{"release acme-web failed " + changedSince(conflict("acme-web")).Error(), "failed LynqNode/shop/acme-web: " + changedSince(conflict("acme-web")).Error()}},
		"the deletion's answer is lost": {nil, once("delete LynqNode/acme-web", conflict("acme-web")),
			append(whole[:4:4], "get LynqNode/acme-web"), []string{"release acme-web done", "done"}},
		"the LynqNode may not be deleted": {always("delete LynqNode/acme-web", forbidden), nil, whole,
			[]string{"release acme-web failed " + forbidden.Error(), "failed LynqNode/shop/acme-web: " + forbidden.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, coreKinds(), typed(live(), "v1", "ConfigMap"), lynqNodeMeta())
			s.fail, s.late = tt.fail, tt.late
			_, told, err := handOver(context.Background(), t, s)
			if err != nil {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(tt.calls, s.calls); diff != "" {
				t.Errorf("calls (-want +got)\n%s", diff)
			}
			if got := told[max(0, len(told)-len(tt.told)):]; cmp.Diff(tt.told, got) != "" {
				t.Errorf("told (-want +got)\n%s", cmp.Diff(tt.told, got))
			}
		})
	}
}

// TestRunOthers: what a person does to an object while the run looks away.
func TestRunOthers(t *testing.T) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}
	for want, change := range map[string]func(s *stage){
		"it was deleted since this run looked":                   func(s *stage) { delete(s.objects, ref) },
		"it was deleted and created again":                       func(s *stage) { s.objects[ref].UID = "another" },
		"it changed since this run looked: nothing on it says":   func(s *stage) { s.objects[ref].OwnerReferences = nil },
		"it changed since this run looked: the operator left it": func(s *stage) { s.objects[ref].Labels[wellknown.LabelOrphaned] = "true" },
	} {
		t.Run(want, func(t *testing.T) {
			s := newStage(t, coreKinds(), typed(live(), "v1", "ConfigMap"), lynqNodeMeta())
			s.fail = func(call string) error {
				if call == "save acme-web" {
					change(s)
					if m := s.objects[ref]; m != nil {
						m.ResourceVersion = "6"
					}
				}
				return nil
			}
			sum, told, _ := handOver(context.Background(), t, s)
			if len(sum.Failed) != 1 || !strings.Contains(strings.Join(told, "\n"), want) {
				t.Errorf("%q is not told: %v", want, told)
			}
			if s.objects[refOf(lynqNodeMeta())].DeletionTimestamp != nil {
				t.Errorf("%s: the LynqNode is gone", want)
			}
		})
	}
}

// TestRunUnconfirmed: an admission webhook puts the LynqNode back, say.
func TestRunUnconfirmed(t *testing.T) {
	n := nodeHandover{Node: &apply.Node{}, plan: &NodePlan{Node: node()}, record: "record"}
	f := found(live())
	if err := n.confirm(&f); err == nil || !strings.Contains(err.Error(), "not as it was to become") {
		t.Errorf("%v", err)
	}
}

// TestRunInterrupted: nothing is begun any more, and what was is left as it is.
func TestRunInterrupted(t *testing.T) {
	s := newStage(t, coreKinds(), typed(live(), "v1", "ConfigMap"), lynqNodeMeta())
	ctx, cancel := context.WithCancel(context.Background())
	s.fail = func(call string) error {
		if call == "save acme-web" {
			cancel()
		}
		return nil
	}
	sum, told, err := handOver(ctx, t, s)
	if !errors.Is(err, context.Canceled) || !sum.Interrupted || sum.Nodes[report.OutcomeInterrupted] != 1 {
		t.Errorf("%v %+v", err, sum)
	}
	if diff := cmp.Diff([]string{"save acme-web"}, s.calls); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"interrupted interrupted (run it again)"}, told); diff != "" {
		t.Errorf("told (-want +got)\n%s", diff)
	}
}
