package apiserver

import (
	"encoding/json"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// delete deletes an object, or marks it if finalizers block the deletion.
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
		if p.UID != nil && *p.UID != o.uid || p.ResourceVersion != nil && *p.ResourceVersion != o.GetResourceVersion() {
			return nil, conflict(q)
		}
	}
	next := o.copied()
	if how := options.PropagationPolicy; how != nil {
		switch *how {
		case metav1.DeletePropagationForeground:
			next.SetFinalizers(append(next.GetFinalizers(), metav1.FinalizerDeleteDependents))
		case metav1.DeletePropagationOrphan:
			next.SetFinalizers(append(next.GetFinalizers(), metav1.FinalizerOrphanDependents))
		case metav1.DeletePropagationBackground:
		}
	}
	if !o.deleting {
		set(next, time.Now().UTC().Format(time.RFC3339), "metadata", "deletionTimestamp")
	}
	if q.dryRun || len(options.DryRun) > 0 {
		return s.one(q, newStored(q.at, next))
	}
	s.put(q.at, o, next)
	s.control(q.at)
	if left := s.objects[q.at]; left != nil {
		return s.one(q, left)
	}
	return success(q)
}

// collect is the garbage collector. It releases owners that wait for their dependents, and
// deletes objects without an existing owner, until nothing is left to do.
func (s *Server) collect() {
	for again := true; again; {
		again = false
		for _, o := range s.where(s.collectable) {
			if now := s.objects[o.at]; now != nil { // an earlier step may have changed it
				again = s.collectOne(now) || again
			}
		}
	}
}

// collectable reports whether the garbage collector must check an object.
func (s *Server) collectable(o *stored) bool {
	return o.awaits(metav1.FinalizerOrphanDependents) || o.awaits(metav1.FinalizerDeleteDependents) || s.ownerless(o)
}

func (o *stored) awaits(finalizer string) bool {
	return o.deleting && slices.Contains(o.finalizers, finalizer)
}

// ownerless reports whether an object has owners, and none of them exists.
func (s *Server) ownerless(o *stored) bool {
	return len(o.owners) > 0 && !o.deleting && !slices.ContainsFunc(o.owners, func(uid types.UID) bool { return s.uids[uid] })
}

func (s *Server) collectOne(o *stored) bool {
	switch {
	case o.awaits(metav1.FinalizerOrphanDependents):
		for _, d := range s.dependents(o.uid) {
			next := d.copied()
			next.SetOwnerReferences(slices.DeleteFunc(next.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.uid }))
			s.put(d.at, d, next)
		}
		s.finalized(o, metav1.FinalizerOrphanDependents)
		return true
	case o.awaits(metav1.FinalizerDeleteDependents):
		acted := false
		dependents := s.dependents(o.uid)
		for _, d := range dependents {
			acted = s.remove(d) || acted
		}
		if len(dependents) == 0 {
			s.finalized(o, metav1.FinalizerDeleteDependents)
			return true
		}
		return acted
	case s.ownerless(o):
		return s.remove(o)
	}
	return false
}

// remove deletes a dependent, unless its deletion has begun.
func (s *Server) remove(o *stored) bool {
	if o.deleting {
		return false
	}
	next := o.copied()
	set(next, time.Now().UTC().Format(time.RFC3339), "metadata", "deletionTimestamp")
	s.put(o.at, o, next)
	return true
}

func (s *Server) finalized(o *stored, finalizer string) {
	next := o.copied()
	next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), func(f string) bool { return f == finalizer }))
	s.put(o.at, o, next)
}

func (s *Server) dependents(uid types.UID) []*stored {
	return s.where(func(o *stored) bool { return slices.Contains(o.owners, uid) })
}
