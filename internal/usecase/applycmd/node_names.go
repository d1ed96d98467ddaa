package applycmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// recordedNames makes nodes keep the names that the cluster has recorded. Only forms with a
// dash in their names ever had other names. A hub without such a form costs no request.
func recordedNames(ctx context.Context, j *Job, hubs []load.HubPrograms) (load.KeptNames, error) {
	type names struct {
		observe.PlainNames
		form lynq.FormKey
	}
	recorded := map[*render.Program]names{}
	for _, h := range hubs {
		if !slices.ContainsFunc(h.Programs, dashed) {
			continue
		}
		plain, err := observe.RecordedNames(ctx, j.Client, h.Key, j.Client.Namespaces())
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		for _, p := range h.Programs {
			recorded[p] = names{plain, load.FormKey(p.Form, h.Key.Namespace)}
		}
	}
	return func(p *render.Program, plain string) bool {
		known := recorded[p]
		return known.Has(lynq.NodeKey{Namespace: p.Namespace, Name: plain}, known.form) || j.Tracked != nil && j.Tracked(p, plain)
	}, nil
}

func dashed(p *render.Program) bool { return naming.Dashed(p.Form.Name) }

// TrackedNames makes nodes keep the names that their objects bear although the inventories
// were lost. It skips forms of the run that could share a name, because objects don't show
// which form they belong to.
func TrackedNames(stranded []orphan.Orphan, hubs []load.HubPrograms) load.KeptNames {
	nodes, applySets := map[lynq.NodeKey]bool{}, map[string]bool{}
	for i := range stranded {
		o := &stranded[i]
		nodes[o.From.Key()] = true
		if o.Live != nil {
			applySets[o.Live.PartOf] = true
		}
	}
	forms := render.FormNames(load.AllPrograms(hubs))
	return func(p *render.Program, plain string) bool {
		tracked := nodes[lynq.NodeKey{Namespace: p.Namespace, Name: plain}] || applySets[inventory.ID(p.Namespace, inventory.Name(plain))]
		return tracked && render.AskedFor(map[string]bool{plain: true}, plain, p.Form.Name, forms)
	}
}

// onlyNodes returns the names of the nodes that --node selects, nil for all. It accepts
// both names that an inventory can have. It adds to found every name by which --node can
// select an inventory.
func onlyNodes(j *Job, inventories []*inventory.Inventory, found map[string]bool) map[string]bool {
	only, forms := maps.Clone(j.Options.Settings.Nodes), render.FormNames(load.AllPrograms(j.Hubs))
	for _, inv := range inventories {
		found[inv.Node.Name] = true
		if other := render.OtherName(inv.Node.UID, inv.Node.Form.Name, inv.Node.Name); render.AskedFor(j.Options.Settings.Nodes, other, inv.Node.Form.Name, forms) {
			only[inv.Node.Name], found[other] = true, true
		}
	}
	return only
}

// mayBeOf reports whether --node selects the node of an orphan. The orphan may date from a
// time when the node had its other name.
func mayBeOf(r *Rendered, o *orphan.Orphan) bool {
	return len(r.Options.Settings.Nodes) == 0 || r.Options.Settings.Nodes[o.From.Name] || slices.ContainsFunc(r.wanted(), func(n *plan.Node) bool {
		return n.Namespace == o.From.Namespace && (n.Name == o.From.Name || render.OtherName(n.UID, n.Form.Name, n.Name) == o.From.Name)
	})
}

// wanted returns the nodes of all hubs.
func (r *Rendered) wanted() []*plan.Node {
	var nodes []*plan.Node
	for _, h := range r.Hubs {
		nodes = append(nodes, r.Nodes[h.Key]...)
	}
	return nodes
}

// oneOfEach refuses names given with --node if several nodes of the plans have the name.
func oneOfEach(asked map[string]bool, plans []plan.Plan) error {
	if asked == nil {
		return nil
	}
	namespaces := map[string][]string{}
	for i := range plans {
		for k := range plans[i].Nodes {
			n := &plans[i].Nodes[k]
			namespaces[n.Name] = append(namespaces[n.Name], n.Namespace)
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		in := slices.Sorted(slices.Values(namespaces[name]))
		if in = slices.Compact(in); len(in) > 1 {
			errs = append(errs, fmt.Errorf("--node: nodes %s are in namespaces %s (pick one with --hub or --form NAMESPACE/NAME)", name, strings.Join(in, ", ")))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing changed"}
	}
	return nil
}
