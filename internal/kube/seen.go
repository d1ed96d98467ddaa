package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply"
)

// seen hands on what a Reflector finds, and keeps of it only what is needed to
// tell what is gone. It implements cache.ReflectorStore; the Reflector calls it
// from one goroutine.
type seen struct {
	handler apply.WatchHandler
	objects map[types.NamespacedName]types.UID
}

func newSeen(h apply.WatchHandler) *seen {
	return &seen{handler: h, objects: map[types.NamespacedName]types.UID{}}
}

// Add implements cache.ReflectorStore.
func (s *seen) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *seen) Update(obj any) error {
	o, key, err := identify(obj)
	if err != nil {
		return err
	}
	s.there(key, o)
	return nil
}

// there tells of an object. One in the place of another means that the other
// is gone.
func (s *seen) there(key types.NamespacedName, o *unstructured.Unstructured) {
	if before, ok := s.objects[key]; ok && before != o.GetUID() {
		s.handler.Gone(key.Namespace, key.Name, before)
	}
	s.objects[key] = o.GetUID()
	s.handler.Seen(o)
}

// Delete implements cache.ReflectorStore.
func (s *seen) Delete(obj any) error {
	o, key, err := identify(obj)
	if err != nil {
		return err
	}
	delete(s.objects, key)
	s.handler.Gone(key.Namespace, key.Name, o.GetUID())
	return nil
}

// Replace implements cache.ReflectorStore: the watch begins, or begins anew.
func (s *seen) Replace(list []any, _ string) error {
	gone := s.objects
	s.objects = make(map[types.NamespacedName]types.UID, len(list))
	for i, obj := range list {
		o, key, err := identify(obj)
		if err != nil {
			return err
		}
		if before, ok := gone[key]; ok {
			s.objects[key] = before
			delete(gone, key)
		}
		s.there(key, o)
		list[i] = nil // it can go
	}
	for key, uid := range gone {
		s.handler.Gone(key.Namespace, key.Name, uid)
	}
	s.handler.Synced()
	return nil
}

// Resync implements cache.ReflectorStore.
func (*seen) Resync() error { return nil }

func identify(obj any) (*unstructured.Unstructured, types.NamespacedName, error) {
	o, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, types.NamespacedName{}, fmt.Errorf("a watch gave a %T", obj)
	}
	return o, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, nil
}
