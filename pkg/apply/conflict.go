package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A fieldConflict is a field that another manager owns.
type fieldConflict struct {
	manager, subresource string
	field                string // such as .spec.replicas
	// applied: the manager owns it by server-side apply, not by an update.
	applied bool
}

// clientSide: the manager is a tool that applies on the client's side.
func (f fieldConflict) clientSide() bool {
	e := metav1.ManagedFieldsEntry{Manager: f.manager, Subresource: f.subresource, Operation: metav1.ManagedFieldsOperationUpdate}
	if f.applied {
		e.Operation = metav1.ManagedFieldsOperationApply
	}
	return clientSide(&e)
}

// sortConflicts orders conflicts, each once: the server names managers in any
// order.
func sortConflicts(fields []fieldConflict) []fieldConflict {
	slices.SortFunc(fields, func(a, b fieldConflict) int {
		return cmp.Or(cmp.Compare(a.manager, b.manager), cmp.Compare(a.subresource, b.subresource), cmp.Compare(a.field, b.field))
	})
	return slices.Compact(fields)
}

// describeFields lists fields and who owns them:
//
//	.spec.replicas from "helm", .data.a and .data.b from "kubectl-edit"
func describeFields(fields []fieldConflict) string {
	return eachManager(fields, func(list string, _ bool, manager string) string { return list + " from " + manager })
}

// managedBy says who owns fields:
//
//	.spec.replicas is managed by "helm", .data.a and .data.b are managed by "kubectl-edit"
func managedBy(fields []fieldConflict) string {
	return eachManager(fields, func(list string, many bool, manager string) string {
		if many {
			return list + " are managed by " + manager
		}
		return list + " is managed by " + manager
	})
}

// eachManager joins what is said of the fields of each manager, in the order in
// which they come.
func eachManager(fields []fieldConflict, say func(list string, many bool, manager string) string) string {
	var managers []string
	of := map[string][]string{}
	for _, f := range fields {
		name := fmt.Sprintf("%q", f.manager)
		if f.subresource != "" {
			name += " (" + f.subresource + ")"
		}
		if of[name] == nil {
			managers = append(managers, name)
		}
		of[name] = append(of[name], f.field)
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
