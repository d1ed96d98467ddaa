package render

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// If a form's name has a dash, its nodes have two possible names. New nodes get a hashed
// name. A node keeps its plain name if an inventory has it (see naming.NodeName). Users
// can select the node by both names.

// nodeName returns the name of a row's node. kept is set if the node keeps the plain name
// from its inventory.
func (s *Settings) nodeName(p *Program, uid string) (name string, kept bool) {
	if s.Recorded != nil && naming.Dashed(p.Form.Name) {
		if plain := naming.PlainNodeName(uid, p.Form.Name); s.Recorded(p, plain) {
			return plain, true
		}
	}
	return naming.NodeName(uid, p.Form.Name), false
}

// OtherName returns the other name of a node, or "".
func OtherName(uid, form, name string) string {
	if !naming.Dashed(form) {
		return ""
	}
	if plain := naming.PlainNodeName(uid, form); plain != name {
		return plain
	}
	return naming.NodeName(uid, form)
}

// AskedFor reports whether names has the other name of a form's node. If the name could
// also be one of another form, it means that form's node.
func AskedFor(names map[string]bool, other, form string, forms []string) bool {
	return other != "" && names[other] && !slices.ContainsFunc(forms, func(f string) bool {
		return f != form && strings.HasSuffix(other, "-"+f)
	})
}

// FormNames returns the names of the programs' forms.
func FormNames(programs []*Program) []string {
	names := make([]string, len(programs))
	for i, p := range programs {
		names[i] = p.Form.Name
	}
	return names
}
