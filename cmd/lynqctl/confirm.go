package main

import (
	"context"
	"errors"

	"github.com/lynqctl/lynqctl/internal/ui"
)

// confirm asks whether to go on. Where nobody can answer, --yes has to have been
// said.
func (a *app) confirm(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	stderr := ui.NewStream(a.stderr, a.getenv)
	if !ui.CanAsk(a.stdin, stderr) {
		return badUsage(errors.New("there is no terminal to ask on whether to go on: say --yes, or look first with --dry-run=client"))
	}
	var agreed bool
	err := interruptible(ctx, func() (err error) {
		agreed, err = ui.Confirm(a.stdin, stderr, question)
		return err
	})
	if err == nil && !agreed {
		return unconfirmed()
	}
	return err
}

// unconfirmed is that somebody said no.
func unconfirmed() error {
	return &exitError{code: exitRefused, err: errSaid, summary: "not confirmed; nothing was touched"}
}
