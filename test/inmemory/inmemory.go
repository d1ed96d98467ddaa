// Package inmemory is the reading half of a cluster in memory. Tests use it for answers
// that a real server doesn't give on demand: failures, and answers at a certain moment.
//
// Objects and kinds of a test flow in. The methods of observe.Reader return them. The
// package never writes an object on its own.
package inmemory

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Cluster has objects, and the kinds that it serves. Its methods lock Mu. Whoever changes
// the maps while others read must hold it.
type Cluster struct {
	Mu      sync.Mutex
	version int
	Objects map[lynq.Ref]*unstructured.Unstructured
	Kinds   map[string]lynq.APIResource // by GroupKind
}

// New returns a cluster without objects that serves ConfigMaps, Services, Namespaces,
// CustomResourceDefinitions and Widgets of the group example.com.
func New() *Cluster {
	c := &Cluster{Objects: map[lynq.Ref]*unstructured.Unstructured{}, Kinds: map[string]lynq.APIResource{}}
	c.Serve(lynq.APIResource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true})
	c.Serve(lynq.APIResource{Version: "v1", Kind: "Service", Plural: "services", Namespaced: true})
	c.Serve(lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"})
	c.Serve(lynq.APIResource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Plural: "customresourcedefinitions"})
	c.Serve(lynq.APIResource{Group: "example.com", Version: "v1", Kind: "Widget", Plural: "widgets", Namespaced: true})
	return c
}

// Put stores an object with a new version, and everything that a server sets. The caller
// holds Mu.
func (c *Cluster) Put(ref lynq.Ref, o *unstructured.Unstructured) {
	c.version++
	version := strconv.Itoa(c.version)
	if o.GetUID() == "" {
		o.SetUID(types.UID("uid-" + version))
	}
	o.SetResourceVersion(version)
	o.SetGeneration(1)
	o.SetName(ref.Name)
	o.SetNamespace(ref.Namespace)
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: wellknown.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{}`)}})
	c.Objects[ref] = o
}

// Foreign returns an object as another client creates it, of a served kind. metadata may be
// nil.
func (c *Cluster) Foreign(ref lynq.Ref, metadata map[string]any) *unstructured.Unstructured {
	if metadata == nil {
		metadata = map[string]any{}
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": c.Kinds[ref.GroupKind()].APIVersion(), "kind": ref.Kind, "metadata": metadata}}
}

// Serve adds a kind.
func (c *Cluster) Serve(r lynq.APIResource) {
	c.Kinds[lynq.Ref{Group: r.Group, Kind: r.Kind}.GroupKind()] = r
}

// Resource returns the resource of a kind. "" means any version.
func (c *Cluster) Resource(_ context.Context, group, version, kind string) (lynq.APIResource, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	r, ok := c.Kinds[lynq.Ref{Group: group, Kind: kind}.GroupKind()]
	if !ok || version != "" && version != r.Version {
		return r, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: group, Kind: kind}, SearchedVersions: []string{version}}
	}
	return r, nil
}

// Listable returns all served kinds.
func (c *Cluster) Listable(context.Context) ([]lynq.APIResource, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	var all []lynq.APIResource
	for _, gk := range slices.Sorted(maps.Keys(c.Kinds)) {
		all = append(all, c.Kinds[gk])
	}
	return all, nil
}

// List passes the metadata of the selected objects to read, and then calls the notes.
func (c *Cluster) List(_ context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata) (note func())) error {
	s, err := labels.Parse(selector)
	if err != nil {
		return err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	var notes []func()
	for _, ref := range c.Sorted() {
		o := c.Objects[ref]
		if ref.Group == r.Group && ref.Kind == r.Kind && (namespace == "" || namespace == ref.Namespace) && s.Matches(labels.Set(o.GetLabels())) {
			if note := read(MetadataOf(o)); note != nil {
				notes = append(notes, note)
			}
		}
	}
	for _, note := range notes {
		note()
	}
	return nil
}

// Sorted returns the names of all objects, in order. The caller holds Mu.
func (c *Cluster) Sorted() []lynq.Ref {
	return slices.SortedFunc(maps.Keys(c.Objects), func(a, b lynq.Ref) int { return strings.Compare(a.Group+a.String(), b.Group+b.String()) })
}

// Metadata returns the metadata of one object.
func (c *Cluster) Metadata(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	o, err := c.Get(ctx, r, namespace, name)
	if err != nil {
		return nil, err
	}
	return MetadataOf(o), nil
}

// Get returns a copy of one object.
func (c *Cluster) Get(_ context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	o := c.Objects[lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: namespace, Name: name}]
	if o == nil {
		return nil, NotFound(r, name)
	}
	return o.DeepCopy(), nil
}

// NotFound returns a server's error for a missing object.
func NotFound(r lynq.APIResource, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.Plural}, name)
}

// MetadataOf returns the metadata of an object. If the object is invalid, it has no uid, so
// no precondition holds.
func MetadataOf(o *unstructured.Unstructured) *metav1.PartialObjectMetadata {
	m, err := tracking.MetadataOf(o)
	if err != nil {
		return &metav1.PartialObjectMetadata{}
	}
	return m
}
