package adoptoperator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/handover"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Options say what is taken over from the Lynq operator.
type Options struct {
	session.RunOptions
	Access  kube.Access
	Timeout time.Duration // 0 is none
	// Namespace of the LynqNodes, "" for all; Nodes are names, empty for all.
	Namespace string
	Nodes     []string
	// Hubs and Forms narrow, as NAME or NAMESPACE/NAME; empty is all.
	Hubs, Forms []string
	// OperatorNamespace is where the operator is looked for, "" for everywhere.
	OperatorNamespace string
	// ExportDir and BackupDir are directories that are written first, "" for none.
	ExportDir, BackupDir string
	// RemoveForms: LynqHubs and LynqForms are deleted once no LynqNode is left.
	RemoveForms bool
	// NoFinalizer: inventories are made without the finalizer.
	NoFinalizer bool
	Yes         bool // do not ask
}

// Run takes live nodes over from the Lynq operator.
func Run(ctx context.Context, e *session.Engine, o *Options) error {
	if err := e.MayGoOn(o.Mode, o.Yes); err != nil {
		return err
	}
	return e.OnCluster(ctx, &o.Access, o.Timeout, &o.RunOptions, func(ctx context.Context, r session.Run) error {
		j := job{run: r, o: o}
		return j.perform(ctx)
	})
}

// job is one run of adopt-operator.
type job struct {
	run session.Run
	o   *Options
}

// found is what the operator has, and what becomes of it.
type found struct {
	*operated
	plan *handover.Plan
}

func (j *job) perform(ctx context.Context) error {
	return session.Perform(ctx, &j.run, &session.Change[found]{
		Look:  j.look,
		Try:   j.try,
		Ask:   j.agree,
		Hubs:  func(f found) []lynq.HubKey { return j.allHubs(f.operated) },
		Again: j.again,
		Do:    j.change,
	})
}

// look reads what the operator has, plans, and exports. A client dry run shows the plan
// before it tells what guards have against it.
func (j *job) look(ctx context.Context) (found, []plan.Refusal, error) {
	o, err := j.read(ctx)
	if err == nil {
		err = j.unknown(o)
	}
	if err != nil {
		return found{}, nil, j.untouched(ctx, err)
	}
	for _, err := range o.problems {
		j.run.Engine.Notef("not migrated: %v", err)
	}
	f := found{operated: o}
	if f.plan, err = j.plan(ctx, o); err == nil && j.o.ExportDir != "" {
		err = j.export(o)
	}
	switch {
	case err != nil:
		return found{}, nil, j.untouched(ctx, err)
	case len(o.nodes) == 0 && !j.removes(o):
		return found{}, nil, cmp.Or(j.nothing(o), session.ErrNothing)
	case j.run.RunOptions.Mode == session.ModeClient:
		return f, nil, nil
	}
	refusals, err := j.refusals(ctx, f.plan)
	return f, refusals, err
}

// untouched is an error before anything was written to the cluster.
func (*job) untouched(ctx context.Context, err error) error {
	if known := (*session.Error)(nil); errors.As(err, &known) {
		return err
	}
	return session.Untouched(ctx, err)
}

// nothing is that there is no LynqNode.
func (j *job) nothing(o *operated) error {
	if len(o.problems) > 0 {
		return j.ended(o, nil)
	}
	where, more := "in any namespace", ""
	if j.o.Namespace != "" {
		where, more = "in namespace "+j.o.Namespace, " (-n names another namespace, -A means all)"
	}
	if len(j.o.Hubs)+len(j.o.Forms) > 0 {
		where += " of what --hub and --form name"
	}
	j.run.Engine.Notef("nothing to migrate: no LynqNode %s%s", where, more)
	return j.ended(o, nil)
}

// removes tells whether hubs and forms are to go that have no LynqNode any more.
func (j *job) removes(o *operated) bool {
	return j.o.RemoveForms && len(o.hubs)+len(o.forms) > 0
}

// refusals are what guards have against the plan.
func (j *job) refusals(ctx context.Context, planned *handover.Plan) ([]plan.Refusal, error) {
	running, err := j.running(ctx)
	if err != nil {
		return nil, j.untouched(ctx, err)
	}
	return slices.Concat(running.Refusals(), planned.Refusals), nil
}

// try shows what would be done, and what speaks against it.
func (j *job) try(ctx context.Context, f found) error {
	if j.run.RunOptions.Mode == session.ModeServer {
		return j.ended(f.operated, j.carryOut(ctx, f.plan, nil))
	}
	if len(f.plan.Nodes) > 0 {
		if err := j.run.Engine.View.Printer(j.run.RunOptions.Mode).Plan(f.plan.Plans()); err != nil {
			return session.Fail(err)
		}
	}
	j.tellLeft(f.plan)
	j.tellRemovals(f.operated)
	refusals, err := j.refusals(ctx, f.plan)
	if err == nil {
		err = j.run.Refuse(refusals)
	}
	if err != nil {
		return err
	}
	if n := f.plan.Counts()[handover.Failed]; n > 0 {
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: phrase.Count(n, "object") + " can't be taken over, so their LynqNodes would stay; nothing changed"}
	}
	return j.ended(f.operated, nil)
}

// tellLeft tells which objects are left alone.
func (j *job) tellLeft(plan *handover.Plan) {
	for i := range plan.Nodes {
		for k := range plan.Nodes[i].Objects {
			if o := &plan.Nodes[i].Objects[k]; o.Verdict == handover.Left {
				j.run.Engine.Notef("skipped: %s of %s: %s", o.Full(), plan.Nodes[i].Node, o.Why)
			}
		}
	}
}

