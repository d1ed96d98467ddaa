package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// verifyFlags are the flags of inventory verify.
type verifyFlags struct {
	recordFlags
	recordedOnly bool
}

func (a *app) inventoryVerifyCommand() *cobra.Command {
	var f verifyFlags
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
			f.nodes = append(f.nodes, args...)
			return a.inventoryVerify(cmd.Context(), &f)
		},
	}
	f.register(cmd)
	f.registerChoice(cmd)
	cmd.Flags().BoolVar(&f.recordedOnly, "recorded-only", false, "look only at what is recorded")
	return cmd
}

func (a *app) inventoryVerify(ctx context.Context, f *verifyFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	client, err := a.connectToLook(&f.access)
	if err != nil {
		return err
	}
	v := &verification{flags: f, client: client}
	if err := v.look(ctx); err != nil {
		return err
	}
	return v.report(a)
}

// verification is one run of inventory verify.
type verification struct {
	flags    *verifyFlags
	client   *kube.Client
	records  *recorded
	nodes    int // that were compared, with so many objects
	objects  int
	findings []apply.Finding
	// warnings are what could not be looked at.
	warnings []string
	// ignored are warnings about records that do not count.
	ignored []string
}

// look reads all there is, and compares. A run that is under way records what it
// is going to make, so what is tracked is listed before the records are read.
func (v *verification) look(ctx context.Context) error {
	in := &apply.VerifyInput{Broken: map[apply.NodeKey]bool{}, Live: map[lynq.Ref]*apply.Live{}, Misplaced: map[lynq.Ref]*apply.ScopeError{}}
	if !v.flags.recordedOnly {
		found, err := orphan.Tracked(ctx, v.client)
		if err != nil {
			return unread(ctx, err)
		}
		in.Tracked = found.Live
		v.warnings = append(v.warnings, found.Warnings()...)
	}
	var err error
	if v.records, err = v.flags.read(ctx, newHubRecords(inventory.NewStore(v.client.ConfigMaps()), v.flags.namespace)); err != nil {
		return err
	}
	for _, b := range v.records.broken {
		in.Broken[apply.NodeKey{Namespace: b.Namespace, Name: b.Node}] = true
	}
	// What has the tracking of a node that does not count is nobody's business.
	for _, key := range v.records.ignored.Nodes() {
		in.Broken[key] = true
	}
	v.warnings, v.ignored = append(v.warnings, v.records.warnings()...), v.flags.ignored(&v.records.ignored)
	in.Others = v.records.others
	if err := v.observe(ctx, in); err != nil {
		return err
	}
	recorded := map[apply.NodeKey]*inventory.Inventory{}
	for _, inv := range slices.Concat(v.records.chosen, v.records.others) {
		recorded[keyOf(inv)] = inv
	}
	for _, f := range apply.Verify(in) {
		if v.tells(&f, recorded[f.NodeKey]) {
			v.findings = append(v.findings, f)
		}
	}
	return nil
}

// tells tells whether a finding is about a node that the flags choose. What has no
// record says only the name of its hub: that is the one in the node's namespace.
func (v *verification) tells(f *apply.Finding, inv *inventory.Inventory) bool {
	if inv != nil {
		return v.flags.chooses(inv)
	}
	return v.flags.chosen(f.NodeKey, lynq.HubKey{Namespace: f.Namespace, Name: f.Hub}, lynq.FormKey{})
}

