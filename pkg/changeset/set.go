package changeset

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Set is all changes of a plan or a tree, in groups.
type Set struct {
	Changes []Change
	// Groups partition Changes. Those with the worst findings stand first, then the largest.
	Groups []Group
	// Nodes is the number of nodes that the plan is about, changed or not.
	Nodes int
}

// Group is the changes of one shape.
type Group struct {
	// Members are places in Set.Changes, in their order. The first is the sample.
	Members []int
	// Nodes is the number of nodes that the members are of.
	Nodes int
	// Fields are what the members have in common, in the order of their paths.
	Fields []Common
	// Outliers are the members that differ from the rest, as places in Set.Changes.
	Outliers []int
	// Findings are those of each member, and those of the group.
	Findings []Code
}

// Common is a field of a group's members.
type Common struct {
	Path, Op, Cause, Place string
	Before, After          Side
}

// Side has the members' common value of a field, before or after the change.
type Side struct {
	// Text is the value as JSON. It is "" if the members have no value, or different ones.
	Text string
	// Varies is set if the members have different values. Columns name what feeds them, if
	// lynqctl knows it.
	Varies  bool
	Columns []string
}

// String returns the value, or what it depends on: ‹plan›, ‹differs›.
func (s Side) String() string {
	switch {
	case !s.Varies:
		return s.Text
	case len(s.Columns) > 0:
		return "‹" + strings.Join(s.Columns, ", ") + "›"
	}
	return "‹differs›"
}

// few is the largest share of a group, as one in so many, that counts as outliers. With
// more, the values vary.
const few = 10

// most is the share of all nodes, as one in so many, from which a group has most of them.
// manyNodes is the least number of nodes of such a group.
const (
	most      = 2
	manyNodes = 10
)

// Of groups changes. nodes is the number of nodes that the plan is about.
func Of(changes []Change, nodes int) *Set {
	s := &Set{Changes: changes, Nodes: nodes}
	places := map[string]int{}
	for i := range changes {
		shape := changes[i].Shape()
		at, known := places[shape]
		if !known {
			at = len(s.Groups)
			places[shape] = at
			s.Groups = append(s.Groups, Group{})
		}
		g := &s.Groups[at]
		g.Members = append(g.Members, i)
	}
	for i := range s.Groups {
		s.fill(&s.Groups[i])
	}
	slices.SortStableFunc(s.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.urgency(), b.urgency()), s.leaves(&b)-s.leaves(&a), cmp.Compare(len(b.Members), len(a.Members)))
	})
	return s
}

// Sample returns a member that stands for the group: the first that is no outlier.
func (s *Set) Sample(g *Group) *Change { return &s.Changes[s.SampleOf(g)] }

// SampleOf works like Sample, and returns the place in Set.Changes.
func (s *Set) SampleOf(g *Group) int {
	for _, m := range g.Members {
		if !slices.Contains(g.Outliers, m) {
			return m
		}
	}
	return g.Members[0]
}

// urgency is the rank of the worst finding. Groups without one come last.
func (g *Group) urgency() int {
	worst := len(Codes())
	for _, code := range g.Findings {
		if code != ManySame {
			worst = min(worst, rank(code))
		}
	}
	return worst
}

// leaves returns 1 for a group that deletes its objects, or 0.
func (s *Set) leaves(g *Group) int {
	switch s.Changes[g.Members[0]].Action {
	case "delete", "collect", "purge", "removed":
		return 1
	}
	return 0
}

// fill finds out what the members of a group have in common.
func (s *Set) fill(g *Group) {
	first := &s.Changes[g.Members[0]]
	seen := map[lynq.NodeKey]bool{}
	for _, m := range g.Members {
		seen[s.Changes[m].Node.Key()] = true
	}
	g.Nodes, g.Findings = len(seen), slices.Clone(first.Findings)
	if g.Nodes >= manyNodes && g.Nodes*most > s.Nodes {
		g.Findings = append(g.Findings, ManySame)
	}
	differ := map[int]bool{}
	for i := range first.Fields {
		f := &first.Fields[i]
		c := Common{Path: f.Path, Op: f.Op, Cause: f.Cause, Place: f.Place}
		c.Before = s.side(g, differ, i, func(f *Field) any { return f.Before })
		c.After = s.side(g, differ, i, func(f *Field) any { return f.After })
		g.Fields = append(g.Fields, c)
	}
	for _, m := range g.Members {
		if differ[m] {
			g.Outliers = append(g.Outliers, m)
		}
	}
}

// side finds out what the members have in one side of their i-th field. It adds members that
// differ from nearly all others to differ.
func (s *Set) side(g *Group, differ map[int]bool, i int, of func(*Field) any) Side {
	texts, counts := make([]string, len(g.Members)), map[string]int{}
	for k, m := range g.Members {
		texts[k] = text(of(&s.Changes[m].Fields[i]))
		counts[texts[k]]++
	}
	common := texts[0]
	for _, t := range texts { // in the order of members, so that equal counts have one result
		if counts[t] > counts[common] {
			common = t
		}
	}
	columns := s.Changes[g.Members[0]].Fields[i].Columns
	switch others := len(texts) - counts[common]; {
	case others == 0:
		return Side{Text: common}
	case len(columns) > 0 || others*few > len(texts):
		return Side{Varies: true, Columns: columns}
	}
	for k, t := range texts {
		if t != common {
			differ[g.Members[k]] = true
		}
	}
	return Side{Text: common}
}

// Numbers returns for each change the number of its group of many nodes, counted from 1, or 0.
func (s *Set) Numbers() []int {
	numbers := make([]int, len(s.Changes))
	for i := range s.Groups {
		for _, m := range s.Groups[i].Members {
			if s.Groups[i].Many() {
				numbers[m] = i + 1
			}
		}
	}
	return numbers
}

// Found is a finding with the changes that it is about.
type Found struct {
	Explained
	// Objects and Nodes count the members of the groups that have the finding.
	Objects, Nodes int
	// Groups are places in Set.Groups.
	Groups []int
}

// In returns a set with only the groups of a hub.
func (s *Set) In(hub lynq.HubKey) *Set {
	part := *s
	part.Groups = nil
	for _, g := range s.Groups {
		if s.Changes[g.Members[0]].Node.Hub == hub {
			part.Groups = append(part.Groups, g)
		}
	}
	return &part
}

// FoundOf returns the findings with some codes, the worst first.
func (s *Set) FoundOf(codes []Code) []Found {
	return slices.DeleteFunc(s.Found(), func(f Found) bool { return !slices.Contains(codes, f.Code) })
}

// Found sums the findings of all groups up, the worst first.
func (s *Set) Found() []Found {
	var all []Found
	for _, e := range Codes() {
		f, nodes := Found{Explained: e}, map[lynq.NodeKey]bool{}
		for i := range s.Groups {
			g := &s.Groups[i]
			if !slices.Contains(g.Findings, e.Code) {
				continue
			}
			f.Groups, f.Objects = append(f.Groups, i), f.Objects+len(g.Members)
			for _, m := range g.Members {
				nodes[s.Changes[m].Node.Key()] = true
			}
		}
		if f.Nodes = len(nodes); f.Objects > 0 {
			all = append(all, f)
		}
	}
	return all
}
