package lynqctl

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// commonFlags are the flags that all commands have.
type commonFlags struct {
	verbosity int
	quiet     bool
	color     string
}

func (f *commonFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.color, "color", string(tty.ColorAuto), "auto (in a terminal, unless NO_COLOR is set), always, or never")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	flags.IntVarP(&f.verbosity, "v", "v", 0, "log API requests at this `level`, as with kubectl: 6 (URLs), 7 (headers), 8 (bodies, which contain row values; Secrets are hidden)")
}

func (f *commonFlags) check() error {
	if f.verbosity < 0 {
		return session.BadUsage(errors.New("-v cannot be negative"))
	}
	return oneOf("--color", f.color, tty.ColorAuto, tty.ColorAlways, tty.ColorNever)
}

// out is standard output, and what can be done with it.
func (a *app) out() tty.Stream { return tty.NewStream(a.Stdout, a.Getenv, tty.Color(a.common.color)) }

// columns is how wide the terminal of standard output is, 0 where it is none.
func (a *app) columns() int {
	out := a.out()
	if out.Size == nil {
		return 0
	}
	columns, _ := out.Size()
	return columns
}

// errOut is standard error. Nothing is redrawn on it where requests are logged there.
func (a *app) errOut() tty.Stream {
	s := tty.NewStream(a.Stderr, a.Getenv, tty.Color(a.common.color))
	s.Terminal = s.Terminal && a.common.verbosity == 0
	return s
}

// noteOut is where warnings and the like go: standard error, unless -q says that
// nothing is to be there but errors.
func (a *app) noteOut() tty.Stream {
	if a.common.quiet {
		return tty.Stream{}
	}
	return a.errOut()
}

// requests says how requests are logged.
func (a *app) requests() kube.RequestLog {
	return kube.RequestLog{Level: a.common.verbosity, Out: a.errOut()}
}

// onlySaid are the flags that take a guard or a question away, or let Secrets out. In an
// environment they would do so for every command that is ever called there, so
// that they count only on the command line.
func onlySaid() []string {
	return []string{"all", "allow-empty", "force", "include-data", "plain-secrets", "yes"}
}
