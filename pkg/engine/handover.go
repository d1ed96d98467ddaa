package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/handover"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// HandoverOptions say what is taken over from the Lynq operator.
type HandoverOptions struct {
	RunOptions
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

// Handover takes live nodes over from the Lynq operator.
func (e *Engine) Handover(ctx context.Context, o *HandoverOptions) error {
	if err := e.mayGoOn(o.Mode, o.Yes); err != nil {
		return err
	}
	return e.onCluster(ctx, &o.Access, o.Timeout, &o.RunOptions, func(ctx context.Context, r clusterRun) error {
		j := handoverJob{clusterRun: r, o: o}
		return j.perform(ctx)
	})
}

// handoverJob is one run of Handover.
type handoverJob struct {
	clusterRun
	o *HandoverOptions
}

func (j *handoverJob) perform(ctx context.Context) error {
	o, err := j.read(ctx)
	if err == nil {
		err = j.unknown(o)
	}
	if err != nil {
		return j.untouched(ctx, err)
	}
	for _, err := range o.problems {
		j.notef("not handed over: %v", err)
	}
	plan, err := j.plan(ctx, o)
	if err != nil {
		return j.untouched(ctx, err)
	}
	if j.o.ExportDir != "" {
		if err := j.export(o); err != nil {
			return j.untouched(ctx, err)
		}
	}
	if len(o.nodes) == 0 && !j.removes(o) {
		return j.nothing(o)
	}
	if j.run.Mode != ModeRun {
		return j.try(ctx, o, plan)
	}
	if err := j.refuse(ctx, plan); err != nil {
		return err
	}
	if err := j.agree(ctx, o, plan); err != nil {
		return err
	}
	return j.withLocks(ctx, j.allHubs(o), func(locks *locks) error { return j.locked(ctx, locks, o, plan) })
}

// untouched is an error before anything was written to the cluster.
func (*handoverJob) untouched(ctx context.Context, err error) error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return err
	}
	return untouched(ctx, err)
}

// nothing is that there is no LynqNode.
func (j *handoverJob) nothing(o *operated) error {
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
	j.notef("there is nothing to hand over: no LynqNode %s%s", where, more)
	return j.ended(o, nil)
}

// removes tells whether hubs and forms are to go that have no LynqNode any more.
func (j *handoverJob) removes(o *operated) bool {
	return j.o.RemoveForms && len(o.hubs)+len(o.forms) > 0
}

// refuse tells what guards have against the plan.
func (j *handoverJob) refuse(ctx context.Context, plan *handover.Plan) error {
	running, err := j.running(ctx)
	if err != nil {
		return j.untouched(ctx, err)
	}
	return j.clusterRun.refuse(slices.Concat(running.Refusals(), plan.Refusals))
}

// try shows what would be done, and what speaks against it.
func (j *handoverJob) try(ctx context.Context, o *operated, plan *handover.Plan) error {
	if j.run.Mode == ModeServer {
		if err := j.refuse(ctx, plan); err != nil {
			return err
		}
		return j.ended(o, j.carryOut(ctx, plan, nil))
	}
	if len(plan.Nodes) > 0 {
		if err := j.View.Printer(j.run.Mode).Plan(plan.Plans(true)); err != nil {
			return Fail(err)
		}
	}
	j.tellLeft(plan)
	j.tellRemovals(o)
	if err := j.refuse(ctx, plan); err != nil {
		return err
	}
	if n := plan.Counts()[handover.Failed]; n > 0 {
		return &Error{Outcome: Failed, Err: ErrReported, Summary: lynq.Count(n, "object") + " cannot be taken over, so that their LynqNodes would stay; nothing was touched"}
	}
	return j.ended(o, nil)
}

// tellLeft tells which objects are left alone.
func (j *handoverJob) tellLeft(plan *handover.Plan) {
	for i := range plan.Nodes {
		for k := range plan.Nodes[i].Objects {
			if o := &plan.Nodes[i].Objects[k]; o.Verdict == handover.Left {
				j.notef("left alone: %s of %s: %s", o.Full(), plan.Nodes[i].Node, o.Why)
			}
		}
	}
}

