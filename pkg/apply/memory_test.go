package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/inmemory"
)

// memory is a Cluster for behavior that a real server doesn't show on demand: errors, and
// answers at a given moment. It knows only one manager of server-side apply. An applied
// object replaces labels, annotations and owner references.
type memory struct {
	*inmemory.Cluster
	watches []*memoryWatch
	// before is called before each write and delete, without the lock, unless it is nil.
	// Its error becomes the answer.
	before   func(verb string, ref lynq.Ref) error
	requests []string
}

type memoryWatch struct {
	kind     string
	in       wait.Scope
	selector labels.Selector
	handler  wait.Handler
}

// tells reports whether a watch covers an object.
func (w *memoryWatch) tells(o *unstructured.Unstructured) bool {
	return w.selector.Matches(labels.Set(o.GetLabels())) && (w.in.Namespace == "" || w.in.Namespace == o.GetNamespace()) &&
		(w.in.Name == "" || w.in.Name == o.GetName())
}

// summed returns the summary of a result.
func summed(r *report.Result, err error) (*report.Summary, error) { return r.Summary, err }

func newMemory() *memory { return &memory{Cluster: inmemory.New()} }

func (*memory) Refresh(context.Context) error { return nil }

func refIn(r lynq.APIResource, namespace, name string) lynq.Ref {
	return lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: namespace, Name: name}
}

func (m *memory) ask(verb string, ref lynq.Ref) error {
	if m.before != nil {
		return m.before(verb, ref)
	}
	return nil
}

