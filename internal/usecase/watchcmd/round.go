package watchcmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// round plans and applies one hub, or several hubs between which objects move.
type round struct {
	parts []*part
	began time.Time
	// concern selects the nodes to plan, nil for all.
	concern *decide.Concern
	// job is what look planned. plans are what the round makes of its plans.
	job   *applycmd.Planned
	plans []plan.Plan
	// unsurveyed is set if the round doesn't know what the other hubs render. whole is set
	// if it planned all nodes.
	unsurveyed, whole bool
}

// part is a hub in a round.
type part struct {
	*hubWatch
	term *term
	in   *hubInputs
	rows *hubRows
	// objects has the changed objects. all means that any object may have changed.
	objects map[lynq.Ref]bool
	all     bool
	due     map[lynq.NodeKey]bool
	// troubles are those at the start of the round.
	troubles []inventory.Trouble
	held     *inventory.HeldDeletions
	// approved is set if a person approved the held deletions.
	approved bool
	// ended has the nodes that failed, nil if unknown.
	ended map[lynq.NodeKey]report.Outcome
}

// round applies the nodes that changed or are due. It applies the whole hub if its time has
// come, or if nobody knows what changed. If objects move between hubs, it applies those
// hubs together, as a whole. The caller has the hub's turn.
func (h *hubWatch) round(ctx context.Context, t *term) error {
	r := h.alone(t)
	if r == nil {
		return nil
	}
	defer func() { r.settleSurvey() }()
	if err := r.look(ctx); err != nil {
		return err
	}
	rest, err := h.joint(ctx, r)
	if rest == nil || err != nil {
		return err
	}
	r = rest
	r.hold()
	return r.perform(ctx)
}

// alone returns a round of this hub, or nil if there is nothing to do.
func (h *hubWatch) alone(t *term) *round {
	now := time.Now()
	p := h.part(t, now)
	if p == nil {
		return nil
	}
	all := p.wholeDue(now)
	if !all && len(p.due)+len(p.objects) == 0 && !h.times.graceDue(now) {
		return nil
	}
	r := &round{parts: []*part{p}, began: now}
	if !all {
		r.concern = &decide.Concern{Nodes: p.due, Objects: p.objects, Rollouts: h.rollouts()}
	}
	return r
}

// part begins a round on the hub. It returns nil before the first read of the rows.
func (h *hubWatch) part(t *term, now time.Time) *part {
	in := h.inputs.get()
	rows := h.reads.current()
	if rows == nil {
		return nil
	}
	p := &part{hubWatch: h, term: t, in: in, rows: rows, ended: map[lynq.NodeKey]report.Outcome{}}
	p.objects, p.all = h.taken(now)
	h.nodes.wants(rows.wanted)
	p.due = h.nodes.due(rows.wanted, now)
	return p
}

// wholeDue reports whether the round plans all nodes. Tombstones of files belong to no node,
// so they need that, too.
func (p *part) wholeDue(now time.Time) bool {
	return p.all || p.due[stonesOf(&p.hub)] || p.objects[recordOf(&p.hub)] || p.surveyed() || p.times.due(p.wholeEvery(), now)
}

// rendered returns the round as a job of apply, with the rows of its hubs.
func (r *round) rendered() *applycmd.Rendered {
	first := r.parts[0]
	inputs, o, run := *first.in.Inputs, first.o, *first.term.run
	var others []*session.Run
	j := &applycmd.Job{Options: &o, Inputs: &inputs, Continuous: true, Survey: r.survey}
	var renderings []applycmd.Rendering
	for i, p := range r.parts {
		if i > 0 {
			others = append(others, p.term.run)
		}
		if j.Hubs = append(j.Hubs, p.hub); len(p.in.Tombstones) > 0 { // the first hub handles tombstones of files
			j.Tombstones, j.Hubs[0], j.Hubs[i] = p.in.Tombstones, p.hub, j.Hubs[0]
		}
		p.troubles = slices.Concat(p.reads.troubles(), p.in.invalid)
		renderings = append(renderings, p.rows.Rendering)
	}
	if inputs.Hubs = j.Hubs; len(others) > 0 {
		run = run.With(others...)
	}
	run.Began, run.Observe = r.began, r.observe
	run.Noted.Approved = map[lynq.HubKey]string{}
	j.Run = run
	return &applycmd.Rendered{Job: j, Rendering: applycmd.Merge(renderings...)}
}

