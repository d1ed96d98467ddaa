package schedule

import (
	"context"
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// SameFailures is the number of nodes that fail with one error before lynqctl lets no other
// node of the form begin, or shortens its attempts.
const SameFailures = 10

// Brake protects a form without a rollout. Until one of its nodes succeeds, at most
// SameFailures of them change at once. If that many fail for the same cause, no other node
// begins. A nil Brake has no limit. It is safe for concurrent use.
type Brake struct {
	form   string
	proven bool // a node of the form is recorded as ready

	mu   sync.Mutex
	open bool // a node that the run changed is ready
	// changing are nodes that the run changes. stuck are nodes that an earlier run changed
	// and that aren't ready since then. They count only for a change of the form, because
	// otherwise each run would bring a bad form to more nodes.
	changing, stuck tally
	changed         chan struct{} // closed when any of these changed
}

// tally counts nodes that work and that failed.
type tally struct {
	working int // those that have begun, without those that wait for other nodes
	failed  int
	causes  []string // what all failed nodes share
	why     string   // the first failed node's text for it
}

// fail counts a failed node.
func (t *tally) fail(causes []string, why string) {
	*t = t.with(tally{failed: 1, causes: causes, why: why})
}

// with returns the sum of two tallies.
func (t *tally) with(o tally) tally {
	sum := tally{working: t.working + o.working, failed: t.failed + o.failed, causes: t.causes, why: t.why}
	switch {
	case t.failed == 0:
		sum.causes, sum.why = o.causes, o.why
	case o.failed > 0:
		sum.causes = slices.DeleteFunc(slices.Clone(t.causes), func(c string) bool { return !slices.Contains(o.causes, c) })
	}
	return sum
}

// ask reports whether one more node may begin. Failures of several causes stop nothing.
func (t *tally) ask() Turn {
	switch {
	case t.failed > 0 && len(t.causes) == 0, t.failed+t.working < SameFailures:
		return TurnNow
	case t.failed >= SameFailures:
		return TurnNever
	}
	return TurnLater
}

// Brakes has the brake of each form of a run that needs one.
type Brakes map[Form]*Brake

// NewBrakes returns the brakes of forms with more than SameFailures nodes that change or are
// stuck. Forms with limits have a rollout instead, or let the run continue after failures.
func NewBrakes(limits map[Form]Limits, plans []plan.Plan) Brakes {
	all, works := map[Form]int{}, map[Form]bool{}
	for k := range plans {
		for i := range plans[k].Nodes {
			n := &plans[k].Nodes[i]
			form := Form{plans[k].Hub, n.Form}
			works[form] = works[form] || proven(n)
			if braked(n, true) != ShareNone {
				all[form]++
			}
		}
	}
	brakes := Brakes{}
	for form, nodes := range all {
		if l := limits[form]; nodes > SameFailures && !l.Rolls() && !l.Continue {
			brakes[form] = &Brake{form: form.Form.Name, proven: works[form], changed: make(chan struct{})}
		}
	}
	return brakes
}

// braked returns a node's part. A conflict that the plan knows already says nothing about
// the form's other nodes.
func braked(p *plan.NodePlan, formWorks bool) Share {
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Action == plan.ActionBlock }) {
		return ShareNone
	}
	return shareOf(p, formWorks)
}

// ShareOf returns the part of a node.
func (b *Brake) ShareOf(p *plan.NodePlan) Share {
	if b == nil {
		return ShareNone
	}
	return braked(p, b.proven)
}

// tallyOf returns the tally that counts a node, or nil.
func (b *Brake) tallyOf(s Share) *tally {
	switch s {
	case ShareRow, ShareForm:
		return &b.changing
	case ShareStuck:
		return &b.stuck
	}
	return nil
}

// Keep counts a node that an earlier run changed. Call it before any node begins.
func (b *Brake) Keep(s Share) {
	if s == ShareStuck {
		b.stuck.working++
	}
}

// Begin waits until a node may begin. It returns TurnNever with the reason, and TurnLater if
// the context ended first.
func (b *Brake) Begin(ctx context.Context, s Share) (Turn, string) {
	if s == ShareNone || s == ShareStuck { // Keep counted it
		return TurnNow, ""
	}
	for {
		verdict, why, changed := b.ask(s)
		switch {
		case verdict == TurnNow:
			return verdict, ""
		case ctx.Err() != nil: // that stopped the others too
			return TurnLater, ""
		case verdict == TurnNever:
			return verdict, why
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return TurnLater, ""
		}
	}
}

func (b *Brake) ask(s Share) (Turn, string, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.changing
	if s == ShareForm {
		of = of.with(b.stuck)
	}
	switch verdict := of.ask(); {
	case b.open, verdict == TurnNow:
		b.changing.working++
		return TurnNow, "", nil
	case verdict == TurnNever:
		return verdict, "form " + b.form + " stopped, because the first " + phrase.Count(of.failed, "node") + " failed for one cause: " + of.why +
			"; fix the cause and run it again; rollout: {onFailure: Continue} in the form lets others continue", nil
	}
	return TurnLater, "", b.changed
}

// Pause lets another node begin while this one waits for other nodes. Resume ends that.
func (b *Brake) Pause(s Share) { b.work(s, -1) }

// Resume counts a node that waited for other nodes again.
func (b *Brake) Resume(s Share) { b.work(s, 1) }

func (b *Brake) work(s Share, n int) {
	if s != ShareNone {
		b.change(func() { b.tallyOf(s).working += n })
	}
}

// End notes the result of a node that began. causes identify its problems, and why is the
// first of them. Nodes that were interrupted or skipped prove nothing.
func (b *Brake) End(s Share, e End, causes []string, why string) {
	if s == ShareNone {
		return
	}
	b.change(func() {
		t := b.tallyOf(s)
		t.working--
		switch {
		case e.Well:
			b.open = b.open || s != ShareStuck
		case !e.Interrupted && len(causes) > 0:
			t.fail(causes, why)
		}
	})
}

// change changes the brake, and wakes the nodes that wait for it.
func (b *Brake) change(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	close(b.changed)
	b.changed = make(chan struct{})
}
