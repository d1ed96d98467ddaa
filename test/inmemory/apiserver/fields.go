package apiserver

import (
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// shape is the schema that all objects share: the lists and maps of their metadata.
const shape = `types:
- name: object
  map:
    fields:
    - {name: metadata, type: {namedType: meta}}
    - {name: data, type: {namedType: texts}}
    elementType: {namedType: __untyped_deduced_}
- name: meta
  map:
    fields:
    - {name: annotations, type: {namedType: texts}}
    - {name: labels, type: {namedType: texts}}
    - {name: finalizers, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: ownerReferences, type: {list: {elementType: {namedType: owner}, elementRelationship: associative, keys: [uid]}}}
    elementType: {namedType: __untyped_deduced_}
- name: texts
  map: {elementType: {scalar: string}}
- name: owner
  map:
    fields: [{name: uid, type: {scalar: string}}]
    elementType: {namedType: __untyped_atomic_}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
- name: __untyped_deduced_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_deduced_}, elementRelationship: separable}
`

// shaped converts objects by their shape.
type shaped struct{ of typed.ParseableType }

// ObjectToTyped implements managedfields.TypeConverter.
func (s shaped) ObjectToTyped(o runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	d, is := o.(*draft)
	if !is {
		return nil, fmt.Errorf("an object is a %T", o)
	}
	return s.of.FromUnstructured(d.Object, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (shaped) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	content, is := v.AsValue().Unstructured().(map[string]any)
	if !is {
		return nil, errors.New("an object is no map")
	}
	return &draft{Unstructured: &unstructured.Unstructured{Object: content}}, nil
}

// as tells the field manager that no object needs conversions or defaults.
type as struct{ runtime.ObjectConvertor }

// ConvertToVersion implements runtime.ObjectConvertor.
func (as) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

// New implements runtime.ObjectCreater.
func (as) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	o := &draft{Unstructured: &unstructured.Unstructured{}}
	o.SetGroupVersionKind(gvk)
	return o, nil
}

// Default implements runtime.ObjectDefaulter.
func (as) Default(runtime.Object) {}

// Managers decide who manages which fields. Servers may share them, because creating them
// takes longer than many requests.
type Managers struct {
	types *typed.Parser

	mu   sync.Mutex
	made map[kind]*managedfields.FieldManager
}

// NewManagers returns managers for any kinds.
func NewManagers() (*Managers, error) {
	types, err := typed.NewParser(shape)
	return &Managers{types: types, made: map[kind]*managedfields.FieldManager{}}, err
}

// of returns the manager for a kind.
func (m *Managers) of(k kind) (*managedfields.FieldManager, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made := m.made[k]; made != nil {
		return made, nil
	}
	gvk := schema.GroupVersionKind{Group: k.group, Version: k.version, Kind: k.name}
	made, err := managedfields.NewDefaultCRDFieldManager(shaped{m.types.Type("object")}, as{}, as{}, as{}, gvk, gvk.GroupVersion(), "", nil)
	if err == nil {
		m.made[k] = made
	}
	return made, err
}

// named returns an object for the field manager. It shares the parts that the manager
// doesn't change.
func named(q *query, o *draft) *draft {
	if o == nil {
		o = &draft{Unstructured: &unstructured.Unstructured{Object: map[string]any{}}}
	}
	o = o.copied()
	o.SetAPIVersion(q.kind.apiVersion())
	o.SetKind(q.kind.name)
	return o
}

// managed returns a written object with the managers of its fields. It skips Leases,
// because nobody needs theirs.
func (s *Server) managed(q *query, live, next *draft) (*draft, error) {
	if q.kind.name == "Lease" {
		return named(q, next), nil
	}
	m, err := s.managers.of(q.kind)
	if err != nil {
		return nil, err
	}
	name := q.manager
	if name == "" {
		name = "client"
	}
	return draftFrom(m.Update(named(q, live), named(q, next), name))
}

// applied returns an object after a server-side apply.
func (s *Server) applied(q *query, live, sent *draft) (*draft, error) {
	m, err := s.managers.of(q.kind)
	if err != nil {
		return nil, err
	}
	sent = named(q, sent)
	sent.SetResourceVersion("")
	sent.SetManagedFields(nil)
	return draftFrom(m.Apply(named(q, live), sent, q.manager, q.force))
}

// draftFrom copies the field manager's result, which shares maps with the live object.
func draftFrom(o runtime.Object, err error) (*draft, error) {
	if err != nil {
		return nil, err
	}
	d, is := o.(*draft)
	if !is {
		return nil, apierrors.NewBadRequest("no object")
	}
	return d.copied(), nil
}
