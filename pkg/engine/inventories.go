package engine

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
	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// InventoryOptions say which inventories are meant, and in which cluster.
type InventoryOptions struct {
	Access  kube.Access
	Timeout time.Duration // 0 is none
	// Namespace of the nodes, "" for all.
	Namespace string
	// Hubs and Forms narrow, as NAME or NAMESPACE/NAME, and Nodes by name; empty is
	// all.
	Hubs, Forms, Nodes []string
	// Selector chooses by the labels of inventories, nil for all.
	Selector labels.Selector
	// IgnoreNotFound: that there is nothing of a name is no error.
	IgnoreNotFound bool
}

// chosen tells whether the options choose a node. Of one without a record the
// form is not known.
func (o *InventoryOptions) chosen(k plan.NodeKey, hub lynq.HubKey, form lynq.FormKey) bool {
	return (o.Namespace == "" || o.Namespace == k.Namespace) && (len(o.Nodes) == 0 || slices.Contains(o.Nodes, k.Name)) &&
		lynq.Names(o.Hubs).Choose(hub.Namespace, hub.Name) && lynq.Names(o.Forms).Choose(form.Namespace, form.Name)
}

// chooses is chosen for a node with an inventory.
func (o *InventoryOptions) chooses(inv *inventory.Inventory) bool {
	return o.chosen(keyOf(inv), plan.HubOf(inv), plan.FormOf(inv))
}

// mayChoose is chosen for a node whose hub and form may not be known: what is
// not known may be what was asked for.
func (o *InventoryOptions) mayChoose(node string, hub lynq.HubKey, form lynq.FormKey) bool {
	return (len(o.Nodes) == 0 || node == "" || slices.Contains(o.Nodes, node)) &&
		(hub.Name == "" || lynq.Names(o.Hubs).Choose(hub.Namespace, hub.Name)) &&
		(form.Name == "" || lynq.Names(o.Forms).Choose(form.Namespace, form.Name))
}

// Inventories are those of a namespace, or of all.
type Inventories struct {
	Chosen []*inventory.Inventory
	// Broken are those that cannot be read, which may be of any hub and form.
	Broken []*inventory.UnreadableError
	// Ignored are warnings about chosen ones that do not count.
	Ignored []string

	others   []*inventory.Inventory
	ignored  plan.Ignored // chosen or not
	counting plan.Counting
}

// read reads the records that the options choose, and all others of their
// namespaces.
func (o *InventoryOptions) read(ctx context.Context, hubs *hubRecords) (*Inventories, error) {
	r, err := o.readAll(ctx, hubs)
	if err != nil {
		return nil, err
	}
	return r, o.unknown(r, nil)
}

// readAll is read for options that may name what has no record.
func (o *InventoryOptions) readAll(ctx context.Context, hubs *hubRecords) (*Inventories, error) {
	all, err := hubs.store.SelectedNodes(ctx, o.Namespace, o.labels())
	broken, err := brokenOnes(err)
	if err != nil {
		return nil, unread(ctx, err)
	}
	r := &Inventories{}
	if r.counting, err = hubs.counting(ctx, all, broken); err != nil {
		return nil, unread(ctx, err)
	}
	all, broken, r.ignored = r.counting.Split(all, broken)
	chosenHubs := o.hubsAmong(all, r.counting)
	r.Broken = slices.DeleteFunc(broken, func(b *inventory.UnreadableError) bool {
		return !o.mayConcern(b) || b.Hub == "" && r.counting.Apart(b.Namespace, chosenHubs)
	})
	for _, inv := range all {
		if o.chooses(inv) {
			r.Chosen = append(r.Chosen, inv)
		} else {
			r.others = append(r.others, inv)
		}
	}
	r.Ignored = o.ignored(&r.ignored)
	return r, nil
}

// hubsAmong are the hubs that --hub chooses, of all namespaces, none where it is not
// said: what does not say its hub is theirs at most where they have nodes.
func (o *InventoryOptions) hubsAmong(inventories []*inventory.Inventory, counting plan.Counting) []lynq.HubKey {
	if o.Namespace != "" || len(o.Hubs) == 0 {
		return nil
	}
	hubs := slices.Collect(maps.Keys(counting))
	for _, inv := range inventories {
		hubs = append(hubs, plan.HubOf(inv))
	}
	return slices.DeleteFunc(hubs, func(hub lynq.HubKey) bool { return !lynq.Names(o.Hubs).Choose(hub.Namespace, hub.Name) })
}

// mayConcern tells whether a record that cannot be read may be one that the options
// choose: as far as its labels can be read, they say of which hub and form it is.
func (o *InventoryOptions) mayConcern(b *inventory.UnreadableError) bool {
	return o.mayChoose(b.Node, plan.HubOfBroken(b), plan.FormOfBroken(b))
}

// ignored warns of the records that the options choose and that do not count.
func (o *InventoryOptions) ignored(all *plan.Ignored) []string {
	var meant plan.Ignored
	for _, inv := range all.Inventories {
		if o.chooses(inv) {
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

// unknown refuses names that no inventory has, and none of the hubs with a record of
// their own. A broken inventory may have any of hub and form.
func (o *InventoryOptions) unknown(r *Inventories, ownRecords []lynq.HubKey) error {
	if o.IgnoreNotFound {
		return nil
	}
	hubs, forms := []string{}, []string{}
	for _, hub := range ownRecords {
		hubs = append(hubs, hub.Name, hub.String())
	}
	for _, inv := range slices.Concat(r.Chosen, r.others) {
		hub, form := plan.HubOf(inv), plan.FormOf(inv)
		hubs, forms = append(hubs, hub.Name, hub.String()), append(forms, form.Name, form.String())
	}
	err := o.unrecorded("node", o.Nodes, r.nodes())
	if len(r.Broken) == 0 {
		err = errors.Join(err, o.unrecorded("hub", o.Hubs, hubs), o.unrecorded("form", o.Forms, forms))
	}
	if err != nil {
		for _, w := range r.Ignored {
			err = fmt.Errorf("%w\n%s", err, w)
		}
		return BadUsage(err)
	}
	return nil
}

// unrecorded are the wanted names that are not among those of records. Names with
// their namespaces are what is hinted at where such a one is wanted.
func (o *InventoryOptions) unrecorded(what string, wanted, names []string) error {
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

// Where names the namespaces that were looked at, and the labels that were looked for.
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

// labels is the selector as the server takes it.
func (o *InventoryOptions) labels() string {
	if o.Selector == nil {
		return ""
	}
	return o.Selector.String()
}

// Warnings name the records that cannot be read.
func (r *Inventories) Warnings() []string {
	warnings := make([]string, len(r.Broken))
	for i, b := range r.Broken {
		warnings[i] = b.Error()
	}
	return warnings
}

// Incomplete is the end of a use case that did what it could.
func (r *Inventories) Incomplete() error {
	if len(r.Broken) == 0 {
		return nil
	}
	return &Error{Outcome: Failed, Err: ErrReported, Summary: lynq.Count(len(r.Broken), "inventory") + " could not be read"}
}

// Inventories reads the inventories that options choose.
func (e *Engine) Inventories(ctx context.Context, o *InventoryOptions) (*Inventories, error) {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.connectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	return o.read(ctx, newHubRecords(store.New(client.ConfigMaps()), o.Namespace))
}
