package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// RemoveOptions are those of the use cases that let nodes go.
type RemoveOptions struct {
	RunOptions
	Access  kube.Access
	Timeout time.Duration // 0 is none
	Yes     bool          // do not ask
	// Inputs are the hubs and forms that hooks are checked against; without paths only
	// what is recorded of hooks is known.
	Inputs RenderOptions
}

// DeleteOptions say what is deleted.
type DeleteOptions struct {
	RemoveOptions
	Targets []Target
	// IgnoreNotFound: targets that are not there are no error.
	IgnoreNotFound bool
	Cascade        plan.Cascade
}

// Target is what is deleted by its name.
type Target struct {
	What, Name string // "node", "form" or "hub", and its name
	Namespace  string // "" for all, of a form
	// Hub is that of a form, as NAME or NAMESPACE/NAME; "" for any.
	Hub string
}

// TargetOf is what is meant by a name, beside a namespace of -n and a hub of --hub. That of
// a hub may say its namespace, as -n does.
func TargetOf(access *kube.Access, what, name, namespace, hub string) (Target, error) {
	t := Target{What: what, Name: name, Namespace: namespace}
	if strings.Count(name, "/") > 1 || what == "node" && strings.Contains(name, "/") {
		return t, BadUsage(fmt.Errorf("%q is no name of a %s (a hub or form is NAME or NAMESPACE/NAME, a node NODE with -n NAMESPACE)", name, what))
	}
	var err error
	switch what {
	case "form": // its nodes may be anywhere
		t.Hub = hub
	case "hub":
		var key lynq.HubKey
		key, err = HubMeant(access, namespace, name)
		t.Namespace, t.Name = key.Namespace, key.Name
	default:
		t.Namespace, err = NamespaceMeant(access, namespace, false)
	}
	return t, err
}

// Delete lets nodes go: by name, all of a form, or all of a hub with the hub's record.
func (e *Engine) Delete(ctx context.Context, o *DeleteOptions) error {
	wanted := removal{targets: o.Targets, ignoreMissing: o.IgnoreNotFound}
	return e.remove(ctx, &o.RemoveOptions, &wanted, o.Cascade, nil)
}

// remove lets nodes go.
func (e *Engine) remove(ctx context.Context, o *RemoveOptions, wanted selection, cascade plan.Cascade, giveUp map[lynq.Ref]bool) error {
	declared, err := e.declaredHooks(ctx, o)
	if err != nil {
		return err
	}
	return e.onCluster(ctx, &o.Access, o.Timeout, &o.RunOptions, func(ctx context.Context, r clusterRun) error {
		j := removalJob{clusterRun: r, o: o, wanted: wanted, cascade: cascade, giveUp: giveUp, declared: declared}
		return j.perform(ctx)
	})
}

// removalJob lets nodes go whose inventories say what they own.
type removalJob struct {
	clusterRun
	o       *RemoveOptions
	wanted  selection
	cascade plan.Cascade
	giveUp  map[lynq.Ref]bool // named objects whose cleanup is not tried
	seen    *records          // as they were read last
	// declared are the hooks of the forms of the inputs, by hub.
	declared map[lynq.HubKey][]plan.FormHooks
}

func (j *removalJob) perform(ctx context.Context) error {
	hubs, err := j.choose(ctx)
	if err != nil {
		return err
	}
	if len(hubs) == 0 {
		j.notef("%v", j.wanted.nothing())
		return nil
	}
	plans, err := j.planAll(ctx, hubs)
	if err != nil {
		return err
	}
	if err := j.refused(plans); err != nil {
		return err
	}
	switch j.run.Mode {
	case ModeClient:
		return j.showPlans(plans)
	case ModeServer:
		return j.runPlans(ctx, plans, apply.Options{}, nil)
	}
	if err := j.agree(ctx, hubs, plans); err != nil {
		return err
	}
	j.cleaning = true
	keys := keysOf(hubs)
	return j.withLocks(ctx, keys, func(locks *locks) error { return j.locked(locks, keys, hubs) })
}

func keysOf(hubs []*leavingHub) []lynq.HubKey {
	keys := make([]lynq.HubKey, len(hubs))
	for i, h := range hubs {
		keys[i] = h.HubKey
	}
	return keys
}

// agree shows what would happen, and asks.
func (j *removalJob) agree(ctx context.Context, hubs []*leavingHub, plans []plan.Plan) error {
	if j.o.Yes {
		return nil
	}
	if j.View.CanAsk() {
		if err := j.View.Preview(plans); err != nil {
			return Fail(err)
		}
	}
	question := j.wanted.question(countNodes(hubs)) + ", with " + stake(plans) + "?"
	names := j.wanted.typed()
	if len(names) == 0 {
		return j.confirm(ctx, false, question)
	}
	for _, name := range names {
		if err := j.confirmName(ctx, question, name); err != nil {
			return err
		}
	}
	return nil
}