// observe looks at what is recorded, hub by hub. What cannot be looked at does
// not keep other hubs and nodes from being compared.
func (v *verification) observe(ctx context.Context, in *apply.VerifyInput) error {
	hubs := map[lynq.HubKey][]*inventory.Inventory{}
	for _, inv := range v.records.chosen {
		hubs[apply.HubOf(inv)] = append(hubs[apply.HubOf(inv)], inv)
	}
	for _, hub := range slices.SortedFunc(maps.Keys(hubs), compareHubs) {
		seen, err := apply.Observe(ctx, v.client, hub.Name, nil, hubs[hub])
		if context.Cause(ctx) != nil {
			return unread(ctx, err)
		}
		if err != nil {
			v.warnings = append(v.warnings, fmt.Sprintf("the nodes of hub %q were not compared: %v", hub.Name, err))
			in.Others = append(in.Others, hubs[hub]...)
			continue
		}
		maps.Copy(in.Live, seen.Live)
		maps.Copy(in.Misplaced, seen.Misplaced)
		v.seen(in, hub.Name, hubs[hub], seen)
	}
	return nil
}

func compareHubs(a, b lynq.HubKey) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// seen sorts out the nodes of a hub of which not all could be looked at, and says
// why, each reason once.
func (v *verification) seen(in *apply.VerifyInput, hub string, inventories []*inventory.Inventory, seen *apply.Observed) {
	unknown := map[string]int{} // nodes, by why they are
	for _, inv := range inventories {
		if err := seen.UnknownOf(inv); err != nil {
			unknown[err.Error()]++
			in.Others = append(in.Others, inv)
			continue
		}
		in.Inventories = append(in.Inventories, inv)
		v.nodes++
		v.objects += len(inv.Records)
	}
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		v.warnings = append(v.warnings, fmt.Sprintf("%s of hub %q not compared: %s", count(unknown[why], "node"), hub, why))
	}
}

// report tells what was found.
func (v *verification) report(a *app) error {
	l := &ui.List{
		Columns: []ui.Column{
			{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "OBJECT", Flexible: true}, {Name: "FINDING"},
			{Name: "HUB", Wide: true}, {Name: "FORM", Wide: true}, {Name: "ID", Wide: true}, {Name: "MESSAGE", Wrapped: true},
		},
		Empty: v.summary(), Warnings: slices.Concat(v.warnings, v.ignored),
	}
	for i := range v.findings {
		l.Items = append(l.Items, findingItem(&v.findings[i]))
	}
	if err := v.flags.printList(a, l); err != nil {
		return err
	}
	if len(l.Items) > 0 || v.flags.output == string(ui.JSON) || v.flags.output == string(ui.YAML) {
		_, _ = fmt.Fprintln(a.stderr, v.summary())
	}
	switch {
	case len(v.warnings) > 0:
		return &exitError{code: exitFailed, err: errSaid, summary: "not all could be looked at"}
	case len(v.findings) > 0:
		return &exitError{code: exitFailed, err: errSaid}
	}
	return nil
}

// summary is the result in a line.
func (v *verification) summary() string {
	compared := count(v.nodes, "node") + ", " + count(v.objects, "object") + ": "
	switch {
	case len(v.findings) > 0:
		return compared + v.counts()
	case v.nodes > 0:
		return compared + "all as recorded"
	case len(v.warnings) > 0:
		return "nothing was compared"
	}
	return "No nodes are recorded in " + v.flags.where()
}

// counts are how many findings of each type there are.
func (v *verification) counts() string {
	counts := map[apply.FindingType]int{}
	for i := range v.findings {
		counts[v.findings[i].Type]++
	}
	var parts []string
	for _, t := range apply.FindingTypes() {
		if counts[t] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[t], t))
		}
	}
	return strings.Join(parts, ", ")
}

// findingData is a finding as JSON and YAML have it (docs/inventory.md).
type findingData struct {
	Node            string            `json:"node"`
	Namespace       string            `json:"namespace"`
	Hub             string            `json:"hub"`
	Form            string            `json:"form,omitempty"`
	Finding         apply.FindingType `json:"finding"`
	Group           string            `json:"group,omitempty"`
	Kind            string            `json:"kind"`
	ObjectNamespace string            `json:"objectNamespace,omitempty"`
	Name            string            `json:"name"`
	ID              string            `json:"id,omitempty"`
	Message         string            `json:"message"`
	Fix             string            `json:"fix"`
}

func findingItem(f *apply.Finding) ui.Item {
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
