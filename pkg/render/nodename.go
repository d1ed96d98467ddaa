package render

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A node of a form with a dash in its name has two names: the one that it gets
// today, and the plain one, which it keeps where it was recorded by that (see
// lynq.NodeName). It is one of them at a time, and both find it.

// nodeName is the name of a row's node, and whether it is the plain one of a form
// whose nodes do not get those any more.
func (s *Settings) nodeName(p *Program, uid string) (name string, kept bool) {
	if s.Recorded != nil && lynq.Dashed(p.Form.Name) {
		if plain := lynq.PlainNodeName(uid, p.Form.Name); s.Recorded(p, plain) {
			return plain, true
		}
	}
	return lynq.NodeName(uid, p.Form.Name), false
}

// OtherName is the other name of a node, "" where it has but one.
func OtherName(uid, form, name string) string {
	if !lynq.Dashed(form) {
		return ""
	}
	if plain := lynq.PlainNodeName(uid, form); plain != name {
		return plain
	}
	return lynq.NodeName(uid, form)
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
