package engine

import (
	"context"
	"errors"
)

// mayGoOn refuses to write without --yes where no person can be asked.
func (e *Engine) mayGoOn(m Mode, yes bool) error {
	if m != ModeRun || yes || e.View.CanAsk() {
		return nil
	}
	return BadUsage(errors.New("there is no terminal to ask on whether to go on: say --yes, or look first with --dry-run=client"))
}

// tellReading tells a person that something is read from the terminal, which
// looks as if nothing happened.
func (e *Engine) tellReading(what string) {
	if e.View.CanAsk() {
		e.notef("reading %s from the terminal; Ctrl-D ends it", what)
	}
}

// confirm asks whether to go on. Where no person can answer, yes has to be set.
func (e *Engine) confirm(ctx context.Context, yes bool, question string) error {
	if err := e.mayGoOn(ModeRun, yes); yes || err != nil {
		return err
	}
	return e.agreed(ctx, func() (bool, error) { return e.View.Confirm(question) })
}

// confirmName is confirm for what is confirmed by typing a name.
func (e *Engine) confirmName(ctx context.Context, question, name string) error {
	if err := e.mayGoOn(ModeRun, false); err != nil {
		return err
	}
	return e.agreed(ctx, func() (bool, error) { return e.View.ConfirmName(question, name) })
}

// agreed asks a question, and is an error where the answer is no.
func (e *Engine) agreed(ctx context.Context, question func() (bool, error)) error {
	var agreed bool
	err := e.ask(ctx, func() (err error) {
		agreed, err = question()
		return err
	})
	if err == nil && !agreed {
		return unconfirmed()
	}
	return err
}

// ask asks a person something before anything is touched. Who interrupts that may
// want to know.
func (e *Engine) ask(ctx context.Context, question func() error) error {
	err := interruptible(ctx, question)
	switch {
	case ctx.Err() == nil && err != nil:
		return untouched(ctx, err)
	case ctx.Err() == nil:
		return nil
	}
	e.View.Note("") // the question has not ended its line
	if errors.Is(context.Cause(ctx), context.Canceled) {
		e.notef("nothing was touched")
	}
	return untouched(ctx, err)
}

// unconfirmed is that the answer was no.
func unconfirmed() error {
	return &Error{Outcome: Refused, Err: ErrReported, Summary: "not confirmed; nothing was touched"}
}
