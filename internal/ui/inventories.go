package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// Inventories lists nodes with their last recorded state.
func (v *NodeView) Inventories(chosen []*inventory.Inventory, warnings []string, now time.Time) *list.List {
	l := &list.List{
		Title: "inventory list", At: now,
		Columns: []list.Column{
			{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "HUB", Flexible: true}, {Name: "FORM", Flexible: true},
			{Name: "OBJECTS"}, {Name: "READY"}, {Name: "STATUS"}, {Name: "LAST CHANGE"},
			{Name: "UID", Wide: true}, {Name: hubNamespace, Wide: true}, {Name: "GENERATION", Wide: true},
			{Name: "LAST ROLLOUT", Wide: true}, {Name: "FINALIZER", Wide: true}, {Name: "APPLYSET", Wide: true},
		},
		Empty:    "No nodes found in " + v.Where,
		Warnings: warnings,
	}
	called := newShortNames()
	for _, inv := range chosen {
		called.seeNode(&inv.Node)
	}
	for _, inv := range chosen {
		if condition, _ := status.Condition(inv); !v.FailedOnly || condition != status.Ready {
			l.Items = append(l.Items, inventoryItem(inv, called, now))
		}
	}
	if v.FailedOnly && len(chosen) > 0 {
		l.Empty = allReady(len(chosen), "recorded as ready")
	}
	return l
}

// hubNamespace is the column for the namespace of a node's hub.
const hubNamespace = "HUB-NAMESPACE"

func inventoryItem(inv *inventory.Inventory, called shortNames, now time.Time) list.Item {
	d := inventoryDataOf(inv)
	generation := ""
	if inv.TemplateGeneration != 0 {
		generation = strconv.FormatInt(inv.TemplateGeneration, 10)
	}
	return list.Item{
		Cells: []string{
			inv.Node.Namespace, inv.Node.Name, called.hub(inv.Node.Full().Hub), called.form(inv.Node.Full().Form),
			strconv.Itoa(d.Objects), ofTotal(inv.Status.Ready, inv.Status.Desired), markSuspended(Shown(d.Condition), d.Suspended, now), ago(now, d.Since),
			inv.Node.UID, inv.Node.Hub.Namespace, generation,
			ago(now, d.RolloutUpdateStart), yesNo(inv.Finalizer), d.ApplySet,
		},
		Name: inv.Node.Name,
		Data: d,
	}
}

// inventoryData is an inventory in JSON and YAML (docs/inventory.md).
type inventoryData struct {
	rowFields
	TemplateGeneration int64            `json:"templateGeneration,omitempty"`
	RolloutUpdateStart time.Time        `json:"rolloutUpdateStart,omitzero"`
	Condition          string           `json:"condition"`
	Since              time.Time        `json:"since,omitzero"`
	Objects            int              `json:"objects"`
	Status             inventory.Status `json:"status"`
	Version            string           `json:"version,omitempty"`
	ConfigMap          string           `json:"configMap"`
	ApplySet           string           `json:"applySet"`
	Finalizer          bool             `json:"finalizer"`
	Deleting           bool             `json:"deleting"`
	// Suspended is zero for most nodes. It may have ended.
	Suspended inventory.Suspension `json:"suspended,omitzero"`
	Resources []resourceData       `json:"resources,omitempty"`
}

// inventoryDataOf omits the row's recorded values, which may be passwords.
func inventoryDataOf(inv *inventory.Inventory) *inventoryData {
	d := &inventoryData{
		rowFields:          rowFieldsOf(inv.Node),
		TemplateGeneration: inv.TemplateGeneration, RolloutUpdateStart: inv.RolloutStart, Objects: len(inv.Entries), Status: inv.Status, Version: inv.Version,
		ConfigMap: inventory.Name(inv.Node.Name), ApplySet: inventory.ID(inv.Node.Namespace, inventory.Name(inv.Node.Name)),
		Finalizer: inv.Finalizer, Deleting: inv.Deleting,
	}
	d.Condition, d.Since = status.Condition(inv)
	d.Suspended = status.Of(inv).Suspended
	return d
}

