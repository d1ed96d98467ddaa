package lynqctl

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// printFlags are the flags of kubectl get that say how a list is printed.
type printFlags struct {
	output    string
	sortBy    string
	noHeaders bool
}

func (f *printFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.output, "output", "o", string(tty.Table), ui.FormatUsage)
}

// registerList registers what only lists have.
func (f *printFlags) registerList(flags *pflag.FlagSet) {
	flags.StringVar(&f.sortBy, "sort-by", "", "sort by a JSON field, for example .node")
	flags.BoolVar(&f.noHeaders, "no-headers", false, "don't print column headers")
}

func (f *printFlags) check() error {
	if err := errors.Join(ui.CheckFormat(tty.Format(f.output)), ui.CheckSort(f.sortBy)); err != nil {
		return session.BadUsage(err)
	}
	return nil
}

// checkWatch is check for a list that goes on: its items come in the order in which
// they change.
func (f *printFlags) checkWatch() error {
	switch {
	case f.sortBy != "":
		return session.BadUsage(errors.New("--watch with --sort-by is not possible"))
	case f.noHeaders:
		return session.BadUsage(errors.New("--watch with --no-headers is not possible (-o name prints names alone)"))
	}
	switch tty.Format(f.output) {
	case tty.Table, tty.Wide, tty.Name, tty.JSON:
		return nil
	}
	return session.BadUsage(fmt.Errorf("--watch with -o %s is not possible (-o json prints one object per line)", f.output))
}

// printList prints a list as the flags want it.
func (f *printFlags) printList(a *app, l *ui.List) error {
	l.SortBy, l.NoHeaders = f.sortBy, f.noHeaders
	return session.Fail(ui.PrintList(l, tty.Format(f.output), a.out(), a.noteOut()))
}
