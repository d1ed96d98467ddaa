package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// VerifyOptions say which inventories are compared with the cluster.
type VerifyOptions struct {
	InventoryOptions
	// RecordedOnly: only what inventories have an entry for is looked at.
	RecordedOnly bool
}

// Verification is what came of comparing inventories with the cluster.
type Verification struct {
	Nodes    int // that were compared, with so many objects
	Objects  int
	Findings []plan.Finding
	// Warnings are what could not be looked at.
	Warnings []string
	// Ignored are warnings about inventories that do not count.
	Ignored []string
}

// Verify compares inventories with the cluster, and changes nothing.
func (e *Engine) Verify(ctx context.Context, o *VerifyOptions) (*Verification, error) {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.connectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	v := &verification{o: o, client: client}
	return &v.Verification, v.look(ctx)
}

// verification is one run of Verify.
type verification struct {
	Verification
	o       *VerifyOptions
	client  *kube.Client
	records *Inventories
}

// look reads all there is, and compares. A run that is under way records what it
// is going to make, so what is tracked is listed before the records are read.
func (v *verification) look(ctx context.Context) error {
	in := &plan.VerifyInput{Broken: map[plan.NodeKey]bool{}, Live: map[lynq.Ref]*plan.Live{}, Misplaced: map[lynq.Ref]*plan.ScopeError{}}
	if !v.o.RecordedOnly {
		found, err := orphan.Tracked(ctx, v.client)
		if err != nil {
			return unread(ctx, err)
		}
		in.Tracked = found.Live
		v.Warnings = append(v.Warnings, found.Warnings()...)
	}
	var err error
	if v.records, err = v.o.read(ctx, newHubRecords(inventory.NewStore(v.client.ConfigMaps()), v.o.Namespace)); err != nil {
		return err
	}
	for _, b := range v.records.Broken {
		in.Broken[plan.NodeKey{Namespace: b.Namespace, Name: b.Node}] = true
	}
	// What has the tracking of a node that does not count is not looked at.
	for _, key := range v.records.ignored.Nodes() {
		in.Broken[key] = true
	}
	v.Warnings, v.Ignored = append(v.Warnings, v.records.Warnings()...), v.records.Ignored
	in.Others = v.records.others
	if err := v.observe(ctx, in); err != nil {
		return err
	}
	recorded := map[plan.NodeKey]*inventory.Inventory{}
	for _, inv := range slices.Concat(v.records.Chosen, v.records.others) {
		recorded[keyOf(inv)] = inv
	}
	for _, f := range plan.Verify(in) {
		if v.tells(&f, recorded[f.NodeKey]) {
			v.Findings = append(v.Findings, f)
		}
	}
	return nil
}

// tells tells whether a finding is about a node that the options choose. What has no
// record says only the name of its hub: that is the one in the node's namespace.
func (v *verification) tells(f *plan.Finding, inv *inventory.Inventory) bool {
	if inv != nil {
		return v.o.chooses(inv)
	}
	return v.o.chosen(f.NodeKey, lynq.HubKey{Namespace: f.Namespace, Name: f.Hub}, lynq.FormKey{})
}

// observe looks at what is recorded, hub by hub. What cannot be looked at does
// not keep other hubs and nodes from being compared.
func (v *verification) observe(ctx context.Context, in *plan.VerifyInput) error {
	hubs := map[lynq.HubKey][]*inventory.Inventory{}
	for _, inv := range v.records.Chosen {
		hubs[plan.HubOf(inv)] = append(hubs[plan.HubOf(inv)], inv)
	}
	for _, hub := range slices.SortedFunc(maps.Keys(hubs), lynq.HubKey.Compare) {
		seen, err := apply.Observe(ctx, v.client, hub.Name, nil, hubs[hub])
		if context.Cause(ctx) != nil {
			return unread(ctx, err)
		}
		if err != nil {
			v.Warnings = append(v.Warnings, fmt.Sprintf("the nodes of hub %q were not compared: %v", hub.Name, err))
			in.Others = append(in.Others, hubs[hub]...)
			continue
		}
		maps.Copy(in.Live, seen.Live)
		maps.Copy(in.Misplaced, seen.Misplaced)
		v.seen(in, hub.Name, hubs[hub], seen)
	}
	return nil
}

// seen sorts out the nodes of a hub of which not all could be looked at, and says
// why, each reason once.
func (v *verification) seen(in *plan.VerifyInput, hub string, inventories []*inventory.Inventory, seen *plan.Observed) {
	unknown := map[string]int{} // nodes, by why they are
	for _, inv := range inventories {
		if err := seen.UnknownOf(inv); err != nil {
			unknown[err.Error()]++
			in.Others = append(in.Others, inv)
			continue
		}
		in.Inventories = append(in.Inventories, inv)
		v.Nodes++
		v.Objects += len(inv.Entries)
	}
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s of hub %q not compared: %s", lynq.Count(unknown[why], "node"), hub, why))
	}
}