// tellRemovals tells which hubs and forms go, if all LynqNodes do.
func (j *handoverJob) tellRemovals(o *operated) {
	if !j.removes(o) {
		return
	}
	for _, u := range slices.Concat(o.forms, o.hubs) {
		j.notef("deleted when its hub has no LynqNode left: %s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName())
	}
}

// agree shows what would be done, and asks.
func (j *handoverJob) agree(ctx context.Context, o *operated, plan *handover.Plan) error {
	if j.o.Yes {
		return nil
	}
	if j.View.CanAsk() {
		if len(plan.Nodes) > 0 {
			if err := j.View.Preview(plan.Plans(true)); err != nil {
				return Fail(err)
			}
			j.tellLeft(plan)
		}
		j.tellRemovals(o)
	}
	return j.confirm(ctx, false, j.question(o, plan))
}

// question names what is at stake.
func (j *handoverJob) question(o *operated, plan *handover.Plan) string {
	var parts []string
	if n := len(plan.Nodes); n > 0 {
		parts = append(parts, fmt.Sprintf("take %s with %s of %s over from the Lynq operator", lynq.Count(n, "node"), lynq.Count(plan.Counts()[handover.Take], "object"), hubsText(hubsOf(o))))
	}
	if j.removes(o) {
		parts = append(parts, fmt.Sprintf("delete %s and %s", lynq.Count(len(o.hubs), "LynqHub"), lynq.Count(len(o.forms), "LynqForm")))
	}
	text := strings.Join(parts, ", then ") + "?"
	return strings.ToUpper(text[:1]) + text[1:]
}

// hubsText names hubs, or says how many they are.
func hubsText(keys []lynq.HubKey) string {
	if len(keys) == 1 {
		return "hub " + keys[0].String()
	}
	return lynq.Count(len(keys), "hub")
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
func (j *handoverJob) allHubs(o *operated) []lynq.HubKey {
	keys := hubsOf(o)
	if !j.removes(o) {
		return keys
	}
	for _, u := range slices.Concat(o.hubs, o.forms) {
		p := lynq.HubKey{Namespace: u.GetNamespace(), Name: u.GetName()}
		if u.GetKind() == lynq.KindForm {
			p = hubOf(u)
		}
		if !slices.Contains(keys, p) {
			keys = append(keys, p)
		}
	}
	return keys
}

// locked carries out what was agreed on, while no other run has the hubs. What may
// have changed while a person decided is looked at again; each write has the
// object that was seen for a precondition.
func (j *handoverJob) locked(ctx context.Context, locks *locks, o *operated, plan *handover.Plan) (err error) {
	if locks.waited || !j.o.Yes {
		if o, plan, err = j.again(locks.ctx, o); err != nil {
			return err
		}
	}
	if j.o.BackupDir != "" {
		if err := j.backup(o, plan); err != nil {
			return j.untouched(ctx, err)
		}
	}
	err = j.carryOut(locks.ctx, plan, hubsOf(o))
	if context.Cause(locks.ctx) == nil {
		err = errors.Join(err, j.finish(locks.ctx, o))
	}
	return j.ended(o, err)
}

// again reads and plans again what was agreed on. What has come since is left out.
func (j *handoverJob) again(ctx context.Context, agreed *operated) (*operated, *handover.Plan, error) {
	now, err := j.read(ctx)
	if err != nil {
		return nil, nil, j.untouched(ctx, err)
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
	plan, err := j.plan(ctx, &kept)
	if err != nil {
		return nil, nil, j.untouched(ctx, err)
	}
	return &kept, plan, j.refuse(ctx, plan)
}

// carryOut hands the nodes over. Their hubs are recorded first, so that the guards of
// the next apply count them.
func (j *handoverJob) carryOut(ctx context.Context, plan *handover.Plan, hubs []lynq.HubKey) error {
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
			return Fail(fmt.Errorf("record hub %s/%s: %w", p.Namespace, p.Name, err))
		}
	}
	runner := j.runner(apply.Options{})
	runner.Worker = handover.NewWorker(plan)
	// What was done to LynqNodes is told as it happens, and is no result.
	return j.reported(ctx, plan.Plans(runner.Options.DryRun), func(reporter apply.Reporter) (*apply.Summary, error) {
		runner.Reporter = reporter
		return runner.Run(ctx, plan.Plans(true))
	})
}

// ended adds LynqNodes that cannot be read to how a run ended.
func (j *handoverJob) ended(o *operated, err error) error {
	if err != nil || len(o.problems) == 0 {
		return err
	}
	return &Error{Outcome: Failed, Err: ErrReported, Summary: lynq.Count(len(o.problems), "LynqNode") + " could not be handed over"}
}
