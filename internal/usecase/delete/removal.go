package delete

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// RemoveOptions are the options of all use cases that delete nodes.
type RemoveOptions struct {
	Run     session.RunOptions
	Access  kube.Access
	Timeout time.Duration // 0 means no limit
	Yes     bool          // don't ask
	// Declared are the hubs and forms that Remove checks hooks against. Without paths, only
	// inventories show the hooks.
	Declared load.RenderOptions
}

// Options say what Run deletes.
type Options struct {
	RemoveOptions
	Targets []Target
	// IgnoreNotFound accepts targets that don't exist.
	IgnoreNotFound bool
	Cascade        plan.Cascade
}

// Target names something to delete.
type Target struct {
	What, Name string // "node", "form" or "hub", and its name
	Namespace  string // "" means all, for a form
	// Hub is the hub of a form, as NAME or NAMESPACE/NAME, "" for any.
	Hub string
}

// TargetOf returns the target that a name selects, with the namespace of -n and the hub of
// --hub. The name of a hub may contain its namespace, which then replaces -n.
func TargetOf(access *kube.Access, what, name, namespace, hub string) (Target, error) {
	t := Target{What: what, Name: name, Namespace: namespace}
	if strings.Count(name, "/") > 1 || what == "node" && strings.Contains(name, "/") {
		return t, session.BadUsage(fmt.Errorf("%q is not a valid name of a %s (a hub or form is NAME or NAMESPACE/NAME, a node NODE with -n NAMESPACE)", name, what))
	}
	var err error
	switch what {
	case "form": // its nodes may be in any namespace
		t.Hub = hub
	case "hub":
		var key lynq.HubKey
		key, err = session.HubMeant(access, namespace, name)
		t.Namespace, t.Name = key.Namespace, key.Name
	default:
		t.Namespace, err = session.NamespaceMeant(access, namespace, false)
	}
	return t, err
}

// Run deletes nodes: single ones, all of a form, or all of a hub with its hub record. It
// returns a *session.Error if the run failed or a guard refused it.
func Run(ctx context.Context, e *session.Engine, o *Options) error {
	wanted := removal{targets: o.Targets, ignoreMissing: o.IgnoreNotFound}
	return Remove(ctx, e, &o.RemoveOptions, &wanted, o.Cascade, nil)
}

// Remove deletes the nodes and hubs that a Selection chooses. It skips the cleanup of the
// objects in giveUp.
func Remove(ctx context.Context, e *session.Engine, o *RemoveOptions, wanted Selection, cascade plan.Cascade, giveUp map[lynq.Ref]bool) error {
	declared, err := declaredHooks(ctx, e, o)
	if err != nil {
		return err
	}
	return e.OnCluster(ctx, &o.Access, o.Timeout, &o.Run, func(ctx context.Context, r session.Run) error {
		j := removalJob{Run: r, o: o, wanted: wanted, cascade: cascade, giveUp: giveUp, declared: declared, dead: map[lynq.HubKey]string{}}
		return j.perform(ctx)
	})
}

// removalJob deletes nodes with the objects that their inventories list.
type removalJob struct {
	session.Run
	o       *RemoveOptions
	wanted  Selection
	cascade plan.Cascade
	giveUp  map[lynq.Ref]bool // named objects that the run doesn't clean up
	seen    *Records          // the last read
	// declared are the hooks of the inputs' forms, by hub.
	declared map[lynq.HubKey][]decide.FormHooks
	// dead are the identities of watches that didn't come back to their hubs.
	dead map[lynq.HubKey]string
}

// removalPlan holds the hubs whose nodes the run deletes, and the plans for that.
type removalPlan struct {
	hubs  []*LeavingHub
	plans []plan.Plan
}

// command is the command that carries out the plans of this package.
const command = "delete"

// namespaces returns the namespaces of the hubs.
func (d *removalPlan) namespaces() []string {
	var namespaces []string
	for _, h := range d.hubs {
		namespaces = append(namespaces, h.Namespace)
	}
	return namespaces
}

func (j *removalJob) perform(ctx context.Context) error {
	return session.Perform(ctx, &j.Run, &session.Change[*removalPlan]{
		Look: j.look,
		Try: func(ctx context.Context, d *removalPlan) error {
			return j.TryPlans(ctx, command, d.namespaces(), d.plans)
		},
		Ask:   j.agree,
		Hubs:  func(d *removalPlan) []lynq.HubKey { j.Cleaning = true; return keysOf(d.hubs) },
		Again: j.again,
		More:  j.more,
		Do:    j.carryOut,
	})
}