// look plans the hubs. For one hub, it plans only the nodes that changed, except if guards
// or tombstones need all of them.
func (r *round) look(ctx context.Context) error {
	rows := r.rendered()
	r.unsurveyed = false
	defer func() { r.parts[0].term.run.Warned = rows.Warned }()
	seen, err := rows.LoadHubs(ctx)
	if err != nil {
		return err
	}
	concern := r.concern
	for _, p := range r.parts {
		if record := seen.Records[p.hub.Key]; record.Approved != "" || record.Deleting {
			concern = nil
		}
	}
	if concern == nil {
		_ = r.parts[0].w.client.Refresh(ctx) // if the server doesn't answer, its earlier answer counts
	}
	if concern == nil || concern.Inventories() {
		r.forget()
	}
	p, err := seen.Of(concern).PlanAll(ctx)
	if err == nil && concern != nil && slices.ContainsFunc(p.Plans, wholeOnly) {
		r.forget()
		p, err = seen.PlanAll(ctx)
	}
	if err != nil {
		return err
	}
	r.job, r.plans, r.whole = p, p.Plans, p.Concern == nil
	return nil
}

// forget makes the next read list the inventories again.
func (r *round) forget() {
	for _, p := range r.parts {
		p.kept.Forget()
	}
}

// hold leaves out deletions that guards refuse, unless a person approved them. Other
// refusals stay in the plans.
func (r *round) hold() {
	for _, p := range r.parts {
		record := r.job.Records[p.hub.Key]
		if r.unsurveyed {
			r.plans, p.held = p.withoutSurvey(r.plans, record)
			continue
		}
		r.plans, p.held, p.approved = holdDeletions(r.plans, p.hub.Key, record, time.Now())
	}
}

// perform carries the plans out, and notes the result.
func (r *round) perform(ctx context.Context) error {
	j := r.job
	if err := j.Refused(r.plans); err != nil {
		r.parts[0].recordRefused(ctx, j, session.Refusals(r.plans))
		return err
	}
	if err := plan.CheckSizes(r.plans); err != nil {
		return err
	}
	for _, p := range r.parts {
		p.refused = ""
		own := plansOf(r.plans, p.hub.Key)
		if !r.unsurveyed {
			p.tellHeld(ctx, j, own, p.held, p.approved)
		}
		p.tellTroubles(ctx, j, p.troubles)
		p.times.grace = p.graceEnd(own)
	}
	for _, p := range r.parts {
		if !p.approved {
			r.plans = p.sparing(r.plans, j.Concern == nil, r.began)
		}
	}
	for _, p := range r.parts {
		p.term.watches.ensure(p.term.ctx, plansOf(r.plans, p.hub.Key))
		if j.Concern == nil {
			p.times.whole = r.began
		}
	}
	var err error
	if j.Concern == nil || slices.ContainsFunc(r.plans, func(p plan.Plan) bool { return len(p.Nodes)+len(p.Gone) > 0 || p.Marks() }) {
		err = r.carryOut(ctx)
	}
	return r.end(err)
}

// carryOut carries plans out until new work comes. It always finishes approved plans,
// because a guard would hold the rest of them again.
func (r *round) carryOut(ctx context.Context) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer r.endsWithOthers(stop)()
	if !r.begin(stop) {
		return errInputsChanged
	}
	approved := slices.ContainsFunc(r.parts, func(p *part) bool { return p.approved })
	interrupted := make([]<-chan struct{}, len(r.parts))
	for i, p := range r.parts {
		end := stop
		if i > 0 {
			end = func(error) { stop(errJoinedHub) }
		}
		if p.reminders.toldWaiting.IsZero() {
			p.reminders.toldWaiting = time.Now()
		}
		interrupted[i] = p.interrupt(within, end, p.term.wanted, r.began, approved)
	}
	r.job.TellEvidence(slices.DeleteFunc(slices.Clone(r.plans), func(p plan.Plan) bool { return !byInputs(&p) && !r.holdsNow(p.Hub) }))
	err := r.job.RunPlans(within, r.plans, r.waiting())
	if cause := context.Cause(within); cause != nil && cutShort(cause) {
		err = cause
	}
	stop(nil)
	for i, p := range r.parts {
		<-interrupted[i]
		if !cutShort(err) {
			p.reminders.toldWaiting = time.Time{}
			p.reminders.waiting.Over()
		}
		p.inputs.ended()
		p.ended = p.nodes.failed()
		p.tellFights(ctx, plansOf(r.plans, p.hub.Key), r.job.Client.Recorder(session.HostName()))
	}
	return err
}

