package changeset

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// folded is the number of nodes from which reports show a group instead of each member.
const folded = 11

// Many reports whether reports show the group instead of each member.
func (g *Group) Many() bool { return g.Nodes >= folded }

// named is the number of nodes that a group names. Of those that lose objects, a person reads
// more: namedLeaving.
const (
	named        = 3
	namedLeaving = 30
)

// NodeNames names the first nodes of a group.
func (s *Set) NodeNames(g *Group) string {
	if s.leaves(g) > 0 {
		return s.Names(g.Members, namedLeaving)
	}
	return s.Names(g.Members, named)
}

// longest limits the characters of a value in a group.
const longest = 80

// Title says what happens to how many objects of a group.
func (s *Set) Title(g *Group) string {
	c := &s.Changes[g.Members[0]]
	what := c.Words + " " + c.Kind
	if c.ID != "" {
		what += " " + c.ID
	}
	if c.Node.Form.Name != "" {
		what += " of form " + c.Node.Form.Name
	}
	count := phrase.Count(g.Nodes, "node")
	if len(g.Members) != g.Nodes {
		count = phrase.Count(len(g.Members), "object") + " in " + count
	}
	return what + ": " + count
}

// Causes are the causes of a group, each once, in the order of its fields.
func (s *Set) Causes(g *Group) []string {
	if cause := s.Changes[g.Members[0]].Cause; cause != "" {
		return []string{cause}
	}
	var causes []string
	for i := range g.Fields {
		if c := g.Fields[i].Cause; !slices.Contains(causes, c) {
			causes = append(causes, c)
		}
	}
	return causes
}

// CausesAt works like Causes, and says where forms are the cause.
func (s *Set) CausesAt(g *Group) []string {
	if c := &s.Changes[g.Members[0]]; c.Cause != "" {
		return AtPlaces(1, s.edited(g), func(int) (string, string) { return c.Cause, c.Place })
	}
	return AtPlaces(len(g.Fields), s.edited(g), func(i int) (string, string) { return g.Fields[i].Cause, g.Fields[i].Place })
}

// byForm begins the causes that a form has a part in.
const byForm = "form"

// manyPlaces limits the places that a cause names.
const manyPlaces = 3

// AtPlaces returns the distinct causes of n fields, each with the places in forms that it has
// in them: form at web.yaml:12, web.yaml:14 (3f2a91c Raise the memory) or row (column plan). A
// place is "" for none. edited says which commits changed the form, "" if nobody knows.
func AtPlaces(n int, edited string, of func(int) (cause, place string)) []string {
	var causes []string
	places := map[string][]string{}
	for i := range n {
		cause, place := of(i)
		if !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
		if place != "" && !slices.Contains(places[cause], place) {
			places[cause] = append(places[cause], place)
		}
	}
	for i, cause := range causes {
		at := places[cause]
		if len(at) == 0 {
			continue
		}
		text := byForm + " at " + strings.Join(at[:min(len(at), manyPlaces)], ", ")
		if more := len(at) - manyPlaces; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		if edited != "" {
			text += " (" + edited + ")"
		}
		causes[i] = text + strings.TrimPrefix(cause, byForm)
	}
	return causes
}

// String says how the field changes: .data.plan: "gold" → ‹plan›.
func (c *Common) String() string {
	before, after := short(c.Before.String()), short(c.After.String())
	switch {
	case before == "" && after == "":
		return c.Path // a tree tells no values
	case c.Before.String() == "":
		return c.Path + ": added " + after
	case c.After.String() == "":
		return c.Path + ": removed, was " + before
	}
	return c.Path + ": " + before + " → " + after
}

// Names are the first nodes of some members, and how many more there are.
func (s *Set) Names(members []int, most int) string {
	var names []string
	for _, m := range members {
		if name := s.Changes[m].Node.Name; len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	if more := len(names) - most; more > 1 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// Deviations say how the outliers of a group differ from its other members. Outliers that
// differ in the same way share a line. Each line begins with the number of its outliers.
func (s *Set) Deviations(g *Group) []string {
	members := map[string][]int{}
	var order []string
	for _, m := range g.Outliers {
		var fields []string
		for i := range g.Fields {
			common, f := &g.Fields[i], &s.Changes[m].Fields[i]
			before, after := text(f.Before), text(f.After)
			if !common.Before.Varies && before != common.Before.Text || !common.After.Varies && after != common.After.Text {
				own := Common{Path: f.Path, Before: Side{Text: before}, After: Side{Text: after}}
				fields = append(fields, own.String())
			}
		}
		way := strings.Join(fields, "; ")
		if members[way] == nil {
			order = append(order, way)
		}
		members[way] = append(members[way], m)
	}
	var lines []string
	for _, way := range order {
		differ := "differ"
		if len(members[way]) == 1 {
			differ = "differs"
		}
		lines = append(lines, fmt.Sprintf("%d %s: %s: %s", len(members[way]), differ, s.Names(members[way], named), way))
	}
	return lines
}

// String says what was found, and about how many objects.
func (f *Found) String() string {
	count := phrase.Count(f.Objects, "object")
	if f.Nodes != f.Objects {
		count += " in " + phrase.Count(f.Nodes, "node")
	}
	return fmt.Sprintf("%s: %s: %s", f.Code, count, f.What)
}

// short cuts a value for a line.
func short(value string) string {
	if utf8.RuneCountInString(value) <= longest {
		return value
	}
	return string([]rune(value)[:longest]) + "…"
}
