package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// InventoryOptions select inventories, and the cluster.
type InventoryOptions struct {
	Access  kube.Access
	Timeout time.Duration // 0 means no limit
	// Namespace is the namespace of the nodes, "" for all.
	Namespace string
	// Hubs and Forms narrow by NAME or NAMESPACE/NAME, and Nodes by name. Empty means all.
	Hubs, Forms, Nodes []string
	// Selector selects by the labels of inventories, nil for all.
	Selector labels.Selector
	// IgnoreNotFound accepts names that nothing has.
	IgnoreNotFound bool
}

// Chosen reports whether the options choose a node. The form is empty if the node has no
// inventory.
func (o *InventoryOptions) Chosen(k lynq.NodeKey, hub lynq.HubKey, form lynq.FormKey) bool {
	return (o.Namespace == "" || o.Namespace == k.Namespace) && (len(o.Nodes) == 0 || slices.Contains(o.Nodes, k.Name)) &&
		lynq.Names(o.Hubs).Choose(hub.Namespace, hub.Name) && lynq.Names(o.Forms).Choose(form.Namespace, form.Name)
}

// Chooses works like Chosen, for a node with an inventory.
func (o *InventoryOptions) Chooses(inv *inventory.Inventory) bool {
	return o.Chosen(inv.Node.Key(), inv.Node.Full().Hub, inv.Node.Full().Form)
}

// MayChoose works like Chosen, for a node whose hub and form may be unknown. An unknown
// part matches.
func (o *InventoryOptions) MayChoose(node string, hub lynq.HubKey, form lynq.FormKey) bool {
	return (len(o.Nodes) == 0 || node == "" || slices.Contains(o.Nodes, node)) &&
		(hub.Name == "" || lynq.Names(o.Hubs).Choose(hub.Namespace, hub.Name)) &&
		(form.Name == "" || lynq.Names(o.Forms).Choose(form.Namespace, form.Name))
}

// Inventories holds the inventories of a namespace, or of all.
type Inventories struct {
	Chosen []*inventory.Inventory
	// Broken are unreadable inventories, which may belong to any hub and form.
	Broken []*inventory.UnreadableError
	// Ignored are warnings about chosen inventories that don't count.
	Ignored []string

	Others   []*inventory.Inventory
	ignored  inventory.Ignored // including those that the options don't choose
	counting inventory.Counting
}

// Read reads the inventories that the options choose, and all others of their namespaces.
// It refuses names that no inventory has.
func (o *InventoryOptions) Read(ctx context.Context, hubs *HubRecords) (*Inventories, error) {
	r, err := o.ReadAll(ctx, hubs)
	if err != nil {
		return nil, err
	}
	return r, o.Unknown(r, nil)
}

// ReadAll works like Read, but accepts names without an inventory.
func (o *InventoryOptions) ReadAll(ctx context.Context, hubs *HubRecords) (*Inventories, error) {
	all, err := hubs.Store.SelectedNodes(ctx, o.Namespace, o.labels())
	broken, err := BrokenOnes(err)
	if err != nil {
		return nil, Unread(ctx, err)
	}
	r := &Inventories{}
	if r.counting, err = hubs.Counting(ctx, all, broken); err != nil {
		return nil, Unread(ctx, err)
	}
	all, broken, r.ignored = r.counting.Split(all, broken)
	chosenHubs := o.hubsAmong(all, r.counting)
	r.Broken = slices.DeleteFunc(broken, func(b *inventory.UnreadableError) bool {
		return !o.mayConcern(b) || b.Node.Hub.Name == "" && r.counting.Apart(b.Node.Namespace, chosenHubs)
	})
	for _, inv := range all {
		if o.Chooses(inv) {
			r.Chosen = append(r.Chosen, inv)
		} else {
			r.Others = append(r.Others, inv)
		}
	}
	r.Ignored = o.ignored(&r.ignored)
	return r, nil
}

// hubsAmong returns the hubs in all namespaces that --hub chooses, or none without --hub.
// An inventory without a hub can only belong to hubs with nodes in its namespace.
func (o *InventoryOptions) hubsAmong(inventories []*inventory.Inventory, counting inventory.Counting) []lynq.HubKey {
	if o.Namespace != "" || len(o.Hubs) == 0 {
		return nil
	}
	hubs := slices.Collect(maps.Keys(counting))
	for _, inv := range inventories {
		hubs = append(hubs, inv.Node.Full().Hub)
	}
	return slices.DeleteFunc(hubs, func(hub lynq.HubKey) bool { return !lynq.Names(o.Hubs).Choose(hub.Namespace, hub.Name) })
}