// look finds the nodes to delete, and plans. It refuses hubs that a watch keeps.
func (j *removalJob) look(ctx context.Context) (*removalPlan, []plan.Refusal, error) {
	if refusals, err := j.CheckPlan(ctx, command); err != nil || len(refusals) > 0 {
		return nil, refusals, err
	}
	if j.NothingPlanned() {
		return nil, nil, session.ErrNothing
	}
	hubs, err := j.choose(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(hubs) == 0 {
		j.Engine.Notef("%v", j.wanted.Nothing())
		return nil, nil, session.ErrNothing
	}
	if watched := j.watched(ctx, hubs); len(watched) > 0 {
		return nil, watched, nil
	}
	return j.planAll(ctx, hubs)
}

func keysOf(hubs []*LeavingHub) []lynq.HubKey {
	keys := make([]lynq.HubKey, len(hubs))
	for i, h := range hubs {
		keys[i] = h.HubKey
	}
	return keys
}

// agree shows the plan and asks for confirmation.
func (j *removalJob) agree(ctx context.Context, d *removalPlan) (*removalPlan, error) {
	if j.o.Yes || j.RunOptions.Plan != nil {
		return d, nil
	}
	if j.Engine.View.CanAsk() {
		if err := j.Engine.View.Preview(d.plans); err != nil {
			return nil, session.Fail(err)
		}
	}
	question := j.wanted.Question(countNodes(d.hubs)) + ", with " + session.DeletionSummary(d.plans) + "?"
	names := j.wanted.Typed()
	if len(names) == 0 {
		return d, j.Engine.Confirm(ctx, false, question)
	}
	for _, name := range names {
		if err := j.Engine.ConfirmName(ctx, question, name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// again finds the confirmed nodes once more, while no other run has the hubs.
func (j *removalJob) again(ctx context.Context, locks *session.Locks, agreed *removalPlan) (*removalPlan, []plan.Refusal, error) {
	hubs, err := j.choose(ctx)
	for _, h := range agreed.hubs {
		if j.seen.gone(h.HubKey) {
			locks.Discard(h.HubKey) // another run was faster
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if watched := j.yielded(locks, hubs); len(watched) > 0 {
		return nil, watched, nil
	}
	return j.planAll(ctx, narrowTo(agreed.hubs, hubs))
}

// more reports whether the run would delete a node that nobody confirmed.
func (j *removalJob) more(agreed, now *removalPlan) bool {
	if !moreThan(agreed.hubs, now.hubs) {
		return false
	}
	j.Engine.Notef("another run created nodes of the hub meanwhile")
	return true
}

// carryOut deletes the nodes, and the hubs that have none left.
func (j *removalJob) carryOut(ctx context.Context, locks *session.Locks, d *removalPlan) error {
	j.Noted.Without = map[lynq.HubKey]bool{}
	for _, h := range d.hubs {
		j.Noted.Without[h.HubKey] = h.unrecorded
	}
	return j.RunPlans(ctx, d.plans, apply.Options{}, func(ctx context.Context, s *report.Summary) error {
		if s.Interrupted {
			return nil
		}
		return j.removeHubs(ctx, d.hubs, locks)
	})
}

// countNodes counts the nodes to delete.
func countNodes(hubs []*LeavingHub) int {
	n := 0
	for _, h := range hubs {
		n += len(h.Nodes)
	}
	return n
}

// moreThan reports whether now contains a node that agreed lacks, whatever their numbers.
func moreThan(agreed, now []*LeavingHub) bool {
	before := map[lynq.NodeKey]bool{}
	for _, h := range agreed {
		maps.Copy(before, h.Nodes)
	}
	return slices.ContainsFunc(now, func(h *LeavingHub) bool {
		for k := range h.Nodes {
			if !before[k] {
				return true
			}
		}
		return false
	})
}

// narrowTo drops nodes that came after the confirmation. It keeps new nodes of a hub that
// the run deletes as a whole.
func narrowTo(agreed, now []*LeavingHub) []*LeavingHub {
	before := LeavingHubs{}
	for _, h := range agreed {
		before.Hub(h.HubKey).Nodes = h.Nodes
	}
	var narrowed []*LeavingHub
	for _, h := range now {
		then := before.At[h.HubKey]
		if then == nil {
			continue
		}
		for k := range h.Nodes {
			if !then.Nodes[k] && h.Record == nil {
				delete(h.Nodes, k)
			}
		}
		narrowed = append(narrowed, h)
	}
	return narrowed
}

// choose reads the records and finds the nodes to delete.
func (j *removalJob) choose(ctx context.Context) ([]*LeavingHub, error) {
	all := &Records{}
	j.seen = nil
	var err error
	if all.Nodes, err = j.Store.AllNodes(ctx, ""); err != nil {
		if all.Broken, err = session.BrokenOnes(err); err != nil {
			return nil, session.Untouched(ctx, err)
		}
	}
	if all.Hubs, err = j.Store.Hubs(ctx, ""); err != nil {
		more, err := session.BrokenOnes(err)
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		all.Broken = append(all.Broken, more...)
	}
	j.seen = all
	hubs, err := j.wanted.Choose(all)
	for _, w := range j.wanted.Warnings() {
		j.WarnOnce(w)
	}
	if err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing changed"}
	}
	for _, h := range hubs {
		h.unrecorded = !all.recorded(h.HubKey)
		if err := session.Covered(j.Client.Namespaces(), h.HubKey, all.hubRecord(h.HubKey), nil, "nothing changed"); err != nil {
			return nil, err
		}
	}
	return hubs, nil
}

func (j *removalJob) planAll(ctx context.Context, hubs []*LeavingHub) (*removalPlan, []plan.Refusal, error) {
	_, looked := j.Engine.CountingRequests(j.Warnings, "reading the cluster")
	defer looked()
	if refusals := notChosen(j.RunOptions.Plan, j.seen, hubs); len(refusals) > 0 {
		return nil, refusals, nil
	}
	var plans []plan.Plan
	for _, h := range hubs {
		if f := j.RunOptions.Plan; f != nil {
			planned := f.Nodes(h.HubKey, false)
			maps.DeleteFunc(h.Nodes, func(k lynq.NodeKey, _ bool) bool { return !planned[k] })
		}
		p, err := j.plan(ctx, h)
		if err != nil {
			return nil, nil, session.Untouched(ctx, err)
		}
		plans = append(plans, *p)
	}
	refusals := session.Refusals(plans)
	if len(refusals) == 0 {
		var err error
		if plans, refusals, err = j.Reviewed(ctx, command, plans, nil); err != nil {
			return nil, nil, err
		}
	}
	return &removalPlan{hubs, plans}, refusals, nil
}

// notChosen refuses a plan file for nodes that exist and that the command doesn't delete.
// It is a pure function.
func notChosen(f *planfile.File, all *Records, hubs []*LeavingHub) []plan.Refusal {
	if f == nil {
		return nil
	}
	chosen, planned := map[lynq.HubKey]map[lynq.NodeKey]bool{}, map[lynq.HubKey]map[lynq.NodeKey]bool{}
	for _, h := range hubs {
		chosen[h.HubKey] = h.Nodes
	}
	for i := range f.Plans {
		hub := f.Plans[i].Key()
		planned[hub] = f.Nodes(hub, false)
	}
	names := map[lynq.HubKey][]string{}
	for _, m := range all.Members() {
		if planned[m.Of][m.NodeKey] && !chosen[m.Of][m.NodeKey] {
			names[m.Of] = append(names[m.Of], m.String())
		}
	}
	var refusals []plan.Refusal
	for _, hub := range slices.SortedFunc(maps.Keys(names), lynq.HubKey.Compare) {
		slices.Sort(names[hub])
		what := "node "
		if len(names[hub]) > 1 {
			what = "nodes "
		}
		refusals = append(refusals, plan.Refusal{
			Guard: plan.GuardPlan, Hub: hub, What: "the plan deletes " + what + phrase.Some(names[hub]) + ", and this command doesn't",
			Fix: "pass the names that the plan is for, or make a new plan",
		})
	}
	return refusals
}

// plan reads the objects of a hub's nodes, and decides.
func (j *removalJob) plan(ctx context.Context, h *LeavingHub) (*plan.Plan, error) {
	in := &decide.Input{Hub: h.HubKey, Scope: decide.Scope{Delete: h.Nodes}, Options: decide.Options{Cascade: j.cascade}, Recorded: decide.Recorded{Broken: map[lynq.NodeKey]error{}}, Desired: decide.Desired{Hooks: j.declared[h.HubKey]}}
	operator, err := observe.OperatorNodes(ctx, j.Client, h.Name, j.Client.Namespaces())
	if err != nil {
		return nil, err
	}
	var namespaces []string
	for key := range h.Nodes {
		namespaces = append(namespaces, key.Namespace)
	}
	record := j.seen.hubRecord(h.HubKey)
	if record != nil {
		in.Desired.NamespaceDefaults = record.NamespaceDefaults
	}
	known, err := j.Recorded(ctx, h.HubKey, record, namespaces)
	if err != nil {
		return nil, err
	}
	in.Recorded.Inventories, in.Recorded.OperatorNodes = known.Inventories, known.Within(operator)
	for key, err := range known.Broken {
		if h.Nodes[key] {
			in.Recorded.Broken[key] = err
		}
	}
	var leaving []*inventory.Inventory
	for _, inv := range in.Recorded.Inventories {
		if h.Nodes[inv.Node.Key()] {
			leaving = append(leaving, inv)
		}
	}
	seen, giveUp, err := j.observe(ctx, h.Name, leaving)
	if err != nil {
		return nil, fmt.Errorf("hub %q: %w", h.Name, err)
	}
	in.Observed = *seen
	in.Options.GiveUp = giveUp
	p := decide.Decide(in, decide.Limits{AllowEmpty: true})
	copies, err := observe.Copies(ctx, j.Client, h.Name, p.LeavingInventories())
	if err != nil {
		return nil, fmt.Errorf("hub %q: %w", h.Name, err)
	}
	again := in.Observed.Add(copies)
	if refs := decide.OtherNames(p); len(refs) > 0 {
		if in.Beside, err = observe.OtherNames(ctx, j.Client, refs); err != nil {
			return nil, fmt.Errorf("hub %q: %w", h.Name, err)
		}
		again = true
	}
	if again {
		p = decide.Decide(in, decide.Limits{AllowEmpty: true})
	}
	return p, nil
}

// observe reads the objects of the nodes. It reads given-up objects one by one, because the
// user may have given them up since reading fails.
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
	if seen, err = observe.Nodes(ctx, j.Client, hub, nil, rest); err != nil {
		return nil, nil, err
	}
	for i := range apart {
		l, err := observe.Entry(ctx, j.Client, &apart[i])
		if l != nil {
			seen.Live[l.Ref] = l
		}
		giveUp[apart[i].Ref] = err
	}
	return seen, giveUp, nil
}

// removeHubs deletes the hub records and Leases of hubs that have no node left.
func (j *removalJob) removeHubs(ctx context.Context, hubs []*LeavingHub, ls *session.Locks) error {
	var errs []error
	for _, h := range hubs {
		if h.Record == nil && !h.unrecorded {
			continue
		}
		left, err := j.left(ctx, h.HubKey)
		switch {
		case err != nil:
			errs = append(errs, err)
		case left > 0 && h.Record != nil:
			errs = append(errs, fmt.Errorf("lynqctl keeps the record of hub %s/%s: it still has %s", h.Namespace, h.Name, phrase.Count(left, "node")))
		case left == 0:
			ls.Discard(h.HubKey)
			errs = append(errs, j.removeHub(ctx, h, left))
		}
	}
	return errors.Join(errs...)
}

// removeHub deletes the records of a hub, the history first. If that fails, the hub record
// stays, so that the next run finds both.
func (j *removalJob) removeHub(ctx context.Context, h *LeavingHub, left int) error {
	err := j.Store.RemoveHistory(ctx, h.HubKey, func(uid types.UID) (decide.Permit, error) {
		return decide.PermitHistory(h.HubKey, left, uid)
	})
	if err != nil {
		return err
	}
	j.Noted.Without[h.HubKey] = true
	if h.Record == nil {
		return nil
	}
	permit, err := decide.PermitHub(h.Record, left)
	if err != nil {
		return err
	}
	return j.Store.RemoveHub(ctx, h.Record, permit)
}

// left counts the nodes of a hub, including those whose inventories can't be read.
func (j *removalJob) left(ctx context.Context, hub lynq.HubKey) (int, error) {
	var all Records
	var err error
	if all.Nodes, err = j.Store.Nodes(ctx, hub); err != nil {
		if all.Broken, err = session.BrokenOnes(err); err != nil {
			return 0, err
		}
	}
	left := 0
	all.Hubs = j.seen.Hubs
	for _, m := range all.counting() {
		if m.Of == hub {
			left++
		}
	}
	return left, nil
}
