package apiserver

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// key names an object.
type key struct{ group, kind, namespace, name string }

func (k key) compare(other key) int {
	return cmp.Or(
		strings.Compare(k.group, other.group), strings.Compare(k.kind, other.kind),
		strings.Compare(k.namespace, other.namespace), strings.Compare(k.name, other.name),
	)
}

// groupKind identifies lists.
type groupKind struct{ group, kind string }

func (k key) groupKind() groupKind { return groupKind{k.group, k.kind} }

// event is a change of an object.
type event struct {
	version int
	what    string  // ADDED, MODIFIED, DELETED
	before  *stored // nil if the object is new
	object  *stored
}

// store has the objects, and all of their changes.
type store struct {
	version int
	objects map[key]*stored
	sorted  map[groupKind][]*stored // by namespace and name
	uids    map[types.UID]bool
	log     []event // for watches
}

func newStore() store {
	return store{objects: map[key]*stored{}, sorted: map[groupKind][]*stored{}, uids: map[types.UID]bool{}}
}

// put stores an object. It removes a deleted one without finalizers.
func (s *store) put(live *stored, at key, next *draft) *stored {
	s.version++
	next.SetResourceVersion(strconv.Itoa(s.version))
	o := newStored(at, next)
	what := "MODIFIED"
	switch {
	case o.deleting && len(o.finalizers) == 0:
		what = "DELETED"
		s.lose(o)
	case live == nil:
		what = "ADDED"
		s.keep(o)
	default:
		s.keep(o)
	}
	s.log = append(s.log, event{s.version, what, live, o})
	return o
}

func (s *store) keep(o *stored) {
	s.objects[o.at], s.uids[o.uid] = o, true
	all := s.sorted[o.at.groupKind()]
	at, is := find(all, o.at)
	if is {
		all[at] = o
		return
	}
	s.sorted[o.at.groupKind()] = slices.Insert(all, at, o)
}

func (s *store) lose(o *stored) {
	delete(s.objects, o.at)
	delete(s.uids, o.uid)
	all := s.sorted[o.at.groupKind()]
	if at, is := find(all, o.at); is {
		s.sorted[o.at.groupKind()] = slices.Delete(all, at, at+1)
	}
}

func find(all []*stored, at key) (int, bool) {
	return slices.BinarySearchFunc(all, at, func(o *stored, at key) int { return o.at.compare(at) })
}

// of returns the selected objects of a kind, in order.
func (s *store) of(k groupKind, is func(*stored) bool) []*stored {
	var all []*stored
	for _, o := range s.sorted[k] {
		if is(o) {
			all = append(all, o)
		}
	}
	return all
}

// where returns the selected objects of any kind, in order.
func (s *store) where(is func(*stored) bool) []*stored {
	var all []*stored
	for _, o := range s.objects {
		if is(o) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *stored) int { return a.at.compare(b.at) })
	return all
}