// conditionIn returns the condition of a type, or nil.
func conditionIn(s inventory.Status, what string) *inventory.Condition {
	i := slices.IndexFunc(s.Conditions, func(c inventory.Condition) bool { return c.Type == what })
	if i < 0 {
		return nil
	}
	return &s.Conditions[i]
}

// InventoryDetails shows an inventory, with its objects in apply order.
func InventoryDetails(inv *inventory.Inventory, now time.Time) *list.Details {
	entries := slices.SortedStableFunc(slices.Values(slices.Concat(inv.Entries, inv.Hooks)), func(a, b inventory.Entry) int {
		return cmp.Or(a.Order-b.Order, strings.Compare(a.Key(), b.Key()))
	})
	data := inventoryDataOf(inv)
	parts := list.List{Title: "inventory show", At: now, Columns: []list.Column{
		{Name: "KIND"}, {Name: "NAMESPACE"}, {Name: "NAME", Flexible: true}, {Name: "ID", Flexible: true},
		{Name: "POLICIES"}, {Name: "STATUS"},
		{Name: "ADOPTED", Wide: true}, {Name: "DIGEST", Wide: true}, {Name: "UID", Wide: true},
	}}
	for i := range entries {
		r := &entries[i]
		d := resourceDataOf(r)
		data.Resources = append(data.Resources, d)
		parts.Items = append(parts.Items, list.Item{
			Cells: []string{r.GroupKind(), r.Namespace, r.Name, r.ID, unusual(r), Shown(status.Recorded(inv, r)), yesNo(r.Adopted), shortDigest(r.Digest), r.UID},
			Name:  r.Full(),
		})
	}
	return &list.Details{Facts: factsOf(data, now), Parts: parts, Data: data}
}

func factsOf(d *inventoryData, now time.Time) []list.Fact {
	form, condition, message := namespaceText(d.FormNamespace), Shown(d.Condition), ""
	if d.TemplateGeneration != 0 {
		form = append(form, fmt.Sprintf("generation %d", d.TemplateGeneration))
	}
	if !d.Since.IsZero() {
		condition += ", since " + when(now, d.Since)
	}
	if c := conditionIn(d.Status, inventory.ConditionDegraded); c != nil {
		message = c.Message
	}
	return []list.Fact{
		{Name: "Node", Text: d.Node},
		{Name: "Namespace", Text: d.Namespace},
		{Name: "Hub", Text: detailed(d.Hub, namespaceText(d.HubNamespace))},
		{Name: "Form", Text: detailed(d.Form, form)},
		{Name: "Row", Text: d.UID},
		{Name: "Status", Text: condition},
		{Name: "Message", Text: message},
		{Name: "Suspended", Text: strings.TrimPrefix(suspendedText(d.Suspended, now), "suspended ")},
		{Name: "Objects", Text: fmt.Sprintf("%d recorded; %d wanted: %d ready, %d failed, %d skipped, %d conflicted", d.Objects,
			d.Status.Desired, d.Status.Ready, d.Status.Failed, d.Status.Skipped, d.Status.Conflicted)},
		{Name: "Last rollout", Text: when(now, d.RolloutUpdateStart)},
		{Name: "Record", Text: "ConfigMap " + d.Namespace + "/" + d.ConfigMap},
		{Name: "Finalizer", Text: yesNo(d.Finalizer)},
		{Name: "ApplySet", Text: d.ApplySet},
	}
}

// unusual lists the policies that differ from the defaults.
func unusual(r *inventory.Entry) string { return strings.Join(r.Unusual(), ",") }

func shortDigest(digest string) string {
	const digits = 8
	return digest[:min(len(digest), digits)]
}

// resourceData is one entry in JSON and YAML: the object's name, and everything that the
// ConfigMap has of it (docs/inventory.md).
type resourceData struct {
	Key string `json:"key"`
	lynq.RefFields
	ID string `json:"id"`
	*inventory.Entry
	Order int  `json:"order"` // even if it is 0
	Ready bool `json:"ready"` // even if it is false
}

func resourceDataOf(r *inventory.Entry) resourceData {
	return resourceData{
		Key: r.Key(), RefFields: lynq.RefFields(r.Ref), ID: r.ID,
		Entry: r, Order: r.Order, Ready: r.Ready,
	}
}