// stake is what goes and what stays, in words.
func stake(plans []plan.Plan) string {
	counts, adopted := map[plan.Action]int{}, map[plan.Action]int{}
	for i := range plans {
		for action, n := range plans[i].Counts {
			counts[action] += n
			adopted[action] += plans[i].Adopted[action]
		}
	}
	deleted := lynq.Count(counts[plan.ActionDelete]+counts[plan.ActionCollect], "object") + " to delete"
	if n := adopted[plan.ActionDelete] + adopted[plan.ActionCollect]; n > 0 {
		deleted += fmt.Sprintf(" (%d adopted)", n)
	}
	parts := []string{deleted}
	switch n := counts[plan.ActionRecreate]; {
	case n > 0 && counts[plan.ActionDelete]+counts[plan.ActionCollect] == 0:
		parts[0] = lynq.Count(n, "object") + " to recreate"
	case n > 0:
		parts = append(parts, lynq.Count(n, "object")+" to recreate")
	}
	if n := counts[plan.ActionOrphan]; n > 0 {
		parts = append(parts, lynq.Count(n, "object")+" to leave behind as orphans")
	}
	if n := counts[plan.ActionRelease]; n > 0 {
		parts = append(parts, lynq.Count(n, "object")+" to release")
	}
	return strings.Join(parts, ", ")
}

// locked carries out what was agreed on, while no other run has the hubs.
func (j *removalJob) locked(locks *locks, keys []lynq.HubKey, agreed []*leavingHub) error {
	hubs, err := j.choose(locks.ctx)
	for _, p := range keys {
		if j.seen.gone(p) {
			locks.discard(p) // another run was faster
		}
	}
	if err != nil {
		return err
	}
	hubs = narrowTo(agreed, hubs)
	plans, err := j.planAll(locks.ctx, hubs)
	if err != nil {
		return err
	}
	if err := j.refused(plans); err != nil {
		return err
	}
	if moreThan(agreed, hubs) {
		j.notef("another run has made nodes of the hub in the meantime")
		if err := j.agree(locks.ctx, hubs, plans); err != nil {
			return err
		}
	}
	return j.runPlans(locks.ctx, plans, apply.Options{}, func(ctx context.Context, s *apply.Summary) error {
		if s.Interrupted {
			return nil
		}
		return j.removeHubs(ctx, hubs, locks)
	})
}

// countNodes is how many nodes go.
func countNodes(hubs []*leavingHub) int {
	n := 0
	for _, h := range hubs {
		n += len(h.nodes)
	}
	return n
}

// moreThan tells whether a node goes now that was not agreed on, however many do.
func moreThan(agreed, now []*leavingHub) bool {
	before := map[plan.NodeKey]bool{}
	for _, h := range agreed {
		maps.Copy(before, h.nodes)
	}
	return slices.ContainsFunc(now, func(h *leavingHub) bool {
		for k := range h.nodes {
			if !before[k] {
				return true
			}
		}
		return false
	})
}

// narrowTo leaves out what has come since it was agreed on what goes, but for nodes
// of a hub that goes whole.
func narrowTo(agreed, now []*leavingHub) []*leavingHub {
	before := leavingHubs{}
	for _, h := range agreed {
		before.hub(h.HubKey).nodes = h.nodes
	}
	var narrowed []*leavingHub
	for _, h := range now {
		then := before.at[h.HubKey]
		if then == nil {
			continue
		}
		for k := range h.nodes {
			if !then.nodes[k] && h.record == nil {
				delete(h.nodes, k)
			}
		}
		narrowed = append(narrowed, h)
	}
	return narrowed
}

// choose reads the records and finds what goes.
func (j *removalJob) choose(ctx context.Context) ([]*leavingHub, error) {
	all := &records{}
	j.seen = nil
	var err error
	if all.nodes, err = j.store.AllNodes(ctx, ""); err != nil {
		if all.broken, err = brokenOnes(err); err != nil {
			return nil, untouched(ctx, err)
		}
	}
	if all.hubs, err = j.store.Hubs(ctx, ""); err != nil {
		more, err := brokenOnes(err)
		if err != nil {
			return nil, untouched(ctx, err)
		}
		all.broken = append(all.broken, more...)
	}
	j.seen = all
	hubs, err := j.wanted.choose(all)
	for _, w := range j.wanted.warnings() {
		j.warnOnce(w)
	}
	if err != nil {
		return nil, &Error{Outcome: BadInput, Err: err, Summary: "nothing was touched"}
	}
	for _, h := range hubs {
		h.unrecorded = !all.recorded(h.HubKey)
	}
	return hubs, nil
}

// brokenOnes are the records that could not be read, where that is all that went
// wrong.
func brokenOnes(err error) ([]*inventory.UnreadableError, error) {
	var broken *inventory.BrokenError
	if errors.As(err, &broken) {
		return broken.Inventories, nil
	}
	return nil, err
}