// mayConcern reports whether the options may choose an unreadable inventory. Its readable
// labels show the hub and form.
func (o *InventoryOptions) mayConcern(b *inventory.UnreadableError) bool {
	return o.MayChoose(b.Node.Name, b.Node.Full().Hub, b.Node.Full().Form)
}

// ignored warns of chosen inventories that don't count.
func (o *InventoryOptions) ignored(all *inventory.Ignored) []string {
	var meant inventory.Ignored
	for _, inv := range all.Inventories {
		if o.Chooses(inv) {
			meant.Inventories = append(meant.Inventories, inv)
		}
	}
	for _, b := range all.Broken {
		if o.mayConcern(b) {
			meant.Broken = append(meant.Broken, b)
		}
	}
	return meant.Warnings()
}

// Unknown refuses names that neither an inventory nor one of ownRecords has. A broken
// inventory may belong to any hub and form.
func (o *InventoryOptions) Unknown(r *Inventories, ownRecords []lynq.HubKey) error {
	if o.IgnoreNotFound {
		return nil
	}
	hubs, forms := []string{}, []string{}
	for _, hub := range ownRecords {
		hubs = append(hubs, hub.Name, hub.String())
	}
	for _, inv := range slices.Concat(r.Chosen, r.Others) {
		hub, form := inv.Node.Full().Hub, inv.Node.Full().Form
		hubs, forms = append(hubs, hub.Name, hub.String()), append(forms, form.Name, form.String())
	}
	err := o.Unrecorded("node", o.Nodes, r.Nodes())
	if len(r.Broken) == 0 {
		err = errors.Join(err, o.Unrecorded("hub", o.Hubs, hubs), o.Unrecorded("form", o.Forms, forms))
	}
	if err != nil {
		for _, w := range r.Ignored {
			err = fmt.Errorf("%w\n%s", err, w)
		}
		return BadUsage(err)
	}
	return nil
}

// Unrecorded returns an error for wanted names that names lacks. It suggests names with
// namespaces if the wanted one has a namespace.
func (o *InventoryOptions) Unrecorded(what string, wanted, names []string) error {
	slices.Sort(names)
	names = slices.Compact(names)
	var errs []error
	for _, w := range wanted {
		if slices.Contains(names, w) {
			continue
		}
		near := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(name, "/") != strings.Contains(w, "/") })
		var hints []string
		if fix := suggest.Fix(w, near); fix != "" {
			hints = append(hints, fix)
		}
		if o.Namespace != "" {
			hints = append(hints, "-n names another namespace")
		}
		hint := ""
		if len(hints) > 0 {
			hint = " (" + strings.Join(hints, "; ") + ")"
		}
		errs = append(errs, fmt.Errorf("no inventory of %s %q in %s%s", what, w, o.Where(), hint))
	}
	return errors.Join(errs...)
}

// Where names the searched namespaces and labels.
func (o *InventoryOptions) Where() string {
	where := "any namespace"
	if o.Namespace != "" {
		where = fmt.Sprintf("namespace %q", o.Namespace)
	}
	if o.Selector != nil {
		where += " with the labels " + o.labels()
	}
	return where
}

// labels returns the selector as the server expects it.
func (o *InventoryOptions) labels() string {
	if o.Selector == nil {
		return ""
	}
	return o.Selector.String()
}

// Warnings name the unreadable inventories.
func (r *Inventories) Warnings() []string {
	warnings := make([]string, len(r.Broken))
	for i, b := range r.Broken {
		warnings[i] = b.Error()
	}
	return warnings
}

// Incomplete returns an error if some inventories can't be read.
func (r *Inventories) Incomplete() error {
	if len(r.Broken) == 0 {
		return nil
	}
	return &Error{Outcome: Failed, Err: ErrReported, Summary: phrase.Count(len(r.Broken), "inventory") + " can't be read"}
}

// Nodes returns the names of nodes that have an inventory, readable or not.
func (r *Inventories) Nodes() []string {
	var nodes []string
	for _, inv := range slices.Concat(r.Chosen, r.Others) {
		nodes = append(nodes, inv.Node.Name)
	}
	for _, b := range r.Broken {
		nodes = append(nodes, b.Node.Name)
	}
	return nodes
}
