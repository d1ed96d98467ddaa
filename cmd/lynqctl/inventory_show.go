package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

func (a *app) inventoryShowCommand() *cobra.Command {
	var f inventoryFlags
	cmd := &cobra.Command{
		Use:   "show NODE...|node/NODE...",
		Short: "Show the inventories of nodes",
		Long: `Show the inventory of one node, or of several: how the last run left it, and the
objects that it owns, in the order in which they are applied.

What is shown is what was recorded: no object is looked at.`,
		Example: `  lynqctl inventory show acme-web
  lynqctl inventory show node/acme-web node/bolt-web -n shop -o yaml`,
		Args: someNodes("inventory show", "lynqctl inventory list"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.Nodes, err = nodeNames(args); err != nil {
				return engine.BadUsage(err)
			}
			return a.inventoryShow(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	f.registerIgnore(cmd.Flags())
	return cmd
}

// inventoryShow shows the inventories of the nodes that the flags name. What there is of
// them is shown also where a name is unknown.
func (a *app) inventoryShow(ctx context.Context, f *inventoryFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	inventories, notFound := a.engine("").NamedInventories(ctx, &f.InventoryOptions)
	var all []*ui.Details
	for _, inv := range inventories {
		all = append(all, detailsOf(inv, time.Now()))
	}
	return cmp.Or(f.printDetails(a, all), notFound)
}

func detailsOf(inv *inventory.Inventory, now time.Time) *ui.Details {
	entries := slices.SortedStableFunc(slices.Values(slices.Concat(inv.Entries, inv.Hooks)), func(a, b inventory.Entry) int {
		return cmp.Or(a.Order-b.Order, strings.Compare(a.Key(), b.Key()))
	})
	data := nodeDataOf(inv)
	parts := ui.List{Columns: []ui.Column{
		{Name: "KIND"}, {Name: "NAMESPACE"}, {Name: "NAME", Flexible: true}, {Name: "ID", Flexible: true},
		{Name: "POLICIES"}, {Name: "STATE"},
		{Name: "ADOPTED", Wide: true}, {Name: "DIGEST", Wide: true}, {Name: "UID", Wide: true},
	}}
	for i := range entries {
		r := &entries[i]
		d := resourceDataOf(r)
		data.Resources = append(data.Resources, d)
		parts.Items = append(parts.Items, ui.Item{
			Cells: []string{r.GroupKind(), r.Namespace, r.Name, r.ID, unusual(r), status.Recorded(inv, r), yesNo(r.Adopted), shortDigest(r.Digest), r.UID},
			Name:  r.Full(),
		})
	}
	return &ui.Details{Facts: factsOf(data, now), Parts: parts, Data: data}
}

func factsOf(d *nodeData, now time.Time) []ui.Fact {
	form, condition, message := namespaceText(d.FormNamespace), d.Condition, ""
	if d.TemplateGeneration != 0 {
		form = append(form, fmt.Sprintf("generation %d", d.TemplateGeneration))
	}
	if d.Since != nil {
		condition += ", since " + when(now, d.Since)
	}
	if c := conditionIn(d.Status, inventory.ConditionDegraded); c != nil {
		message = c.Message
	}
	return []ui.Fact{
		{Name: "Node", Text: d.Node},
		{Name: "Namespace", Text: d.Namespace},
		{Name: "Hub", Text: detailed(d.Hub, namespaceText(d.HubNamespace))},
		{Name: "Form", Text: detailed(d.Form, form)},
		{Name: "Row", Text: d.UID},
		{Name: "Condition", Text: condition},
		{Name: "Message", Text: message},
		{Name: "Objects", Text: fmt.Sprintf("%d recorded; %d wanted: %d ready, %d failed, %d skipped, %d conflicted", d.Objects,
			d.Status.Desired, d.Status.Ready, d.Status.Failed, d.Status.Skipped, d.Status.Conflicted)},
		{Name: "Last change", Text: when(now, d.RolloutUpdateStart)},
		{Name: "Record", Text: "ConfigMap " + d.Namespace + "/" + d.ConfigMap},
		{Name: "Finalizer", Text: yesNo(d.Finalizer)},
		{Name: "ApplySet", Text: d.ApplySet},
	}
}

// detailed is a name, and what else is known in parentheses.
func detailed(name string, details []string) string {
	if len(details) == 0 {
		return name
	}
	return name + " (" + strings.Join(details, ", ") + ")"
}

// namespaceText names a namespace, as far as it is known.
func namespaceText(namespace string) []string {
	if namespace == "" {
		return nil
	}
	return []string{"namespace " + namespace}
}

// when is a time, and how long ago that is; "" for never.
func when(now time.Time, t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339) + " (" + ago(now, t) + " ago)"
}

// unusual are the policies that are not the default.
func unusual(r *inventory.Entry) string { return strings.Join(status.PoliciesOf(r).Unusual(), ",") }

func shortDigest(digest string) string {
	const digits = 8
	return digest[:min(len(digest), digits)]
}

// resourceData is one record as JSON and YAML have it, with the names that it has
// in the ConfigMap (docs/inventory.md).
type resourceData struct {
	Key             string              `json:"key"`
	Group           string              `json:"group,omitempty"`
	Kind            string              `json:"kind"`
	Namespace       string              `json:"namespace,omitempty"`
	Name            string              `json:"name"`
	ID              string              `json:"id"`
	APIVersion      string              `json:"apiVersion"`
	UID             string              `json:"uid,omitempty"`
	Digest          string              `json:"digest,omitempty"`
	Template        string              `json:"template,omitempty"`
	Generation      int64               `json:"generation,omitempty"`
	ResourceVersion string              `json:"resourceVersion,omitempty"`
	Fields          string              `json:"fields,omitempty"`
	Written         time.Time           `json:"written,omitzero"`
	Creation        lynq.CreationPolicy `json:"creation"`
	Deletion        lynq.DeletionPolicy `json:"deletion"`
	Conflict        lynq.ConflictPolicy `json:"conflict"`
	Patch           lynq.PatchStrategy  `json:"patch"`
	Order           int                 `json:"order"`
	DeleteOrder     int                 `json:"deleteOrder,omitempty"`
	Phase           inventory.Phase     `json:"phase,omitempty"`
	Ready           bool                `json:"ready"`
	Adopted         bool                `json:"adopted,omitempty"`
	RunOn           lynq.RunOn          `json:"runOn,omitempty"`
}

func resourceDataOf(r *inventory.Entry) resourceData {
	return resourceData{
		Key: r.Key(), Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, ID: r.ID, APIVersion: r.APIVersion,
		UID: r.UID, Digest: r.Digest, Template: r.Template, Generation: r.Generation, ResourceVersion: r.ResourceVersion, Fields: r.Fields, Written: r.Written,
		Creation: r.Creation, Deletion: r.Deletion, Conflict: r.Conflict, Patch: r.Patch, Order: r.Order, Ready: r.Ready, Adopted: r.Adopted,
		DeleteOrder: r.DeleteOrder, Phase: r.Phase, RunOn: r.RunOn,
	}
}
