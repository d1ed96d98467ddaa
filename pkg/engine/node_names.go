package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// keptNames tells which nodes are called as they are recorded; see
// render.Settings.
type keptNames = func(p *render.Program, plain string) bool

// recordedNames has nodes keep the names by which the cluster has recorded them.
// Only forms with a dash in their names have other ones than they always had: a
// hub without such a form costs no request.
func (j *applyJob) recordedNames(ctx context.Context) (keptNames, error) {
	type names struct {
		observe.PlainNames
		form lynq.FormKey
	}
	recorded := map[*render.Program]names{}
	for _, h := range j.hubs {
		if !slices.ContainsFunc(h.Programs, dashed) {
			continue
		}
		plain, err := observe.RecordedNames(ctx, j.client, h.Key)
		if err != nil {
			return nil, untouched(ctx, err)
		}
		for _, p := range h.Programs {
			recorded[p] = names{plain, formKey(p.Form, h.Key.Namespace)}
		}
	}
	return func(p *render.Program, plain string) bool {
		known := recorded[p]
		return known.Has(plan.NodeKey{Namespace: p.Namespace, Name: plain}, known.form) || j.tracked != nil && j.tracked(p, plain)
	}, nil
}

func dashed(p *render.Program) bool { return lynq.Dashed(p.Form.Name) }

// trackedNames has nodes keep the names that objects bear whose inventories were
// lost. Where forms of the run could share a name, objects do not tell of which
// they are.
func trackedNames(stranded []orphan.Orphan, hubs []HubPrograms) keptNames {
	nodes, applySets := map[plan.NodeKey]bool{}, map[string]bool{}
	for i := range stranded {
		o := &stranded[i]
		nodes[plan.NodeKey{Namespace: o.From.Namespace, Name: o.From.Node}] = true
		if o.Live != nil {
			applySets[o.Live.PartOf] = true
		}
	}
	forms := render.FormNames(allPrograms(hubs))
	return func(p *render.Program, plain string) bool {
		tracked := nodes[plan.NodeKey{Namespace: p.Namespace, Name: plain}] || applySets[inventory.ID(p.Namespace, inventory.Name(plain))]
		return tracked && render.AskedFor(map[string]bool{plain: true}, plain, p.Form.Name, forms)
	}
}

// onlyNodes are the names of the nodes that --node means, nil for all: those that
// it says, and that of each inventory which it calls by its other name. All names
// by which the inventories can be called are found.
func (j *applyJob) onlyNodes(inventories []*inventory.Inventory, found map[string]bool) map[string]bool {
	only, forms := maps.Clone(j.o.Settings.Nodes), render.FormNames(allPrograms(j.hubs))
	for _, inv := range inventories {
		found[inv.Node] = true
		if other := render.OtherName(inv.RowUID, inv.Form, inv.Node); render.AskedFor(j.o.Settings.Nodes, other, inv.Form, forms) {
			only[inv.Node], found[other] = true, true
		}
	}
	return only
}

// mayBeOf tells whether --node, where it is said, means the node that an orphan is
// from. One may be from the time when the node had its other name.
func (j *applyJob) mayBeOf(o *orphan.Orphan) bool {
	return len(j.o.Settings.Nodes) == 0 || j.o.Settings.Nodes[o.From.Node] || slices.ContainsFunc(j.wanted(), func(n *plan.Node) bool {
		return n.Namespace == o.From.Namespace && (n.Name == o.From.Node || render.OtherName(n.UID, n.Form, n.Name) == o.From.Node)
	})
}

// wanted are the nodes of all hubs.
func (j *applyJob) wanted() []*plan.Node {
	var nodes []*plan.Node
	for _, h := range j.hubs {
		nodes = append(nodes, j.nodes[h.Key]...)
	}
	return nodes
}

// oneOfEach refuses names given with --node that several nodes of the plans have.
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
			errs = append(errs, fmt.Errorf("--node: nodes %s are in namespaces %s (say which with --hub or --form NAMESPACE/NAME)", name, strings.Join(in, ", ")))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &Error{Outcome: BadInput, Err: err, Summary: "nothing was touched"}
	}
	return nil
}

// unknownNodes refuses names given with --node that nothing has. What could be the
// plain name of nodes of several forms is that of none.
func unknownNodes(missing, forms []string) *Error {
	e := &Error{Outcome: BadInput,
		Err: fmt.Errorf("--node: there is no node %s (a node is an active row and a form, named UID-FORM)", strings.Join(missing, ", ")),
	}
	for _, name := range missing {
		for _, form := range forms {
			uid, fits := strings.CutSuffix(name, "-"+form)
			if fits && lynq.Dashed(form) && !render.AskedFor(map[string]bool{name: true}, name, form, forms) {
				e.Err = fmt.Errorf("%w; row %s with form %s is called %s", e.Err, uid, form, lynq.NodeName(uid, form))
			}
		}
	}
	return e
}
