package rbac

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// excludes reports whether some rule excludes all objects of an entry, whatever the rows
// say.
func (k Kinds) excludes(f Form, r *form.Resource) bool {
	namespace := ""
	if k[kindOf(r)].Namespaced {
		namespace = namespaceOf(f, r)
	}
	for i := range f.Exclude {
		e := &f.Exclude[i]
		if e.Kind == r.Kind && takes(e.Name, r.NameTemplate.Text) && (e.Namespace == "" || takes(e.Namespace, namespace)) {
			return true
		}
	}
	return false
}

// takes reports whether a pattern takes what a text becomes for every row: since it takes
// everything, or the text is no template. "" is a text that is not known.
func takes(pattern, text string) bool {
	if pattern != "" && strings.Trim(pattern, "*") == "" {
		return true
	}
	text = strings.TrimSpace(text)
	rule := lynq.Exclusion{Name: pattern}
	return text != "" && !isTemplate(text) && rule.Matches(lynq.Ref{Name: text})
}
