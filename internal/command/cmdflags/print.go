package cmdflags

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// Print holds the flags of kubectl get that say how to print a list.
type Print struct {
	Output    string
	SortBy    string
	NoHeaders bool
}

// Register registers the flags for lists and details.
func (f *Print) Register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Output, "output", "o", string(tty.Table), list.FormatUsage)
}

// RegisterList registers the flags for lists only.
func (f *Print) RegisterList(flags *pflag.FlagSet) {
	flags.StringVar(&f.SortBy, "sort-by", "", "sort by a JSON field, for example .node")
	flags.BoolVar(&f.NoHeaders, "no-headers", false, "don't print column headers")
}

// Check checks the flags.
func (f *Print) Check() error {
	if err := errors.Join(list.CheckFormat(tty.Format(f.Output)), list.CheckSort(f.SortBy)); err != nil {
		return session.BadUsage(err)
	}
	return nil
}

// CheckWatch checks the flags of a list that lynqctl extends while it watches. Such a list
// can't be sorted, because items come in the order in which they change.
func (f *Print) CheckWatch() error {
	switch {
	case f.SortBy != "":
		return session.BadUsage(errors.New("--watch with --sort-by is not possible"))
	case f.NoHeaders:
		return session.BadUsage(errors.New("--watch with --no-headers is not possible (-o name prints names alone)"))
	}
	switch tty.Format(f.Output) {
	case tty.Table, tty.Wide, tty.Name, tty.JSON:
		return nil
	}
	return session.BadUsage(fmt.Errorf("--watch with -o %s is not possible (-o json prints one object per line)", f.Output))
}

// List prints a list in the format of the flags.
func (f *Print) List(l *list.List, out, notes tty.Stream) error {
	l.SortBy, l.NoHeaders = f.SortBy, f.NoHeaders
	return session.Fail(list.Print(l, tty.Format(f.Output), out, notes))
}
