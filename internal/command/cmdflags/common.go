package cmdflags

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// Common holds the flags that all commands have.
type Common struct {
	Verbosity int
	Quiet     bool
	Color     string
}

// Register registers the flags.
func (f *Common) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Color, "color", string(tty.ColorAuto), "auto (in a terminal, unless NO_COLOR is set), always, or never")
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print only errors")
	flags.IntVarP(&f.Verbosity, "v", "v", 0, "log API requests at this `level`, as with kubectl: 6 (URLs), 7 (headers), 8 (bodies, which contain row values; Secrets and secret columns are hidden)")
}

// Check checks the flags.
func (f *Common) Check() error {
	if f.Verbosity < 0 {
		return session.BadUsage(errors.New("-v cannot be negative"))
	}
	return OneOf("--color", f.Color, tty.ColorAuto, tty.ColorAlways, tty.ColorNever)
}

// OnlySaid returns the flags that switch off a guard or a question, or reveal Secrets. They
// count only on the command line. In the environment, they would affect every later
// command.
func OnlySaid() []string {
	return []string{
		"all", "allow-empty", "allow-empty-column", "continue", "force", "include-data", "no-finalizer", "no-grace", "plain-secrets", "plan",
		"recheck-tombstones", "remove-forms", "tombstone-hooks", "yes",
	}
}

// Looser says what to set instead of a value of the environment that may loosen a guard, or
// returns "". A number of nodes may exceed the default percentage of a small hub.
func Looser(f *pflag.Flag, value string) string {
	switch f.Name {
	case "max-change", "max-delete":
		most, err := limits.ParseMaxDelete(value)
		standard := limits.DefaultMaxDelete()
		if f.Name == "max-change" {
			standard = limits.DefaultMaxRowChange()
		}
		if err == nil && (most.Nodes > 0 || most.Percent > standard.Percent) {
			return "set at most " + standard.String()
		}
	case "max-delete-window":
		window, err := time.ParseDuration(value)
		if least, wrong := time.ParseDuration(f.DefValue); err == nil && wrong == nil && window < least {
			return "set at least " + f.DefValue
		}
	case "record-values":
		if value == string(applycmd.RecordPlain) {
			return "set true or false"
		}
	}
	return ""
}

// Unsaid returns the flags of the environment that no note names, since they change only what
// is shown, and those that it names without a value, since the value may be a secret.
func Unsaid() (display, secret []string) {
	return []string{"color", "log-format", "no-headers", "output", "quiet", "sort-by", "v"}, []string{"password", "source", "token"}
}

// GuardsOf returns the flags that change guards and differ from their defaults, as text.
// They may come from the environment.
func GuardsOf(flags *pflag.FlagSet) []string {
	names := []string{
		"adopt", "all", "allow-empty", "cascade", "force", "include-data", "max-change", "max-delete", "max-delete-window", "no-finalizer",
		"recheck-tombstones", "remove-forms", "yes",
	}
	var given []string
	flags.VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case !slices.Contains(names, f.Name) || value == f.DefValue && !f.Changed:
		case f.Value.Type() == "bool" && value == "true":
			given = append(given, "--"+f.Name)
		default:
			given = append(given, "--"+f.Name+"="+value)
		}
	})
	return given
}
