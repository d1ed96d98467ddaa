package render

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// A node of a form with a dash in its name has two names: the one that it gets
// today, and the plain one, which it keeps where it was recorded by that (see
// naming.NodeName). It is one of them at a time, and both find it.

// nodeName is the name of a row's node, and whether it is the plain one of a form
// whose nodes do not get those any more.
func (s *Settings) nodeName(p *Program, uid string) (name string, kept bool) {
	if s.Recorded != nil && naming.Dashed(p.Form.Name) {
		if plain := naming.PlainNodeName(uid, p.Form.Name); s.Recorded(p, plain) {
			return plain, true
		}
	}
	return naming.NodeName(uid, p.Form.Name), false
}

// OtherName is the other name of a node, "" where it has but one.
func OtherName(uid, form, name string) string {
	if !naming.Dashed(form) {
		return ""
	}
	if plain := naming.PlainNodeName(uid, form); plain != name {
		return plain
	}
	return naming.NodeName(uid, form)
}

// AskedFor tells whether the other name of a node of a form is among names, and
// means it: a name that could also be one of another of the forms means that
// one.
func AskedFor(names map[string]bool, other, form string, forms []string) bool {
	return other != "" && names[other] && !slices.ContainsFunc(forms, func(f string) bool {
		return f != form && strings.HasSuffix(other, "-"+f)
	})
}

// FormNames are the names of the forms of programs.
func FormNames(programs []*Program) []string {
	names := make([]string, len(programs))
	for i, p := range programs {
		names[i] = p.Form.Name
	}
	return names
}
