package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func (a *app) inventoryVerifyCommand() *cobra.Command {
	var f inventoryFlags
	recordedOnly := false
	cmd := &cobra.Command{
		Use:   "verify [NODE...]",
		Short: "Compare inventories with the cluster",
		Long: `Compare what is recorded of nodes with what is in the cluster, and list what is
not as recorded, with what to do about it. Nothing is changed.

To find objects that have the tracking of a node and no entry in an inventory,
every kind that the server has is listed once. --recorded-only leaves that out.

Exit codes: 0 all is as recorded; 1 something is not, or not all could be looked
at; 2 bad usage, or a cluster that cannot be read.`,
		Example: `  # All nodes of the context's namespace
  lynqctl inventory verify

  # Two nodes, whatever their hub
  lynqctl inventory verify acme-web bolt-web -n shop

  # In a job: all nodes of a hub, for a script
  lynqctl inventory verify -A --hub crm -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Nodes = append(f.Nodes, args...)
			return a.inventoryVerify(cmd.Context(), &f, recordedOnly)
		},
	}
	f.register(cmd.Flags())
	f.registerChoice(cmd.Flags())
	cmd.Flags().BoolVar(&recordedOnly, "recorded-only", false, "look only at what is recorded")
	return cmd
}

func (a *app) inventoryVerify(ctx context.Context, f *inventoryFlags, recordedOnly bool) error {
	if err := f.check(); err != nil {
		return err
	}
	v, err := a.engine("").Verify(ctx, &engine.VerifyOptions{InventoryOptions: f.InventoryOptions, RecordedOnly: recordedOnly})
	if err != nil {
		return err
	}
	return a.showVerification(v, f)
}

// showVerification shows what was found.
func (a *app) showVerification(v *engine.Verification, f *inventoryFlags) error {
	summary := verified(v, f)
	l := &ui.List{
		Columns: []ui.Column{
			{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "OBJECT", Flexible: true}, {Name: "FINDING"},
			{Name: "HUB", Wide: true}, {Name: "FORM", Wide: true}, {Name: "ID", Wide: true}, {Name: "MESSAGE", Wrapped: true},
		},
		Empty: summary, Warnings: slices.Concat(v.Warnings, v.Ignored),
	}
	for i := range v.Findings {
		l.Items = append(l.Items, findingItem(&v.Findings[i]))
	}
	if err := f.printList(a, l); err != nil {
		return err
	}
	if len(l.Items) > 0 || !ui.TellsEmpty(ui.Format(f.output)) {
		_, _ = fmt.Fprintln(a.noteOut(), summary)
	}
	return v.Ended()
}

// verified is the result in a line.
func verified(v *engine.Verification, f *inventoryFlags) string {
	compared := lynq.Count(v.Nodes, "node") + ", " + lynq.Count(v.Objects, "object") + ": "
	switch {
	case len(v.Findings) > 0:
		return compared + findingCounts(v.Findings)
	case v.Nodes > 0:
		return compared + "all as recorded"
	case len(v.Warnings) > 0:
		return "nothing was compared"
	}
	return "No nodes are recorded in " + f.Where()
}

// findingCounts are how many findings of each type there are.
func findingCounts(findings []plan.Finding) string {
	counts := map[plan.FindingType]int{}
	for i := range findings {
		counts[findings[i].Type]++
	}
	var parts []string
	for _, t := range plan.FindingTypes() {
		if counts[t] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[t], t))
		}
	}
	return strings.Join(parts, ", ")
}

// findingData is a finding as JSON and YAML have it (docs/inventory.md).
type findingData struct {
	Node            string           `json:"node"`
	Namespace       string           `json:"namespace"`
	Hub             string           `json:"hub"`
	Form            string           `json:"form,omitempty"`
	Finding         plan.FindingType `json:"finding"`
	Group           string           `json:"group,omitempty"`
	Kind            string           `json:"kind"`
	ObjectNamespace string           `json:"objectNamespace,omitempty"`
	Name            string           `json:"name"`
	ID              string           `json:"id,omitempty"`
	Message         string           `json:"message"`
	Fix             string           `json:"fix"`
}

func findingItem(f *plan.Finding) ui.Item {
	return ui.Item{
		Cells: []string{
			f.Namespace, f.Name, f.Object.Full(), string(f.Type),
			f.Hub, f.Form, f.ID, f.What + ": " + f.Fix,
		},
		Name: f.Object.Full(),
		Data: findingData{
			Node: f.Name, Namespace: f.Namespace, Hub: f.Hub, Form: f.Form, Finding: f.Type,
			Group: f.Object.Group, Kind: f.Object.Kind, ObjectNamespace: f.Object.Namespace, Name: f.Object.Name, ID: f.ID,
			Message: f.What, Fix: f.Fix,
		},
	}
}