func (j *removalJob) planAll(ctx context.Context, hubs []*leavingHub) ([]plan.Plan, error) {
	_, looked := j.countingRequests(j.warnings, "looking at the cluster")
	defer looked()
	var plans []plan.Plan
	for _, h := range hubs {
		p, err := j.plan(ctx, h)
		if err != nil {
			return nil, untouched(ctx, err)
		}
		plans = append(plans, *p)
	}
	return plans, nil
}

// plan looks at what the nodes of a hub own, and decides.
func (j *removalJob) plan(ctx context.Context, h *leavingHub) (*plan.Plan, error) {
	in := &plan.Input{Hub: h.Name, HubNamespace: h.Namespace, Delete: h.nodes, Cascade: j.cascade, Broken: map[plan.NodeKey]error{}, Hooks: j.declared[h.HubKey]}
	operator, err := apply.OperatorNodes(ctx, j.client, h.Name)
	if err != nil {
		return nil, err
	}
	var namespaces []string
	for key := range h.nodes {
		namespaces = append(namespaces, key.Namespace)
	}
	record := j.seen.hubRecord(h.HubKey)
	if record != nil {
		in.NamespaceDefaults = record.NamespaceDefaults
	}
	known, err := j.recorded(ctx, h.HubKey, record, namespaces)
	if err != nil {
		return nil, err
	}
	in.Inventories, in.OperatorNodes = known.inventories, known.within(operator)
	for key, err := range known.broken {
		if h.nodes[key] {
			in.Broken[key] = err
		}
	}
	var leaving []*inventory.Inventory
	for _, inv := range in.Inventories {
		if h.nodes[keyOf(inv)] {
			leaving = append(leaving, inv)
		}
	}
	seen, giveUp, err := j.observe(ctx, h.Name, leaving)
	if err != nil {
		return nil, fmt.Errorf("hub %q: %w", h.Name, err)
	}
	in.See(seen)
	in.GiveUp = giveUp
	return plan.Decide(in, plan.Limits{AllowEmpty: true}), nil
}

// observe looks at what the nodes own. What a person gave up on is looked at by
// itself: that this fails may be the very reason.
func (j *removalJob) observe(ctx context.Context, hub string, leaving []*inventory.Inventory) (seen *plan.Observed, giveUp map[lynq.Ref]error, err error) {
	giveUp = map[lynq.Ref]error{}
	var apart []inventory.Entry
	rest := make([]*inventory.Inventory, 0, len(leaving))
	for _, inv := range leaving {
		inv = inv.Clone()
		named := func(r inventory.Entry) bool {
			if !j.giveUp[r.Ref] {
				return false
			}
			if giveUp[r.Ref] = nil; !r.Hook() || r.Phase != "" {
				apart = append(apart, r)
			}
			return true
		}
		inv.Entries, inv.Hooks = slices.DeleteFunc(inv.Entries, named), slices.DeleteFunc(inv.Hooks, named)
		rest = append(rest, inv)
	}
	if seen, err = observe.Nodes(ctx, j.client, hub, nil, rest); err != nil {
		return nil, nil, err
	}
	for i := range apart {
		l, err := observe.Entry(ctx, j.client, &apart[i])
		if l != nil {
			seen.Live[l.Ref] = l
		}
		giveUp[apart[i].Ref] = err
	}
	return seen, giveUp, nil
}

// removeHubs removes what is left of hubs that have no node any more: their
// records and their Leases.
func (j *removalJob) removeHubs(ctx context.Context, hubs []*leavingHub, ls *locks) error {
	var errs []error
	for _, h := range hubs {
		if h.record == nil && !h.unrecorded {
			continue
		}
		left, err := j.left(ctx, h.HubKey)
		switch {
		case err != nil:
			errs = append(errs, err)
		case left > 0 && h.record != nil:
			errs = append(errs, fmt.Errorf("the record of hub %s/%s stays: it has %s left", h.Namespace, h.Name, lynq.Count(left, "node")))
		case left == 0:
			ls.discard(h.HubKey)
			if h.record != nil {
				permit, err := plan.PermitHub(h.record, left)
				if err == nil {
					err = j.store.RemoveHub(ctx, h.record, permit)
				}
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// left is how many nodes a hub has, with those whose records cannot be read.
func (j *removalJob) left(ctx context.Context, hub lynq.HubKey) (int, error) {
	var all records
	var err error
	if all.nodes, err = j.store.Nodes(ctx, hub); err != nil {
		if all.broken, err = brokenOnes(err); err != nil {
			return 0, err
		}
	}
	left := 0
	all.hubs = j.seen.hubs
	for _, m := range all.counting() {
		if m.of == hub {
			left++
		}
	}
	return left, nil
}
