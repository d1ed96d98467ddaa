package fields

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Conflict is a field that another manager owns.
type Conflict struct {
	Manager, Subresource string
	Field                string // for example .spec.replicas
	// Applied is set if the manager owns the field by server-side apply, and not by an
	// update.
	Applied bool
}

// ClientSide reports whether the manager is a tool that applies on the client's side.
func (f Conflict) ClientSide() bool {
	e := metav1.ManagedFieldsEntry{Manager: f.Manager, Subresource: f.Subresource, Operation: metav1.ManagedFieldsOperationUpdate}
	if f.Applied {
		e.Operation = metav1.ManagedFieldsOperationApply
	}
	return clientSide(&e)
}

// SortConflicts sorts conflicts and removes duplicates, because the server's order is
// random.
func SortConflicts(fields []Conflict) []Conflict {
	slices.SortFunc(fields, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Subresource, b.Subresource), cmp.Compare(a.Field, b.Field))
	})
	return slices.Compact(fields)
}

// Describe lists fields and their owners:
//
//	.spec.replicas from "helm", .data.a and .data.b from "kubectl-edit"
func Describe(fields []Conflict) string {
	return eachManager(fields, func(list string, _ bool, manager string) string { return list + " from " + manager })
}

// ManagedBy lists fields with their managers as sentences:
//
//	.spec.replicas is managed by "helm", .data.a and .data.b are managed by "kubectl-edit"
func ManagedBy(fields []Conflict) string {
	return eachManager(fields, func(list string, many bool, manager string) string {
		if many {
			return list + " are managed by " + manager
		}
		return list + " is managed by " + manager
	})
}

// eachManager groups fields by manager and joins the texts of say, in the given order.
func eachManager(fields []Conflict, say func(list string, many bool, manager string) string) string {
	var managers []string
	of := map[string][]string{}
	for _, f := range fields {
		name := fmt.Sprintf("%q", f.Manager)
		if f.Subresource != "" {
			name += " (" + f.Subresource + ")"
		}
		if of[name] == nil {
			managers = append(managers, name)
		}
		of[name] = append(of[name], f.Field)
	}
	texts := make([]string, len(managers))
	for i, name := range managers {
		texts[i] = say(enumerate(of[name]), len(of[name]) > 1, name)
	}
	return strings.Join(texts, ", ")
}

// enumerate lists some names and counts the rest.
func enumerate(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
