package ui

import (
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// RightsList lists missing permissions.
func RightsList(lacking []rbac.Rule) *list.List {
	l := &list.List{
		Columns: []list.Column{{Name: "RESOURCE"}, {Name: "NAMESPACE"}, {Name: "NAMES", Flexible: true}, {Name: "VERBS"}, {Name: "NEEDED FOR", Flexible: true, Needed: true}},
		Empty:   "No permission is missing",
	}
	for i := range lacking {
		r := &lacking[i]
		l.Items = append(l.Items, list.Item{
			Cells: []string{r.FullResource(), r.Namespace, strings.Join(r.Names, ","), strings.Join(r.Verbs, ","), r.Purpose()},
			Name:  r.String(), Data: r,
		})
	}
	return l
}