func (m *memory) Write(_ context.Context, r lynq.APIResource, w write.Request) (*metav1.PartialObjectMetadata, error) {
	ref := refIn(r, w.Namespace, w.Name)
	if err := m.ask("write", ref); err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.Unmarshal(w.Body, &body); err != nil {
		return nil, err
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.requests = append(m.requests, "write "+ref.String())
	sent := &unstructured.Unstructured{Object: body}
	there := m.Objects[ref]
	resource := schema.GroupResource{Group: r.Group, Resource: r.Plural}
	switch {
	case there == nil && w.Verb == write.MergePatch:
		return nil, inmemory.NotFound(r, w.Name)
	case len(body) == 0: // it changes nothing
		return inmemory.MetadataOf(there), nil
	case there == nil && sent.GetUID() != "":
		return nil, apierrors.NewConflict(resource, w.Name, fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: ", sent.GetUID()))
	case there != nil && w.Verb == write.Create:
		return nil, apierrors.NewAlreadyExists(resource, w.Name)
	case there != nil && sent.GetUID() != "" && sent.GetUID() != there.GetUID():
		return nil, apierrors.NewConflict(resource, w.Name, fmt.Errorf("uid mismatch"))
	case there != nil && sent.GetResourceVersion() != "" && sent.GetResourceVersion() != there.GetResourceVersion():
		return nil, apierrors.NewConflict(resource, w.Name, fmt.Errorf("the object has been modified"))
	}
	next := sent
	if there != nil {
		next.SetUID(there.GetUID())
		next.SetDeletionTimestamp(there.GetDeletionTimestamp())
		next.SetFinalizers(there.GetFinalizers())
	}
	if w.DryRun {
		return inmemory.MetadataOf(next), nil
	}
	return inmemory.MetadataOf(m.put(ref, next)), nil
}

// Try implements Cluster. Every write would change something.
func (*memory) Try(context.Context, lynq.APIResource, write.Request) (*unstructured.Unstructured, *metav1.PartialObjectMetadata, error) {
	return &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}, nil
}

// put stores an object and notifies the watches. The caller holds Mu.
func (m *memory) put(ref lynq.Ref, o *unstructured.Unstructured) *unstructured.Unstructured {
	m.Put(ref, o)
	for _, w := range m.watching(ref) {
		if w.tells(o) {
			w.handler.Read(o.DeepCopy())()
		}
	}
	return o
}

// make stores an object of another client.
func (m *memory) make(ref lynq.Ref, metadata map[string]any) *unstructured.Unstructured {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	return m.put(ref, m.Foreign(ref, metadata))
}

func (m *memory) watching(ref lynq.Ref) []*memoryWatch {
	return slices.DeleteFunc(slices.Clone(m.watches), func(w *memoryWatch) bool { return w.kind != ref.GroupKind() })
}

func (m *memory) Delete(_ context.Context, r lynq.APIResource, permit decide.Permit, o write.Deletion) (bool, error) {
	ref, namespace, name := permit.Ref(), permit.Ref().Namespace, permit.Ref().Name
	if err := m.ask("delete", ref); err != nil {
		return false, err
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.requests = append(m.requests, "delete "+ref.String())
	there := m.Objects[ref]
	switch {
	case there == nil:
		return false, inmemory.NotFound(r, name)
	case permit.Check(o.DryRun) != nil || permit.Version() == "":
		return false, fmt.Errorf("delete %s: no precondition", ref)
	case permit.UID() != there.GetUID() || permit.Version() != there.GetResourceVersion():
		return false, apierrors.NewConflict(schema.GroupResource{Resource: r.Plural}, name, fmt.Errorf("the precondition failed"))
	case o.DryRun:
		return false, nil
	case len(there.GetFinalizers()) > 0:
		now := metav1.Now()
		there.SetDeletionTimestamp(&now)
		m.put(ref, there)
		return false, nil
	}
	delete(m.Objects, ref)
	for _, w := range m.watching(ref) {
		if w.tells(there) {
			w.handler.Gone(namespace, name, there.GetUID())
		}
	}
	return true, nil
}

func (m *memory) Watch(ctx context.Context, r lynq.APIResource, in wait.Scope, h wait.Handler) error {
	s, err := labels.Parse(in.Labels)
	if err != nil {
		return err
	}
	m.Mu.Lock()
	w := &memoryWatch{lynq.Ref{Group: r.Group, Kind: r.Kind}.GroupKind(), in, s, h}
	m.watches = append(m.watches, w)
	for _, ref := range m.Sorted() {
		if o := m.Objects[ref]; ref.GroupKind() == w.kind && w.tells(o) {
			h.Read(o.DeepCopy())()
		}
	}
	h.Synced()
	m.Mu.Unlock()
	<-ctx.Done()
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.watches = slices.DeleteFunc(m.watches, func(other *memoryWatch) bool { return other == w })
	return nil
}

// notes are Inventories in memory.
type notes struct {
	mu      sync.Mutex
	version int
	saved   map[lynq.NodeKey]*inventory.Inventory
	// meanwhile changes an inventory before each write, so many times.
	meanwhile func(inv *inventory.Inventory, version int)
	times     int
}

func newNotes() *notes { return &notes{saved: map[lynq.NodeKey]*inventory.Inventory{}} }

func (n *notes) Save(_ context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := inv.Node.Key()
	n.others(key)
	if there := n.saved[key]; (there == nil) != (inv.UID == "") || there != nil && there.ResourceVersion != inv.ResourceVersion {
		return nil, conflictOver(inv)
	}
	n.version++
	next := inv.Clone()
	next.ResourceVersion = strconv.Itoa(n.version)
	if next.UID == "" {
		next.UID = "inv-" + inv.Node.Name
	}
	n.saved[key] = next
	return next.Clone(), nil
}

func conflictOver(inv *inventory.Inventory) error {
	name := inventory.Name(inv.Node.Name)
	return &store.ChangedError{
		Namespace: inv.Node.Namespace, Name: name, What: "another client changed it meanwhile",
		Err: apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, name, errors.New("changed")),
	}
}

// others is another client that changes an inventory just before a write.
func (n *notes) others(key lynq.NodeKey) {
	there := n.saved[key]
	if there == nil || n.meanwhile == nil || n.times == 0 {
		return
	}
	n.times--
	n.version++
	there = there.Clone()
	n.meanwhile(there, n.version)
	there.ResourceVersion = strconv.Itoa(n.version)
	n.saved[key] = there
}

func (n *notes) Reread(_ context.Context, read *inventory.Inventory) (*inventory.Inventory, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	there := n.saved[read.Node.Key()]
	if there == nil || there.UID != read.UID || !inventory.Equal(there, read) {
		return nil, conflictOver(read)
	}
	return read.On(there), nil
}

func (n *notes) Check(_ context.Context, inv *inventory.Inventory) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if there := n.saved[inv.Node.Key()]; there == nil || there.UID != inv.UID {
		return &store.ChangedError{Namespace: inv.Node.Namespace, Name: inventory.Name(inv.Node.Name), What: "another client deleted it meanwhile"}
	}
	return nil
}

func (n *notes) Restore(ctx context.Context, inv *inventory.Inventory, detach func() (decide.Permit, error)) (*inventory.Inventory, error) {
	if _, err := detach(); err != nil {
		return nil, err
	}
	restored := inv.Clone()
	restored.Deleting = false
	return n.Save(ctx, restored)
}

func (n *notes) Remove(_ context.Context, inv *inventory.Inventory, permit decide.Permit) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.others(inv.Node.Key())
	if there := n.saved[inv.Node.Key()]; there != nil && permit.Version() != "" && there.ResourceVersion != permit.Version() {
		return conflictOver(inv)
	}
	delete(n.saved, inv.Node.Key())
	return nil
}

// all returns the inventories as a run reads them.
func (n *notes) all() []*inventory.Inventory {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []*inventory.Inventory
	for _, inv := range n.saved {
		all = append(all, inv.Clone())
	}
	slices.SortFunc(all, func(a, b *inventory.Inventory) int { return strings.Compare(a.Node.Name, b.Node.Name) })
	return all
}

