package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// MayGoOn refuses to write without --yes if nobody can confirm.
func (e *Engine) MayGoOn(m Mode, yes bool) error {
	if m != ModeRun || yes || e.View.CanAsk() {
		return nil
	}
	return BadUsage(errors.New("can't ask for confirmation without a terminal. Pass --yes to proceed, or preview with --dry-run=client"))
}

// TellReading tells a person that lynqctl reads from the terminal, because otherwise it
// would seem to hang.
func (e *Engine) TellReading(what string) {
	if e.View.CanAsk() {
		e.Notef("reading %s from the terminal; Ctrl-D ends it", what)
	}
}

// Confirm asks for confirmation unless yes is set. If nobody can answer, yes must be set.
func (e *Engine) Confirm(ctx context.Context, yes bool, question string) error {
	if err := e.MayGoOn(ModeRun, yes); yes || err != nil {
		return err
	}
	return e.agreed(ctx, func() (bool, error) { return e.View.Confirm(question) })
}

// ConfirmName asks for confirmation by typing a name.
func (e *Engine) ConfirmName(ctx context.Context, question, name string) error {
	if err := e.MayGoOn(ModeRun, false); err != nil {
		return err
	}
	return e.agreed(ctx, func() (bool, error) { return e.View.ConfirmName(question, name) })
}

// agreed asks a question, and returns an error if the answer is no.
func (e *Engine) agreed(ctx context.Context, question func() (bool, error)) error {
	var agreed bool
	err := e.Ask(ctx, func() (err error) {
		agreed, err = question()
		return err
	})
	if err == nil && !agreed {
		return Unconfirmed()
	}
	e.confirmed = err == nil
	return err
}

// Ask asks a person a question before the run changes anything. If the person interrupts
// it, Ask says that nothing changed.
func (e *Engine) Ask(ctx context.Context, question func() error) error {
	err := Interruptible(ctx, question)
	switch {
	case ctx.Err() == nil && err != nil:
		return Untouched(ctx, err)
	case ctx.Err() == nil:
		return nil
	}
	e.View.Note("") // the question has no line end yet
	if errors.Is(context.Cause(ctx), context.Canceled) {
		e.Notef("nothing changed")
	}
	return Untouched(ctx, err)
}

// Unconfirmed returns the error for the answer no.
func Unconfirmed() error {
	return &Error{Outcome: Refused, Err: ErrReported, Summary: "not confirmed; nothing changed"}
}

// DeletionSummary counts what the plans delete and keep.
func DeletionSummary(plans []plan.Plan) string {
	counts, adopted := map[plan.Action]int{}, map[plan.Action]int{}
	var nodes []plan.NodePlan
	for i := range plans {
		p := &plans[i]
		nodes = append(nodes, p.Nodes...)
		for action, n := range p.Counts {
			counts[action] += n
			adopted[action] += p.Adopted[action]
		}
	}
	deleted := phrase.Count(counts[plan.ActionDelete]+counts[plan.ActionCollect], "object") + " to delete"
	if n := adopted[plan.ActionDelete] + adopted[plan.ActionCollect]; n > 0 {
		deleted += fmt.Sprintf(" (%d adopted)", n)
	}
	parts := []string{deleted}
	switch n := counts[plan.ActionRecreate]; {
	case n > 0 && counts[plan.ActionDelete]+counts[plan.ActionCollect] == 0:
		parts[0] = phrase.Count(n, "object") + " to recreate"
	case n > 0:
		parts = append(parts, phrase.Count(n, "object")+" to recreate")
	}
	if n := counts[plan.ActionOrphan]; n > 0 {
		parts = append(parts, phrase.Count(n, "object")+" to leave behind as orphans")
	}
	if n := counts[plan.ActionRelease]; n > 0 {
		parts = append(parts, phrase.Count(n, "object")+" to release")
	}
	if along := plan.Along(nodes); along != "" {
		parts = append(parts, along)
	}
	return strings.Join(parts, ", ")
}
