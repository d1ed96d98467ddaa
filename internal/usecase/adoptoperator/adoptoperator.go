package adoptoperator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

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

// Options say what Run takes over from the Lynq operator.
type Options struct {
	session.RunOptions
	Access  kube.Access
	Timeout time.Duration // 0 means no limit
	// Namespace limits the LynqNodes, "" means all namespaces. Nodes are names, empty means
	// all.
	Namespace string
	Nodes     []string
	// Hubs and Forms narrow the run, as NAME or NAMESPACE/NAME. Empty means all.
	Hubs, Forms []string
	// OperatorNamespace is the namespace in which Run looks for the operator, "" for all.
	OperatorNamespace string
	// ExportDir and BackupDir are directories that Run writes first, "" for none.
	ExportDir, BackupDir string
	// RemoveForms deletes LynqHubs and LynqForms once they have no LynqNode left.
	RemoveForms bool
	// NoFinalizer creates inventories without the finalizer.
	NoFinalizer bool
	Yes         bool // don't ask
}

// Run takes live nodes over from the Lynq operator. It returns a *session.Error if the run
// failed or a guard refused it.
func Run(ctx context.Context, e *session.Engine, o *Options) error {
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

// found holds the operator's objects and the plan for them.
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

// look reads the operator's objects, plans, and exports. A client dry run shows the plan
// first, and then the refusals of guards.
func (j *job) look(ctx context.Context) (found, []plan.Refusal, error) {
	o, err := j.read(ctx)
	if err == nil {
		err = j.unknown(o)
	}
	if err == nil && (len(o.nodes) > 0 || j.removes(o)) {
		err = j.run.Engine.MayGoOn(j.o.Mode, j.o.Yes)
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
		return found{}, nil, cmp.Or(j.nothing(ctx, o), session.ErrNothing)
	case j.run.RunOptions.Mode == session.ModeClient:
		return f, nil, nil
	}
	refusals, err := j.refusals(ctx, f.plan)
	return f, refusals, err
}

// untouched marks an error that came before the run wrote anything to the cluster.
func (*job) untouched(ctx context.Context, err error) error {
	if known := (*session.Error)(nil); errors.As(err, &known) {
		return err
	}
	return session.Untouched(ctx, err)
}

// nothing says that no LynqNode exists. A cluster without the kind never had the operator,
// or it is the wrong cluster.
func (j *job) nothing(ctx context.Context, o *operated) error {
	if _, err := j.run.Client.Resource(ctx, wellknown.Group, "", wellknown.KindNode); meta.IsNoMatchError(err) {
		err = errors.New("the cluster has no Lynq operator: it serves no LynqNodes. Choose another cluster with --context")
		return &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing was migrated"}
	}
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

// removes reports whether the run deletes hubs and forms that have no LynqNode left.
func (j *job) removes(o *operated) bool {
	return j.o.RemoveForms && len(o.hubs)+len(o.forms) > 0
}

// refusals returns the reasons why guards refuse the plan.
func (j *job) refusals(ctx context.Context, planned *handover.Plan) ([]plan.Refusal, error) {
	running, err := j.running(ctx)
	if err != nil {
		return nil, j.untouched(ctx, err)
	}
	return slices.Concat(running.Refusals(), planned.Refusals), nil
}

// try shows what the run would do, and which guards would refuse it.
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
	if n := f.plan.Counts()[plan.ActionBlock]; n > 0 {
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: phrase.Count(n, "object") + " can't be taken over, so their LynqNodes would stay; nothing changed"}
	}
	return j.ended(f.operated, nil)
}

// tellLeft names the objects that the run skips.
func (j *job) tellLeft(planned *handover.Plan) {
	for i := range planned.Nodes {
		n := &planned.Nodes[i]
		for k := range n.Objects {
			if o := &n.Objects[k]; o.Step.Action == plan.ActionSkip {
				j.run.Engine.Notef("skipped: %s of %s: %s", o.Full(), n.Node, o.Step.Message)
			}
		}
	}
}

// tellRemovals names the hubs and forms that the run deletes once their LynqNodes are gone.
func (j *job) tellRemovals(o *operated) {
	if !j.removes(o) {
		return
	}
	for _, u := range slices.Concat(o.forms, o.hubs) {
		j.run.Engine.Notef("deleted when its hub has no LynqNode left: %s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName())
	}
}

// agree shows what the run would do, and asks for confirmation.
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

// question asks for confirmation, and says how many objects the run changes.
func (j *job) question(o *operated, planned *handover.Plan) string {
	var parts []string
	if n := len(planned.Nodes); n > 0 {
		parts = append(parts, fmt.Sprintf("take %s with %s of %s over from the Lynq operator", phrase.Count(n, "node"), phrase.Count(planned.Counts()[plan.ActionTrack], "object"), hubsText(hubsOf(o))))
	}
	if j.removes(o) {
		parts = append(parts, fmt.Sprintf("delete %s and %s", phrase.Count(len(o.hubs), "LynqHub"), phrase.Count(len(o.forms), "LynqForm")))
	}
	text := strings.Join(parts, ", then ") + "?"
	return strings.ToUpper(text[:1]) + text[1:]
}

// hubsText names one hub, or counts several.
func hubsText(keys []lynq.HubKey) string {
	if len(keys) == 1 {
		return "hub " + keys[0].String()
	}
	return phrase.Count(len(keys), "hub")
}

// hubsOf returns the hubs of the selected LynqNodes.
func hubsOf(o *operated) []lynq.HubKey {
	var keys []lynq.HubKey
	for _, n := range o.nodes {
		if p := (lynq.HubKey{Namespace: n.Namespace, Name: n.Hub}); !slices.Contains(keys, p) {
			keys = append(keys, p)
		}
	}
	return keys
}

// allHubs returns every hub that the run changes.
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

// change carries out the confirmed plan, while the run holds the Leases of the hubs.
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

// again reads and plans again if the cluster may have changed while a person decided or
// another run had the hubs. Each write has the object that lynqctl saw as a precondition.
// The new plan leaves out LynqNodes that came later.
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

// carryOut hands the nodes over. It records their hubs first, so that the guards of the
// next apply count the nodes.
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
		default: // the run recorded the hubs before this one
			return session.Fail(fmt.Errorf("record hub %s/%s: %w", p.Namespace, p.Name, err))
		}
	}
	j.run.Noted.Recorded = true
	runner := j.run.Runner(apply.Options{})
	runner.Worker = handover.NewWorker(plan)
	return j.run.Reported(ctx, func(reporter report.Reporter) (*report.Result, error) {
		runner.Reporter = reporter
		return j.run.Recording(ctx, func(context.Context) (*report.Result, error) {
			result, err := runner.Run(ctx, plan.Plans())
			if !result.Summary.DryRun {
				handover.ForgetLynqNodes(result) // events told of the LynqNodes before
			}
			return result, err
		})
	})
}

// ended adds the LynqNodes that can't be read to the result of a run.
func (j *job) ended(o *operated, err error) error {
	if err != nil || len(o.problems) == 0 {
		return err
	}
	return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: phrase.Count(len(o.problems), "LynqNode") + " could not be handed over"}
}
