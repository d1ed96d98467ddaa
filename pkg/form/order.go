package form

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// inOrder sorts the resources of a form. Each follows all earlier waves and its
// dependencies. Among the candidates, Namespaces come first, then
// CustomResourceDefinitions, then file order. Resources in a cycle, which Load reports,
// come last.
func inOrder(entries []*entry) []*Resource {
	waiting := slices.Clone(entries)
	slices.SortStableFunc(waiting, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Policy.ApplyOrder, b.Policy.ApplyOrder), cmp.Compare(priority(a.Resource), priority(b.Resource)))
	})
	left := map[string]int{} // number of unplaced resources with each id
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

// cycle is a cycle of dependencies.
type cycle struct {
	pos  lynq.Pos // place of its first step
	path string   // a -> b -> a, starting with the smallest id
}

// cycles finds cycles of more than one resource. It walks in id order, and returns a cycle
// for each dependency that closes one. If a user breaks all of them, no cycle remains.
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

// cycleSearch is a depth-first walk along the dependencies.
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

// add stores a cycle, rotated so that it starts with its smallest id.
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
