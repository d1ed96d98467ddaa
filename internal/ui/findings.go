package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// Verification is the result of comparing inventories with the cluster.
type Verification struct {
	Nodes    int // the number of compared nodes, and of their objects
	Objects  int
	Findings []status.Finding
	// Warnings name what lynqctl couldn't check. Ignored are about inventories that don't
	// count.
	Warnings []string
	Ignored  []string
}

// List lists the findings. The text for an empty list is always the result.
func (v *Verification) List(where string) *list.List {
	l := &list.List{
		Title: "inventory verify",
		Columns: []list.Column{
			{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "OBJECT", Flexible: true}, {Name: "STATUS"},
			{Name: "HUB", Wide: true}, {Name: "FORM", Wide: true}, {Name: "ID", Wide: true}, {Name: "MESSAGE", Wrapped: true},
		},
		Empty: v.result(where), Warnings: slices.Concat(v.Warnings, v.Ignored),
	}
	for i := range v.Findings {
		l.Items = append(l.Items, findingItem(&v.Findings[i]))
	}
	return l
}

// result says the result in a line.
func (v *Verification) result(where string) string {
	compared := phrase.Count(v.Nodes, "node") + ", " + phrase.Count(v.Objects, "object") + ": "
	switch {
	case len(v.Findings) > 0:
		return compared + findingCounts(v.Findings)
	case v.Nodes > 0:
		return compared + "all as recorded"
	case len(v.Warnings) > 0:
		return "nothing was compared"
	}
	return "No nodes found in " + where
}

// findingCounts counts the findings of each type.
func findingCounts(findings []status.Finding) string {
	counts := map[status.Type]int{}
	for i := range findings {
		counts[findings[i].Type]++
	}
	var parts []string
	for _, t := range status.Types() {
		if counts[t] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[t], Shown(string(t))))
		}
	}
	return strings.Join(parts, ", ")
}

// findingData is a finding in JSON and YAML (docs/inventory.md).
type findingData struct {
	Node      string      `json:"node"`
	Namespace string      `json:"namespace"`
	Hub       string      `json:"hub"`
	Form      string      `json:"form,omitempty"`
	Finding   status.Type `json:"finding"`
	objectFields
	ID      string `json:"id,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

func findingItem(f *status.Finding) list.Item {
	return list.Item{
		Cells: []string{
			f.Namespace, f.Name, f.Object.Full(), Shown(string(f.Type)),
			f.Hub.Name, f.Form.Name, f.ID, f.What + ": " + f.Fix,
		},
		Name: f.Object.Full(),
		Data: findingData{
			Node: f.Name, Namespace: f.Namespace, Hub: f.Hub.Name, Form: f.Form.Name, Finding: f.Type,
			objectFields: objectFieldsOf(f.Object), ID: f.ID, Message: f.What, Fix: f.Fix,
		},
	}
}
