package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

func (a *app) inventoryListCommand() *cobra.Command {
	var f inventoryFlags
	var failed bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List nodes and how they are",
		Long: `List the nodes that have an inventory, and how the last run left them.

What is shown is what was recorded: no object is looked at.`,
		Example: `  # All nodes of a hub
  lynqctl inventory list -A --hub crm

  # Nodes that are not Ready
  lynqctl inventory list -A --failed`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.inventoryList(cmd.Context(), &f, failed) },
	}
	f.register(cmd.Flags())
	f.registerChoice(cmd.Flags())
	f.registerSelector(cmd.Flags())
	cmd.Flags().BoolVar(&failed, "failed", false, "only nodes that are not Ready")
	return cmd
}

func (a *app) inventoryList(ctx context.Context, f *inventoryFlags, failed bool) error {
	if err := f.check(); err != nil {
		return err
	}
	r, err := a.engine("").Inventories(ctx, &f.InventoryOptions)
	if err != nil {
		return err
	}
	l := &ui.List{
		Columns: []ui.Column{
			{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "HUB", Flexible: true}, {Name: "FORM", Flexible: true},
			{Name: "OBJECTS"}, {Name: "READY"}, {Name: "CONDITION"}, {Name: "SINCE"},
			{Name: "UID", Wide: true}, {Name: "HUB-NAMESPACE", Wide: true}, {Name: "GENERATION", Wide: true},
			{Name: "LAST-CHANGE", Wide: true}, {Name: "FINALIZER", Wide: true}, {Name: "APPLYSET", Wide: true},
		},
		Empty:    "No nodes are recorded in " + f.Where(),
		Warnings: slices.Concat(r.Warnings(), r.Ignored),
	}
	now, called := time.Now(), newShortNames()
	for _, inv := range r.Chosen {
		called.see(plan.HubOf(inv), plan.FormOf(inv))
	}
	for _, inv := range r.Chosen {
		if condition, _ := conditionOf(inv); !failed || condition != status.Ready {
			l.Items = append(l.Items, nodeItem(inv, called, now))
		}
	}
	if failed && len(r.Chosen) > 0 {
		l.Empty = "All nodes are recorded as Ready: " + lynq.Count(len(r.Chosen), "node") + " looked at"
	}
	if err := f.printList(a, l); err != nil {
		return err
	}
	return r.Incomplete()
}

func nodeItem(inv *inventory.Inventory, called shortNames, now time.Time) ui.Item {
	d := nodeDataOf(inv)
	generation := ""
	if inv.TemplateGeneration != 0 {
		generation = strconv.FormatInt(inv.TemplateGeneration, 10)
	}
	return ui.Item{
		Cells: []string{
			inv.Namespace, inv.Node, called.hub(plan.HubOf(inv)), called.form(plan.FormOf(inv)),
			strconv.Itoa(d.Objects), fmt.Sprintf("%d/%d", inv.Status.Ready, inv.Status.Desired), d.Condition, ago(now, d.Since),
			inv.RowUID, inv.HubNamespace, generation,
			ago(now, d.RolloutUpdateStart), yesNo(inv.Finalizer), d.ApplySet,
		},
		Name: inv.Node,
		Data: d,
	}
}

// ago is how long ago something was, as kubectl has it, "" for never.
func ago(now time.Time, t *time.Time) string {
	if t == nil {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(*t), 0))
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// nodeData is a node's record as JSON and YAML have it (docs/inventory.md).
type nodeData struct {
	Node               string           `json:"node"`
	Namespace          string           `json:"namespace"`
	Hub                string           `json:"hub"`
	HubNamespace       string           `json:"hubNamespace,omitempty"`
	Form               string           `json:"form"`
	FormNamespace      string           `json:"formNamespace,omitempty"`
	UID                string           `json:"uid"`
	TemplateGeneration int64            `json:"templateGeneration,omitempty"`
	RolloutUpdateStart *time.Time       `json:"rolloutUpdateStart,omitempty"`
	Condition          string           `json:"condition"`
	Since              *time.Time       `json:"since,omitempty"`
	Objects            int              `json:"objects"`
	Status             inventory.Status `json:"status"`
	Version            string           `json:"version,omitempty"`
	ConfigMap          string           `json:"configMap"`
	ApplySet           string           `json:"applySet"`
	Finalizer          bool             `json:"finalizer"`
	Deleting           bool             `json:"deleting"`
	Resources          []resourceData   `json:"resources,omitempty"`
}

// nodeDataOf leaves out the row's values, where they are recorded: they may be
// passwords.
func nodeDataOf(inv *inventory.Inventory) *nodeData {
	d := &nodeData{
		Node: inv.Node, Namespace: inv.Namespace, Hub: inv.Hub, HubNamespace: inv.HubNamespace, Form: inv.Form, FormNamespace: inv.FormNamespace, UID: inv.RowUID,
		TemplateGeneration: inv.TemplateGeneration, Objects: len(inv.Entries), Status: inv.Status, Version: inv.Version,
		ConfigMap: inventory.Name(inv.Node), ApplySet: inventory.ID(inv.Namespace, inventory.Name(inv.Node)),
		Finalizer: inv.Finalizer, Deleting: inv.Deleting,
	}
	if !inv.RolloutStart.IsZero() {
		d.RolloutUpdateStart = &inv.RolloutStart
	}
	d.Condition, d.Since = conditionOf(inv)
	return d
}

// conditionOf is a node's state in a word or two, and since when it is in that.
func conditionOf(inv *inventory.Inventory) (string, *time.Time) {
	condition, since := status.Condition(inv)
	if since.IsZero() {
		return condition, nil
	}
	return condition, &since
}

// conditionIn is the condition of a type, nil where there is none.
func conditionIn(s inventory.Status, what string) *inventory.Condition {
	i := slices.IndexFunc(s.Conditions, func(c inventory.Condition) bool { return c.Type == what })
	if i < 0 {
		return nil
	}
	return &s.Conditions[i]
}
