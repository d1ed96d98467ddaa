package planfile

import (
	"cmp"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Freeze returns a file with the changes of plans. ran has the hubs on which plans ran.
func Freeze(k Key, o Origin, plans []plan.Plan, ran map[lynq.HubKey]*Ran) (*File, error) {
	f := &File{APIVersion: APIVersion, Kind: Kind, Origin: o, Plans: []Plan{}}
	for i := range plans {
		part, err := k.part(&plans[i], changedNodes(&plans[i]))
		if err != nil {
			return nil, err
		}
		if part.Ran = ran[plans[i].Hub]; len(part.Nodes) > 0 {
			f.Plans = append(f.Plans, *part)
		}
	}
	slices.SortStableFunc(f.Plans, comparePlans)
	var err error
	f.ID, err = k.seal(f)
	return f, err
}

func comparePlans(a, b Plan) int {
	order := func(p Plan) int {
		if p.Tombstones {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.HubNamespace, b.HubNamespace), cmp.Compare(a.Hub, b.Hub))
}

// part returns the file's part for some nodes of a plan.
func (k Key) part(p *plan.Plan, some map[lynq.NodeKey]bool) (*Plan, error) {
	part := &Plan{HubNamespace: p.Hub.Namespace, Hub: p.Hub.Name, Tombstones: p.After}
	for i := range p.Nodes {
		if !some[p.Nodes[i].Key()] {
			continue
		}
		n, err := k.node(&p.Nodes[i])
		if err != nil {
			return nil, err
		}
		part.Nodes = append(part.Nodes, *n)
	}
	for i := range p.Leaving {
		if l := &p.Leaving[i]; some[l.Key()] {
			part.Nodes = append(part.Nodes, Node{
				Namespace: l.Namespace, Name: l.Name, FormNamespace: l.Form.Namespace, Form: l.Form.Name, Leaving: true,
				GracePeriod: l.Period.String(), Inventory: inventoryVersion(l.Inventory),
			})
		}
	}
	slices.SortFunc(part.Nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return part, nil
}

// changedNodes returns the nodes that a plan changes, and the nodes for which those wait.
func changedNodes(p *plan.Plan) map[lynq.NodeKey]bool {
	nodes := map[lynq.NodeKey]*plan.NodePlan{}
	for i := range p.Nodes {
		nodes[p.Nodes[i].Key()] = &p.Nodes[i]
	}
	some := map[lynq.NodeKey]bool{}
	var add func(lynq.NodeKey)
	add = func(key lynq.NodeKey) {
		if n := nodes[key]; n != nil && !some[key] {
			some[key] = true
			for _, before := range n.After {
				add(before)
			}
		}
	}
	for i := range p.Nodes {
		if changes(&p.Nodes[i]) {
			add(p.Nodes[i].Key())
		}
	}
	for i := range p.Leaving {
		if l := &p.Leaving[i]; !l.IsMarked() {
			some[l.Key()] = true
		}
	}
	return some
}

// inventoryVersion returns the version of an inventory, or nil if it doesn't exist.
func inventoryVersion(inv *inventory.Inventory) *Version {
	if inv == nil || inv.UID == "" {
		return nil
	}
	return &Version{UID: inv.UID, ResourceVersion: inv.ResourceVersion}
}

// changes reports whether a run writes an object or the inventory of a node.
func changes(n *plan.NodePlan) bool {
	switch {
	case n.Desired == nil, n.Replacement != nil:
		return true
	case n.Desired.Failed != nil, n.Unmet != "":
		return false
	case n.Inventory == nil:
		return slices.ContainsFunc(n.Steps, func(s plan.Step) bool { return stepChanges(&s) })
	}
	return slices.ContainsFunc(n.Steps, func(s plan.Step) bool { return stepChanges(&s) }) ||
		n.Renews(n.Inventory, n.Inventory.Finalizer)
}

// stepChanges reports whether a run writes an object or its entry.
func stepChanges(s *plan.Step) bool {
	switch s.Action {
	case plan.ActionSkip, plan.ActionBlock:
		return false
	case plan.ActionKeep:
		return s.Purges() || s.Reason != plan.ReasonLeftOut && s.Object != nil && !s.UpToDate()
	}
	return true
}

func (k Key) node(p *plan.NodePlan) (*Node, error) {
	n := &Node{
		Namespace: p.Namespace, Name: p.Name, FormNamespace: p.Form.Namespace, Form: p.Form.Name,
		Leaves: p.Desired == nil, Inventory: inventoryVersion(p.Inventory),
	}
	for i := range p.Steps {
		s, err := k.step(&p.Steps[i])
		if err != nil {
			return nil, err
		}
		n.Steps = append(n.Steps, *s)
	}
	if err := k.recorded(n, p.Desired); err != nil {
		return nil, err
	}
	slices.SortStableFunc(n.Steps, func(a, b Step) int { return cmp.Compare(a.Ref().Full(), b.Ref().Full()) })
	return n, nil
}

// recorded adds steps that a run only records: the node's deletion hooks and values of its
// row.
func (k Key) recorded(n *Node, wanted *plan.Node) error {
	if wanted == nil {
		return nil
	}
	for i := range wanted.Hooks {
		s, err := k.step(&plan.Step{Action: plan.ActionKeep, Object: &wanted.Hooks[i]})
		if err != nil {
			return err
		}
		n.Steps = append(n.Steps, *s)
	}
	var err error
	n.Row, err = k.of("row", struct {
		Extra   string
		Expires time.Time
	}{wanted.Extra, wanted.Expires.UTC()})
	return err
}

func (k Key) step(p *plan.Step) (*Step, error) {
	s := &Step{Action: p.Action, Reason: p.Reason, RefFields: lynq.RefFields(p.Ref()), ID: p.ID()}
	var err error
	if o := p.Object; o != nil {
		if s.Manifest, err = k.of("manifest", o.Digest); err != nil {
			return nil, err
		}
		if s.Form, err = k.of("form", formOf(o)); err != nil {
			return nil, err
		}
	}
	if p.Live != nil && stepChanges(p) {
		s.Object, err = k.version(p.Live)
	}
	return s, err
}

// said is the part of a form that describes an object, independent of the row.
type said struct {
	Template  string
	Policy    *lynq.Policy
	DependIDs []string
	Exclusion *lynq.Exclusion
}

func formOf(o *plan.Object) said { return said{o.Template, o.Policy, o.DependIDs, o.Exclusion} }

// version returns the version of a live object. Its marks leave out the fields that change
// with each write of a status, because no decision depends on them.
func (k Key) version(l *tracking.Live) (*Version, error) {
	marks := *l
	marks.ResourceVersion, marks.Generation = "", 0
	marks.Last, marks.LastButStatus, marks.Intact = false, false, false
	marks.Change(func(r *tracking.Rare) { r.Ending, r.Asked, r.Updates, r.Ours, r.Others = "", nil, nil, nil, nil })
	v := &Version{UID: string(l.UID), Generation: l.Generation}
	if v.Generation == 0 {
		v.ResourceVersion = l.ResourceVersion
	}
	var err error
	v.Marks, err = k.of("marks", marks)
	return v, err
}