// tellRemovals tells which hubs and forms go, if all LynqNodes do.
func (j *job) tellRemovals(o *operated) {
	if !j.removes(o) {
		return
	}
	for _, u := range slices.Concat(o.forms, o.hubs) {
		j.run.Engine.Notef("deleted when its hub has no LynqNode left: %s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName())
	}
}

// agree shows what would be done, and asks.
func (j *job) agree(ctx context.Context, f found) (found, error) {
	if j.o.Yes {
		return f, nil
	}
	if j.run.Engine.View.CanAsk() {
		if len(f.plan.Nodes) > 0 {
			if err := j.run.Engine.View.Preview(f.plan.Plans()); err != nil {
				return f, session.Fail(err)
			}
			j.tellLeft(f.plan)
		}
		j.tellRemovals(f.operated)
	}
	return f, j.run.Engine.Confirm(ctx, false, j.question(f.operated, f.plan))
}

// question names what is at stake.
func (j *job) question(o *operated, plan *handover.Plan) string {
	var parts []string
	if n := len(plan.Nodes); n > 0 {
		parts = append(parts, fmt.Sprintf("take %s with %s of %s over from the Lynq operator", phrase.Count(n, "node"), phrase.Count(plan.Counts()[handover.Take], "object"), hubsText(hubsOf(o))))
	}
	if j.removes(o) {
		parts = append(parts, fmt.Sprintf("delete %s and %s", phrase.Count(len(o.hubs), "LynqHub"), phrase.Count(len(o.forms), "LynqForm")))
	}
	text := strings.Join(parts, ", then ") + "?"
	return strings.ToUpper(text[:1]) + text[1:]
}

// hubsText names hubs, or says how many they are.
func hubsText(keys []lynq.HubKey) string {
	if len(keys) == 1 {
		return "hub " + keys[0].String()
	}
	return phrase.Count(len(keys), "hub")
}

// hubsOf are the hubs of the LynqNodes that are meant.
func hubsOf(o *operated) []lynq.HubKey {
	var keys []lynq.HubKey
	for _, n := range o.nodes {
		if p := (lynq.HubKey{Namespace: n.Namespace, Name: n.Hub}); !slices.Contains(keys, p) {
			keys = append(keys, p)
		}
	}
	return keys
}

// allHubs are all hubs of which the run changes anything.
func (j *job) allHubs(o *operated) []lynq.HubKey {
	keys := hubsOf(o)
	if !j.removes(o) {
		return keys
	}
	for _, u := range slices.Concat(o.hubs, o.forms) {
		p := lynq.HubKey{Namespace: u.GetNamespace(), Name: u.GetName()}
		if u.GetKind() == wellknown.KindForm {
			p = hubOf(u)
		}
		if !slices.Contains(keys, p) {
			keys = append(keys, p)
		}
	}
	return keys
}

// change carries out what was agreed on, while no other run has the hubs.
func (j *job) change(ctx context.Context, _ *session.Locks, f found) error {
	if j.o.BackupDir != "" {
		if err := j.backup(f.operated, f.plan); err != nil {
			return j.untouched(ctx, err)
		}
	}
	err := j.carryOut(ctx, f.plan, hubsOf(f.operated))
	if context.Cause(ctx) == nil {
		err = errors.Join(err, j.finish(ctx, f.operated))
	}
	return j.ended(f.operated, err)
}

// again reads and plans again what was agreed on, where it may have changed while a
// person decided or another run had the hubs: each write has the object that was seen for
// a precondition. What has come since is left out.
func (j *job) again(ctx context.Context, locks *session.Locks, agreed found) (found, []plan.Refusal, error) {
	if !locks.Waited() && j.o.Yes {
		return agreed, nil, nil
	}
	now, err := j.read(ctx)
	if err != nil {
		return found{}, nil, j.untouched(ctx, err)
	}
	before := map[string]bool{}
	for _, n := range agreed.nodes {
		before[n.String()] = true
	}
	kept := *now
	kept.nodes, kept.whole = nil, nil
	for i, n := range now.nodes {
		if before[n.String()] {
			kept.nodes, kept.whole = append(kept.nodes, n), append(kept.whole, now.whole[i])
		}
	}
	f := found{operated: &kept}
	if f.plan, err = j.plan(ctx, &kept); err != nil {
		return found{}, nil, j.untouched(ctx, err)
	}
	refusals, err := j.refusals(ctx, f.plan)
	return f, refusals, err
}

// carryOut hands the nodes over. Their hubs are recorded first, so that the guards of
// the next apply count them.
func (j *job) carryOut(ctx context.Context, plan *handover.Plan, hubs []lynq.HubKey) error {
	if len(plan.Nodes) == 0 {
		return nil
	}
	for i, p := range hubs {
		err := j.recordHub(ctx, p, plan)
		switch {
		case err == nil:
		case i == 0:
			return j.untouched(ctx, err)
		default: // those before it are recorded
			return session.Fail(fmt.Errorf("record hub %s/%s: %w", p.Namespace, p.Name, err))
		}
	}
	j.run.Noted.Recorded = true
	runner := j.run.Runner(apply.Options{})
	runner.Worker = handover.NewWorker(plan)
	return j.run.Reported(ctx, func(reporter report.Reporter) (*report.Result, error) {
		runner.Reporter = reporter
		result, err := runner.Run(ctx, plan.Plans())
		if !result.Summary.DryRun {
			handover.ForgetLynqNodes(result) // what was done to them was told as it happened
		}
		j.run.Remember(ctx, result)
		return result, err
	})
}

// ended adds LynqNodes that cannot be read to how a run ended.
func (j *job) ended(o *operated, err error) error {
	if err != nil || len(o.problems) == 0 {
		return err
	}
	return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: phrase.Count(len(o.problems), "LynqNode") + " could not be handed over"}
}
