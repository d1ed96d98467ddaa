package apiserver

import (
	"encoding/json"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// delete deletes an object, or marks it where finalizers keep it.
func (s *Server) delete(q *query) ([]byte, error) {
	var options metav1.DeleteOptions
	if len(q.body) > 0 {
		if err := json.Unmarshal(q.body, &options); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	o := s.objects[q.at]
	if o == nil {
		return nil, apierrors.NewNotFound(q.resource(), q.at.name)
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != o.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != o.GetResourceVersion() {
			return nil, conflict(q)
		}
	}
	next := o.DeepCopy()
	if how := options.PropagationPolicy; how != nil {
		switch *how {
		case metav1.DeletePropagationForeground:
			next.SetFinalizers(append(next.GetFinalizers(), metav1.FinalizerDeleteDependents))
		case metav1.DeletePropagationOrphan:
			next.SetFinalizers(append(next.GetFinalizers(), metav1.FinalizerOrphanDependents))
		case metav1.DeletePropagationBackground:
		}
	}
	if next.GetDeletionTimestamp() == nil {
		set(next, time.Now().UTC().Format(time.RFC3339), "metadata", "deletionTimestamp")
	}
	if q.dryRun || len(options.DryRun) > 0 {
		return next.MarshalJSON()
	}
	s.put(q.at, o, next)
	s.control(q.at)
	if left := s.objects[q.at]; left != nil {
		return s.encoded(left)
	}
	return success()
}

// collect is the garbage collector: it lets owners go that wait for their dependents, and
// deletes what has no owner left, until there is nothing to do.
func (s *Server) collect() {
	for again := true; again; {
		again = false
		for _, o := range s.where(func(k key) bool {
			return len(s.objects[k].GetOwnerReferences()) > 0 || s.objects[k].GetDeletionTimestamp() != nil
		}) {
			if now := s.objects[keyOf(o)]; now != nil { // what came before may have changed it
				again = s.collectOne(now) || again
			}
		}
	}
}

func (s *Server) collectOne(o *unstructured.Unstructured) bool {
	at := keyOf(o)
	finalizers := o.GetFinalizers()
	switch {
	case o.GetDeletionTimestamp() != nil && slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		for _, d := range s.dependents(o.GetUID()) {
			next := d.DeepCopy()
			next.SetOwnerReferences(slices.DeleteFunc(next.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() }))
			s.put(keyOf(d), d, next)
		}
		s.finalized(at, o, metav1.FinalizerOrphanDependents)
		return true
	case o.GetDeletionTimestamp() != nil && slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		acted := false
		left := false
		for _, d := range s.dependents(o.GetUID()) {
			left = true
			acted = s.remove(d) || acted
		}
		if !left {
			s.finalized(at, o, metav1.FinalizerDeleteDependents)
			return true
		}
		return acted
	case len(o.GetOwnerReferences()) > 0 && !slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return s.exists(r.UID) }):
		return s.remove(o)
	}
	return false
}

// remove deletes a dependent, unless that has begun.
func (s *Server) remove(o *unstructured.Unstructured) bool {
	if o.GetDeletionTimestamp() != nil {
		return false
	}
	next := o.DeepCopy()
	set(next, time.Now().UTC().Format(time.RFC3339), "metadata", "deletionTimestamp")
	s.put(keyOf(o), o, next)
	return true
}

func (s *Server) finalized(at key, o *unstructured.Unstructured, finalizer string) {
	next := o.DeepCopy()
	next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), func(f string) bool { return f == finalizer }))
	s.put(at, o, next)
}

func (s *Server) dependents(uid types.UID) []*unstructured.Unstructured {
	return s.where(func(k key) bool {
		return slices.ContainsFunc(s.objects[k].GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid })
	})
}

func (s *Server) exists(uid types.UID) bool {
	for _, o := range s.objects {
		if o.GetUID() == uid {
			return true
		}
	}
	return false
}

func keyOf(o *unstructured.Unstructured) key {
	return key{o.GroupVersionKind().Group, o.GetKind(), o.GetNamespace(), o.GetName()}
}
