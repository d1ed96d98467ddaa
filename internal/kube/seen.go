package kube

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// sight keeps the parts of a watched object that a Reflector needs, and what the handler
// read. Reflectors hold all objects of a list before they pass any on.
type sight struct {
	types.NamespacedName
	uid     types.UID
	version string
	note    func() // nil if the object doesn't exist
	// end is the annotation of the event after all initial ones.
	end string
}

// sightOf keeps the parts of an object's metadata that a Reflector needs.
func sightOf(o metav1.Object) *sight {
	return &sight{
		NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()},
		uid:            o.GetUID(), version: o.GetResourceVersion(), end: o.GetAnnotations()[metav1.InitialEventsAnnotationKey],
	}
}

// GetObjectMeta implements metav1.ObjectMetaAccessor.
func (s *sight) GetObjectMeta() metav1.Object {
	m := &metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, UID: s.uid, ResourceVersion: s.version}
	if s.end != "" {
		m.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: s.end}
	}
	return m
}

// GetObjectKind implements runtime.Object.
func (*sight) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object.
func (s *sight) DeepCopyObject() runtime.Object {
	out := *s
	return &out
}

// sights are one page of a list.
type sights struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []sight
}

// DeepCopyObject implements runtime.Object.
func (l *sights) DeepCopyObject() runtime.Object {
	return &sights{TypeMeta: l.TypeMeta, ListMeta: *l.DeepCopy(), Items: slices.Clone(l.Items)}
}

// seen passes on what a Reflector finds, and keeps only the names and uids, so that it can
// report deleted objects. It implements cache.ReflectorStore. The Reflector calls it from
// one goroutine.
type seen struct {
	handler goneHandler
	objects map[types.NamespacedName]types.UID
}

func newSeen(h goneHandler) *seen {
	return &seen{handler: h, objects: map[types.NamespacedName]types.UID{}}
}

// Add implements cache.ReflectorStore.
func (s *seen) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *seen) Update(obj any) error {
	o, err := sighted(obj)
	if err != nil {
		return err
	}
	s.there(o)
	return nil
}

// there reports an object. If it replaced another with the same name, there also reports
// that as gone.
func (s *seen) there(o *sight) {
	if before, ok := s.objects[o.NamespacedName]; ok && before != o.uid {
		s.handler.Gone(o.Namespace, o.Name, before)
	}
	s.objects[o.NamespacedName] = o.uid
	if o.note != nil {
		o.note()
	}
}

// Delete implements cache.ReflectorStore.
func (s *seen) Delete(obj any) error {
	o, err := sighted(obj)
	if err != nil {
		return err
	}
	delete(s.objects, o.NamespacedName)
	s.handler.Gone(o.Namespace, o.Name, o.uid)
	return nil
}

// Replace implements cache.ReflectorStore: the watch begins, or begins again.
func (s *seen) Replace(list []any, _ string) error {
	gone := s.objects
	s.objects = make(map[types.NamespacedName]types.UID, len(list))
	for i, obj := range list {
		o, err := sighted(obj)
		if err != nil {
			return err
		}
		if before, ok := gone[o.NamespacedName]; ok {
			s.objects[o.NamespacedName] = before
			delete(gone, o.NamespacedName)
		}
		s.there(o)
		list[i] = nil // so that its memory becomes free
	}
	for key, uid := range gone {
		s.handler.Gone(key.Namespace, key.Name, uid)
	}
	s.handler.Synced()
	return nil
}

// Resync implements cache.ReflectorStore.
func (*seen) Resync() error { return nil }

func sighted(obj any) (*sight, error) {
	o, ok := obj.(*sight)
	if !ok {
		return nil, fmt.Errorf("a watch gave a %T", obj)
	}
	return o, nil
}
