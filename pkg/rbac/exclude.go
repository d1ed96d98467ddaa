package rbac

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// excludes reports whether a rule excludes all objects of an entry, for any row.
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

// takes reports whether a pattern matches a text for every row: because it matches everything, or
// because the text is no template. "" stands for an unknown text.
func takes(pattern, text string) bool {
	if pattern != "" && strings.Trim(pattern, "*") == "" {
		return true
	}
	text = strings.TrimSpace(text)
	rule := lynq.Exclusion{Name: pattern}
	return text != "" && !isTemplate(text) && rule.Matches(lynq.Ref{Name: text})
}
