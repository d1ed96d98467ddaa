package inventorycmd

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// VerifyOptions say which inventories Verify compares with the cluster.
type VerifyOptions struct {
	session.InventoryOptions
	// RecordedOnly checks only objects that inventories list.
	RecordedOnly bool
}

// Verification is the result of comparing inventories with the cluster.
type Verification struct {
	Nodes    int // the number of compared nodes, and of their objects
	Objects  int
	Findings []status.Finding
	// Warnings name what Verify couldn't check.
	Warnings []string
	// Ignored are warnings about inventories that don't count.
	Ignored []string
}

// Ended returns an error if something differs from its inventory, or couldn't be checked.
func (v *Verification) Ended() error {
	switch {
	case len(v.Warnings) > 0:
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: "some could not be checked"}
	case len(v.Findings) > 0:
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported}
	}
	return nil
}

// Verify compares inventories with the cluster, and changes nothing.
func Verify(ctx context.Context, e *session.Engine, o *VerifyOptions) (*Verification, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
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
	records *session.Inventories
}

// look reads everything, and compares. A run in progress records objects before it creates
// them. So look lists the tracked objects before it reads the inventories.
func (v *verification) look(ctx context.Context) error {
	c := session.NewComparison("not compared")
	in := &c.Comparison
	if !v.o.RecordedOnly {
		found, err := orphan.Tracked(ctx, v.client)
		if err != nil {
			return session.Unread(ctx, err)
		}
		in.Tracked = found.Live
		v.Warnings = append(v.Warnings, found.Warnings()...)
	}
	var err error
	if v.records, err = v.o.Read(ctx, session.NewHubRecords(store.New(v.client.ConfigMaps()), v.o.Namespace)); err != nil {
		return err
	}
	v.Warnings, v.Ignored = append(v.Warnings, v.records.Warnings()...), v.records.Ignored
	err = c.Compare(ctx, v.records, func(hub string, inventories []*inventory.Inventory) (*plan.Observed, error) {
		return observe.Nodes(ctx, v.client, hub, nil, inventories)
	})
	if err != nil {
		return err
	}
	v.Warnings = append(v.Warnings, c.Warnings...)
	for _, inv := range in.Inventories {
		v.Nodes++
		v.Objects += len(inv.Entries)
	}
	recorded := map[lynq.NodeKey]*inventory.Inventory{}
	for _, inv := range slices.Concat(v.records.Chosen, v.records.Others) {
		recorded[inv.Node.Key()] = inv
	}
	for _, f := range status.Find(in) {
		if v.tells(&f, recorded[f.Key()]) {
			v.Findings = append(v.Findings, f)
		}
	}
	return nil
}

// tells reports whether a finding is about a node that the options choose. An object
// without an inventory names only its hub, which then is the one in the node's namespace.
func (v *verification) tells(f *status.Finding, inv *inventory.Inventory) bool {
	if inv != nil {
		return v.o.Chooses(inv)
	}
	return v.o.Chosen(f.Key(), lynq.HubKey{Namespace: f.Namespace, Name: f.Hub.Name}, lynq.FormKey{})
}
