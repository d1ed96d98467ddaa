package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/ui"
)

// mayGoOn refuses to go on where nobody said --yes, and nobody is there who
// could be asked.
func (a *app) mayGoOn(yes bool) error {
	if yes || ui.CanAsk(a.stdin, ui.NewStream(a.stderr, a.getenv)) {
		return nil
	}
	return badUsage(errors.New("there is no terminal to ask on whether to go on: say --yes, or look first with --dry-run=client"))
}

// tellReading tells a person that something is read from the terminal, which
// looks as if nothing happened.
func (a *app) tellReading(what string) {
	if ui.CanAsk(a.stdin, ui.NewStream(a.stderr, a.getenv)) {
		_, _ = fmt.Fprintf(a.stderr, "reading %s from the terminal; Ctrl-D ends it\n", what)
	}
}

// confirm asks whether to go on. Where nobody can answer, --yes has to have been
// said.
func (a *app) confirm(ctx context.Context, yes bool, question string) error {
	if err := a.mayGoOn(yes); yes || err != nil {
		return err
	}
	var agreed bool
	err := a.ask(ctx, func() (err error) {
		agreed, err = ui.Confirm(a.stdin, ui.NewStream(a.stderr, a.getenv), question)
		return err
	})
	if err == nil && !agreed {
		return unconfirmed()
	}
	return err
}

// ask asks a person something before anything is touched. Who interrupts that may
// want to know.
func (a *app) ask(ctx context.Context, question func() error) error {
	err := interruptible(ctx, question)
	switch {
	case ctx.Err() == nil && err != nil:
		return untouched(ctx, err)
	case ctx.Err() == nil:
		return nil
	}
	_, _ = fmt.Fprintln(a.stderr) // the question has not ended its line
	if errors.Is(context.Cause(ctx), context.Canceled) {
		_, _ = fmt.Fprintln(a.stderr, "nothing was touched")
	}
	return untouched(ctx, err)
}

// unconfirmed is that somebody said no.
func unconfirmed() error {
	return &exitError{code: exitRefused, err: errSaid, summary: "not confirmed; nothing was touched"}
}
