package form

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// inOrder sorts the resources of a form so that each goes after all of the earlier
// waves and all it depends on. Of those that could go next, Namespaces go first, then
// CustomResourceDefinitions, then what is first in the file. Resources in a
// cycle, which is an error by then, go last.
func inOrder(entries []*entry) []*Resource {
	waiting := slices.Clone(entries)
	slices.SortStableFunc(waiting, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Policy.ApplyOrder, b.Policy.ApplyOrder), cmp.Compare(priority(a.Resource), priority(b.Resource)))
	})
	left := map[string]int{} // how many resources of an id are not placed yet
	for _, e := range entries {
		left[e.ID]++
	}
	free := func(e *entry) bool {
		return !slices.ContainsFunc(e.DependIDs, func(id string) bool { return left[id] > 0 })
	}
	ordered := make([]*Resource, 0, len(entries))
	for len(waiting) > 0 {
		next := max(slices.IndexFunc(waiting, free), 0)
		left[waiting[next].ID]--
		ordered = append(ordered, waiting[next].Resource)
		waiting = slices.Delete(waiting, next, next+1)
	}
	return ordered
}

func priority(r *Resource) int {
	switch {
	case r.IsNamespace():
		return 0
	case r.IsDefinition():
		return 1
	}
	return 2
}

// cycle is a circle of dependencies.
type cycle struct {
	pos  lynq.Pos // of its first step
	path string   // a -> b -> a, beginning with the smallest id
}

// cycles finds circles of more than one resource: one for every dependency
// that closes a circle on a walk in the order of the ids, so that all circles
// are gone when each of these is broken.
func cycles(entries []*entry) []cycle {
	s := cycleSearch{byID: map[string]*entry{}, state: map[string]visit{}}
	for _, e := range entries {
		if _, twice := s.byID[e.ID]; !twice && e.ID != "" {
			s.byID[e.ID] = e
		}
	}
	ids := make([]string, 0, len(s.byID))
	for id := range s.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		s.visit(id)
	}
	return s.found
}

type visit uint8

const (
	unseen visit = iota
	onPath
	finished
)

// cycleSearch is a walk along the dependencies, depth first.
type cycleSearch struct {
	byID  map[string]*entry
	state map[string]visit
	path  []string
	found []cycle
}

func (s *cycleSearch) visit(id string) {
	s.state[id] = onPath
	s.path = append(s.path, id)
	for _, to := range slices.Sorted(slices.Values(s.byID[id].DependIDs)) {
		if s.byID[to] == nil || to == id {
			continue
		}
		switch s.state[to] {
		case unseen:
			s.visit(to)
		case onPath:
			s.add(s.path[slices.Index(s.path, to):])
		}
	}
	s.path = s.path[:len(s.path)-1]
	s.state[id] = finished
}

// add notes a circle, turned so that it begins with its smallest id.
func (s *cycleSearch) add(ids []string) {
	start := slices.Index(ids, slices.Min(ids))
	turned := slices.Concat(ids[start:], ids[:start], ids[start:start+1])
	c := cycle{pos: s.byID[turned[0]].Pos, path: strings.Join(turned, " -> ")}
	for _, d := range s.byID[turned[0]].depends {
		if d.Text == turned[1] {
			c.pos = d.Pos
		}
	}
	s.found = append(s.found, c)
}
