package orphan_test

import (
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// memory is a fake cluster. It fails in ways that a real server doesn't on demand. It can
// refuse or lose kinds, and change between two requests.
type memory struct {
	kinds    []lynq.APIResource
	objects  []object
	discover error
	// fail has errors by request, such as "list Secret" or "inventories NAMESPACE".
	fail map[string]error

	inventories []*inventory.Inventory
	hubs        []*inventory.Hub
	broken      []*inventory.UnreadableError
	// later, if not nil, changes the cluster after the lists.
	later func(*memory)
	// refresh, if not nil, changes the cluster before the server names its kinds again.
	refresh func(*memory) error

	mu       sync.Mutex
	requests []string
}

// object is one object of a kind.
type object struct {
	kind    string
	meta    metav1.ObjectMeta
	content map[string]any
}

func kind(group, name string) lynq.APIResource {
	return lynq.APIResource{Group: group, Version: "v1", Kind: name, Namespaced: true}
}

func clusterKind(group, name string) lynq.APIResource {
	r := kind(group, name)
	r.Namespaced = false
	return r
}

func (m *memory) request(verb string, r lynq.APIResource, rest string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := verb + " " + lynq.Ref{Group: r.Group, Kind: r.Kind}.GroupKind()
	m.requests = append(m.requests, key+" "+rest)
	return m.fail[key]
}

func (m *memory) Listable(context.Context) ([]lynq.APIResource, error) { return m.kinds, m.discover }

func (m *memory) Refresh(context.Context) error {
	if m.refresh == nil {
		return nil
	}
	return m.refresh(m)
}

func (m *memory) Resource(_ context.Context, group, _, name string) (lynq.APIResource, error) {
	i := slices.IndexFunc(m.kinds, func(r lynq.APIResource) bool { return r.Group == group && r.Kind == name })
	if i < 0 {
		return lynq.APIResource{}, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: group, Kind: name}}
	}
	return m.kinds[i], nil
}

func (m *memory) List(ctx context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata) (note func())) error {
	if err := errors.Join(ctx.Err(), m.request("list", r, namespace+" "+selector)); err != nil {
		return err
	}
	s, err := labels.Parse(selector)
	if err != nil {
		return err
	}
	for _, o := range m.objects {
		if o.kind == r.Kind && (namespace == "" || namespace == o.meta.Namespace) && s.Matches(labels.Set(o.meta.Labels)) {
			if note := read(&metav1.PartialObjectMetadata{ObjectMeta: o.meta}); note != nil {
				note()
			}
		}
	}
	return nil
}

func (m *memory) find(r lynq.APIResource, namespace, name string) (*object, error) {
	for i := range m.objects {
		if o := &m.objects[i]; o.kind == r.Kind && o.meta.Namespace == namespace && o.meta.Name == name {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.Kind}, name)
}

func (m *memory) Metadata(_ context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	if err := m.request("get", r, namespace+"/"+name); err != nil {
		return nil, err
	}
	o, err := m.find(r, namespace, name)
	if err != nil {
		return nil, err
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: o.meta}, nil
}

func (m *memory) Get(_ context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error) {
	if err := m.request("get", r, namespace+"/"+name); err != nil {
		return nil, err
	}
	o, err := m.find(r, namespace, name)
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: o.content}, nil
}

// Hubs implements orphan.Inventories.
func (m *memory) Hubs(_ context.Context, namespace string) ([]*inventory.Hub, error) {
	if err := m.fail["hubs "+namespace]; err != nil {
		return nil, err
	}
	return m.hubs, nil
}

// AllNodes implements orphan.Inventories. It also applies later, because Find reads
// inventories after the lists.
func (m *memory) AllNodes(_ context.Context, namespace string) ([]*inventory.Inventory, error) {
	if m.later != nil {
		m.later(m)
	}
	if err := m.fail["inventories "+namespace]; err != nil {
		return nil, err
	}
	var all []*inventory.Inventory
	for _, inv := range m.inventories {
		if namespace == "" || namespace == inv.Node.Namespace {
			all = append(all, inv)
		}
	}
	if len(m.broken) > 0 {
		return all, &inventory.BrokenError{Inventories: m.broken}
	}
	return all, nil
}