// waiting returns what waits for a person in each hub.
func (r *round) waiting() map[lynq.HubKey]applycmd.Waiting {
	waiting := map[lynq.HubKey]applycmd.Waiting{}
	for _, p := range r.parts {
		waiting[p.hub.Key] = applycmd.Waiting{Held: p.held, Troubles: p.troubles}
	}
	return waiting
}

// holdsNow reports whether the round is the first to hold these deletions of a hub.
func (r *round) holdsNow(hub lynq.HubKey) bool {
	return slices.ContainsFunc(r.job.Noted.Held, func(held plan.Refusal) bool { return held.Hub == hub })
}

// byInputs reports whether a plan changes objects because rows or forms changed. Other plans
// only repair objects, and how rows differ from the last run explains nothing of that.
func byInputs(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Leaving, func(l plan.Leaving) bool { return l.Begins }) || slices.ContainsFunc(p.Nodes, func(n plan.NodePlan) bool {
		return slices.ContainsFunc(n.Steps, func(s plan.Step) bool {
			if s.Action == plan.ActionKeep || s.Action == plan.ActionSkip || s.Action == plan.ActionBlock {
				return false
			}
			switch s.Reason {
			case plan.ReasonNew, plan.ReasonChanged, plan.ReasonOrphan, plan.ReasonUnowned, plan.ReasonMoved, plan.ReasonTakeover,
				plan.ReasonRemoved, plan.ReasonNotIncluded, plan.ReasonRenamed, plan.ReasonNodeGone:
				return true
			}
			return false
		})
	})
}

// endsWithOthers ends the round together with the terms of its other hubs, until the caller
// calls ended.
func (r *round) endsWithOthers(stop context.CancelCauseFunc) (ended func()) {
	var others []func() bool
	for _, p := range r.parts[1:] {
		others = append(others, context.AfterFunc(p.term.ctx, func() { stop(errJoinedHub) }))
	}
	return func() {
		for _, end := range others {
			end()
		}
	}
}

// begin notes the start of the round on its hubs. It returns false if the round would
// delete by outdated inputs.
func (r *round) begin(stop context.CancelCauseFunc) bool {
	deletes := plan.Deletes(r.plans)
	for _, p := range r.parts {
		p.ended = nil
	}
	for i, p := range r.parts {
		p.nodes.begin()
		if deletes && !p.inputs.deletes(p.in, stop) {
			for _, begun := range r.parts[:i] {
				begun.inputs.ended()
			}
			return false
		}
	}
	return true
}

// end notes the result of a round.
func (r *round) end(err error) error {
	for _, p := range r.parts {
		switch {
		case p.ended == nil:
			p.times.whole = time.Time{} // the round did nothing, so the next one plans all nodes
		case err == nil || cutShort(err) || ofNodes(err):
			p.settle(p.rows, p.due, plansOf(r.plans, p.hub.Key), p.ended)
		}
		p.w.engine.Meter().BackOff(p.hub.Key, p.nodes.waiting(stonesOf(&p.hub)))
	}
	if ofNodes(err) {
		return nil // each failed node waits on its own
	}
	return err
}

// observe passes the events of nodes to their own hubs.
func (r *round) observe(e report.Event) {
	for _, p := range r.parts {
		own := e
		switch {
		case e.Type == report.EventSummary:
			sum := *e.Summary
			sum.Failed = slices.DeleteFunc(slices.Clone(sum.Failed), func(n report.NodeResult) bool { return n.Hub != p.hub.Key })
			own.Summary = &sum
		case e.Hub != p.hub.Key:
			continue
		}
		p.observe(own)
	}
}

// plansOf returns the plans of one hub.
func plansOf(plans []plan.Plan, hub lynq.HubKey) []plan.Plan {
	return slices.DeleteFunc(slices.Clone(plans), func(p plan.Plan) bool { return p.Hub != hub })
}

// graceEnd returns the time when the first grace period ends, by this machine's clock,
// which timers use. It is zero for none.
func (h *hubWatch) graceEnd(plans []plan.Plan) time.Time {
	for i := range plans {
		if end := plans[i].Wake(); !end.IsZero() && !plans[i].After {
			return time.Now().Add(end.Sub(h.w.engine.Now()))
		}
	}
	return time.Time{}
}

// ofNodes reports whether an error says only that some nodes failed.
func ofNodes(err error) bool {
	failed := (*session.Error)(nil)
	return errors.As(err, &failed) && failed.Outcome == session.Failed && failed.Err == session.ErrReported //nolint:errorlint // and nothing beside it
}