// names returns the recorded objects, and the node that lists each.
func (n *notes) names() map[lynq.Ref]string {
	named := map[lynq.Ref]string{}
	for _, inv := range n.all() {
		for _, r := range inv.Entries {
			named[r.Ref] = inv.Node.Name
		}
	}
	return named
}

// events keeps the events of a run.
type events struct {
	mu  sync.Mutex
	all []report.Event
}

func (e *events) Report(event report.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

// stage is a cluster with inventories for the nodes of hub crm.
type stage struct {
	*memory
	notes   *notes
	options Options
	// keepContent makes runs track orphans that come back without changing their content.
	keepContent bool
	causes      Causes
}

func newStage() *stage {
	return &stage{memory: newMemory(), notes: newNotes(), options: Options{Concurrency: 8, Wait: true, Finalizer: true, Grace: time.Minute}}
}

// plan observes objects and makes a plan.
func (s *stage) plan(ctx context.Context, nodes ...*plan.Node) (*plan.Plan, error) {
	in := &decide.Input{Hub: lynq.HubKey{Name: "crm"}, Desired: decide.Desired{Forms: []lynq.FormKey{{Name: "web"}}, Nodes: nodes, Active: len(nodes)}, Recorded: decide.Recorded{Inventories: s.notes.all()}, Options: decide.Options{KeepContent: s.keepContent}}
	seen, err := observe.Nodes(ctx, s, in.Hub.Name, nodes, in.Recorded.Inventories)
	if err != nil {
		return nil, err
	}
	in.Observed = *seen
	return decide.Decide(in, decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 1000}}), nil
}

// run executes a plan. It returns an error if that changes the plan.
func (s *stage) run(ctx context.Context, p *plan.Plan) (*report.Summary, error) {
	r := &Runner{Cluster: s, Inventories: s.notes, Reporter: &events{}, Now: time.Now, Options: s.options, Causes: s.causes}
	before := written(p)
	sum, err := summed(r.Run(ctx, []plan.Plan{*p}))
	if after := written(p); err == nil && after != before {
		err = fmt.Errorf("the run changed its plan:\n%s\nwas\n%s", after, before)
	}
	return sum, err
}

// written returns the steps of a plan as text, with everything that they point to.
func written(p *plan.Plan) string {
	var text strings.Builder
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Steps {
			fmt.Fprintf(&text, "%+v\n", s)
			if s.Entry != nil {
				fmt.Fprintf(&text, "\t%+v\n", *s.Entry)
			}
			if s.Live != nil {
				fmt.Fprintf(&text, "\t%+v\n", *s.Live)
			}
		}
	}
	return text.String()
}

// applied makes a plan, runs it, and returns the summary.
func (s *stage) applied(ctx context.Context, nodes ...*plan.Node) (*report.Summary, error) {
	p, err := s.plan(ctx, nodes...)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, p)
}

// formObject is an object of a form, with its manifest as a value.
type formObject struct {
	lynq.Object
	Content map[string]any
}

// node returns the node of a row, with form web and namespace ns.
func node(name string, objects ...formObject) *plan.Node {
	n := &lynq.Node{NodeID: lynq.NodeID{Name: name, Namespace: "ns", UID: name, Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}}}
	failed := func(err error) *plan.Node { return &plan.Node{NodeID: n.NodeID, Failed: err} }
	for _, o := range objects {
		metadata := mapIn(o.Content, "metadata")
		tracking := mapIn(metadata, "labels")
		tracking[wellknown.LabelHub] = "crm"
		if p := o.Policy; p.Deletion == lynq.DeleteRetain || o.Namespace != "ns" {
			tracking[wellknown.LabelNode], tracking[wellknown.LabelNodeNamespace] = name, "ns"
		}
		mapIn(metadata, "annotations")[wellknown.AnnotationDeletionPolicy] = string(o.Policy.Deletion)
		body, err := manifest.Encode(o.Content)
		if err != nil {
			return failed(err)
		}
		o.Body = body
		o.APIVersion, _ = o.Content["apiVersion"].(string)
		n.Objects = append(n.Objects, o.Object)
	}
	made, err := plan.Make(n)
	if err != nil {
		return failed(err)
	}
	return made
}

// configMap returns a ConfigMap of a node.
func configMap(name, value string, dependIDs ...string) formObject {
	return formObject{
		Object: lynq.Object{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name}, ID: name, Policy: new(lynq.DefaultPolicy()), DependIDs: dependIDs},
		Content: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": name, "namespace": "ns"}, "data": map[string]any{"value": value},
		},
	}
}

// mapIn returns the map in a field, and creates it if necessary.
func mapIn(m map[string]any, field string) map[string]any {
	child, ok := m[field].(map[string]any)
	if !ok {
		child = map[string]any{}
		m[field] = child
	}
	return child
}
