package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/handover"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// handoverJob is one run of adopt-operator.
type handoverJob struct {
	clusterRun
	flags     *handoverFlags
	namespace string // of the LynqNodes, "" for all
	named     []string
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
		_, _ = fmt.Fprintln(j.stderr, "not handed over:", err)
	}
	plan, err := j.plan(ctx, o)
	if err != nil {
		return j.untouched(ctx, err)
	}
	if j.flags.exportDir != "" {
		if err := j.export(o); err != nil {
			return j.untouched(ctx, err)
		}
	}
	if len(o.nodes) == 0 && !j.removes(o) {
		return j.nothing(o)
	}
	if j.run.dryRun != "none" {
		return j.try(ctx, o, plan)
	}
	if err := j.refuse(ctx, plan); err != nil {
		return err
	}
	if err := j.agree(ctx, o, plan); err != nil {
		return err
	}
	return j.locked(ctx, o, plan)
}

// untouched is an error before anything was written to the cluster.
func (*handoverJob) untouched(ctx context.Context, err error) error {
	if known := (*exitError)(nil); errors.As(err, &known) {
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
	if j.namespace != "" {
		where, more = "in namespace "+j.namespace, " (-n names another namespace, -A means all)"
	}
	if len(j.flags.hubs)+len(j.flags.forms) > 0 {
		where += " of what --hub and --form name"
	}
	_, _ = fmt.Fprintf(j.stderr, "there is nothing to hand over: no LynqNode %s%s\n", where, more)
	return j.ended(o, nil)
}

// removes tells whether hubs and forms are to go that have no LynqNode any more.
func (j *handoverJob) removes(o *operated) bool {
	return j.flags.removeForms && len(o.hubs)+len(o.forms) > 0
}

// refuse tells what guards have against the plan.
func (j *handoverJob) refuse(ctx context.Context, plan *handover.Plan) error {
	running, err := j.running(ctx)
	if err != nil {
		return j.untouched(ctx, err)
	}
	refusals := slices.Concat(running.Refusals(), plan.Refusals)
	if len(refusals) == 0 {
		return nil
	}
	return j.clusterRun.refuse(refusals)
}

// try shows what would be done, and what speaks against it.
func (j *handoverJob) try(ctx context.Context, o *operated, plan *handover.Plan) error {
	if j.run.dryRun == "server" {
		if err := j.refuse(ctx, plan); err != nil {
			return err
		}
		return j.ended(o, j.carryOut(ctx, plan, nil))
	}
	if len(plan.Nodes) > 0 {
		if err := j.reporter(nil).Plan(plan.Plans(true)); err != nil {
			return failed(err)
		}
	}
	j.tellLeft(plan)
	j.tellRemovals(o)
	if err := j.refuse(ctx, plan); err != nil {
		return err
	}
	if n := plan.Counts()[handover.Failed]; n > 0 {
		return &exitError{code: exitFailed, err: errSaid, summary: count(n, "object") + " cannot be taken over, so that their LynqNodes would stay; nothing was touched"}
	}
	return j.ended(o, nil)
}

// tellLeft tells which objects are left alone.
func (j *handoverJob) tellLeft(plan *handover.Plan) {
	for i := range plan.Nodes {
		for k := range plan.Nodes[i].Objects {
			if o := &plan.Nodes[i].Objects[k]; o.Verdict == handover.Left {
				_, _ = fmt.Fprintf(j.stderr, "left alone: %s of %s: %s\n", o.Full(), plan.Nodes[i].Node, o.Why)
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
		_, _ = fmt.Fprintf(j.stderr, "deleted when its hub has no LynqNode left: %s %s/%s\n", u.GetKind(), u.GetNamespace(), u.GetName())
	}
}

// agree shows what would be done, and asks.
func (j *handoverJob) agree(ctx context.Context, o *operated, plan *handover.Plan) error {
	if j.flags.yes {
		return nil
	}
	stderr := ui.NewStream(j.stderr, j.getenv)
	if ui.CanAsk(j.stdin, stderr) {
		if len(plan.Nodes) > 0 {
			preview := ui.NewReporter(ui.Options{Out: stderr, Err: ui.NewStream(io.Discard, j.getenv), Format: ui.Table, DryRun: true})
			if err := preview.Plan(plan.Plans(true)); err != nil {
				return failed(err)
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
		parts = append(parts, fmt.Sprintf("take %s with %s of %s over from the Lynq operator", count(n, "node"), count(plan.Counts()[handover.Take], "object"), hubsText(placesOf(o))))
	}
	if j.removes(o) {
		parts = append(parts, fmt.Sprintf("delete %s and %s", count(len(o.hubs), "LynqHub"), count(len(o.forms), "LynqForm")))
	}
	text := strings.Join(parts, ", then ") + "?"
	return strings.ToUpper(text[:1]) + text[1:]
}

// hubsText names hubs, or says how many they are.
func hubsText(places []place) string {
	if len(places) == 1 {
		return "hub " + places[0].namespace + "/" + places[0].hub
	}
	return count(len(places), "hub")
}

// placesOf are the hubs of the LynqNodes that are meant.
func placesOf(o *operated) []place {
	var places []place
	for _, n := range o.nodes {
		if p := (place{n.Namespace, n.Hub}); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places
}

// places are all hubs of which the run changes anything.
func (j *handoverJob) places(o *operated) []place {
	places := placesOf(o)
	if !j.removes(o) {
		return places
	}
	for _, u := range slices.Concat(o.hubs, o.forms) {
		p := place{u.GetNamespace(), u.GetName()}
		if u.GetKind() == lynq.KindForm {
			p = hubOf(u)
		}
		if !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places
}

// locked carries out what was agreed on, while no other run has the hubs. What may
// have changed while somebody thought about it is looked at again; each write has the
// object that was seen for a precondition.
func (j *handoverJob) locked(ctx context.Context, o *operated, plan *handover.Plan) error {
	locks, waited, err := j.lock(ctx, j.places(o))
	defer locks.release(ctx)
	if err != nil {
		return err
	}
	if waited || !j.flags.yes {
		if o, plan, err = j.again(locks.ctx, o); err != nil {
			return err
		}
	}
	if j.flags.backupDir != "" {
		if err := j.backup(o, plan); err != nil {
			return j.untouched(ctx, err)
		}
	}
	err = j.carryOut(locks.ctx, plan, placesOf(o))
	if context.Cause(locks.ctx) == nil {
		err = errors.Join(err, j.finish(locks.ctx, o))
	}
	return j.ended(o, err)
}

// again reads and plans anew what was agreed on. What has come since is left out.
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
func (j *handoverJob) carryOut(ctx context.Context, plan *handover.Plan, hubs []place) error {
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
			return failed(fmt.Errorf("record hub %s/%s: %w", p.namespace, p.hub, err))
		}
	}
	ticker := time.NewTicker(ui.Redraw)
	defer ticker.Stop()
	reporter := j.reporter(ticker.C)
	defer func() { _ = reporter.Close() }() // Result has its error
	runner := &handover.Runner{
		Cluster: j.client, Records: j.store, Reporter: reporter, Now: time.Now, Concurrency: j.run.writers,
		DryRun: j.run.dryRun == "server", Began: j.began, Grace: interruptionGrace,
	}
	j.warnings.to(reporter.Report)
	summary, err := runner.Run(ctx, plan)
	j.warnings.to(nil)
	if summary.DryRun {
		err = errors.Join(err, reporter.Plan(plan.Plans(true)))
	} else {
		err = errors.Join(err, reporter.Result(plan.Plans(false)))
	}
	return outcome(ctx, summary, err)
}

// ended adds LynqNodes that nobody understands to how a run ended.
func (j *handoverJob) ended(o *operated, err error) error {
	if err != nil || len(o.problems) == 0 {
		return err
	}
	return &exitError{code: exitFailed, err: errSaid, summary: count(len(o.problems), "LynqNode") + " could not be handed over"}
}