// taken returns the objects that changed, and forgets them. all means that any object may
// have changed.
func (h *hubWatch) taken(now time.Time) (objects map[lynq.Ref]bool, all bool) {
	over := h.nodes.unmuted(now)
	if objects, all = h.changes.Take(); objects == nil {
		objects = map[lynq.Ref]bool{}
	}
	for _, ref := range over {
		objects[ref] = true
	}
	return objects, all
}

// stonesOf returns the key that stands for tombstones from files.
func stonesOf(h *load.HubPrograms) lynq.NodeKey {
	return lynq.NodeKey{Namespace: h.Key.Namespace, Name: plan.TombstonesNode}
}

// recordOf returns the hub record's name.
func recordOf(h *load.HubPrograms) lynq.Ref {
	return lynq.Ref{Kind: "ConfigMap", Namespace: h.Key.Namespace, Name: inventory.HubName(h.Key.Name)}
}

// rollouts returns the hub's forms that have a rollout, or that stopped. Their failed nodes
// belong in the plan, because otherwise each round would change more nodes.
func (h *hubWatch) rollouts() map[lynq.FormKey]bool {
	forms := h.nodes.stoppedForms()
	for _, p := range h.hub.Programs {
		if l := applycmd.LimitsOf(p.Form); l.Rolls() {
			forms[load.FormKey(p.Form, h.hub.Key.Namespace)] = true
		}
	}
	return forms
}

// wholeOnly reports whether a plan of some nodes needs a decision about all nodes.
func wholeOnly(p plan.Plan) bool {
	return len(p.Refusals) > 0 || slices.ContainsFunc(p.Nodes, func(n plan.NodePlan) bool {
		return n.Desired != nil && len(n.Desired.Tombstones) > 0
	})
}

// recordRefused adds the refusals of a round to the hub's history, unless the last round
// had the same.
func (h *hubWatch) recordRefused(ctx context.Context, j *applycmd.Planned, refusals []plan.Refusal) {
	var text strings.Builder
	for _, r := range refusals {
		text.WriteString(string(r.Guard) + ": " + r.What + "\n")
	}
	said := text.String()
	if said != h.refused {
		j.RememberRefusals(ctx, h.hub.Key, refusals)
	}
	h.refused = said
}

// tellHeld tells people, Kubernetes and metrics about held deletions.
func (h *hubWatch) tellHeld(ctx context.Context, j *applycmd.Planned, plans []plan.Plan, held *inventory.HeldDeletions, approved bool) {
	record := j.Records[h.hub.Key]
	if h.o.Events {
		recorder := j.Client.Recorder(session.HostName())
		tellHeld(ctx, recorder, record, held, approved, time.Now())
		recorder.Flush(ctx)
	}
	switch {
	case approved:
		h.w.engine.Notef("hub %s: the deletions that were held are approved, and carried out", h.hub.Key)
		j.Noted.Approved[h.hub.Key] = record.Approved
	case held != nil && (record.Held == nil || record.Held.Digest != held.Digest):
		h.w.engine.Notef("warning: hub %s: deletions are held (%s): %s; %s", h.hub.Key, held.Guard, held.Message, approveWith(record))
		for i := range plans {
			if plans[i].Held != nil {
				j.Noted.Held = append(j.Noted.Held, plans[i].Held.Refusals...)
			}
		}
	}
	var guards []plan.Guard
	for i := range plans {
		if plans[i].Held != nil {
			for _, r := range plans[i].Held.Refusals {
				guards = append(guards, r.Guard)
			}
		}
	}
	h.w.engine.Meter().Held(h.hub.Key, guards)
}

// settle notes the results of a round's nodes. A due node without a plan has nothing to do, or its deletion is held.
func (h *hubWatch) settle(rows *hubRows, due map[lynq.NodeKey]bool, plans []plan.Plan, ended map[lynq.NodeKey]report.Outcome) {
	ends := map[lynq.NodeKey]watch.End{}
	for n := range due {
		ends[n] = watch.EndWell
	}
	for i := range plans {
		for k := range plans[i].Nodes {
			ends[plans[i].Nodes[k].Key()] = watch.EndWell
		}
	}
	for n, outcome := range ended {
		ends[n] = watch.EndFailed
		if outcome == report.OutcomeInterrupted {
			ends[n] = watch.EndInterrupted
		}
	}
	h.nodes.settle(ends, rows.wanted, time.Now())
}
