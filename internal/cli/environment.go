package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// variableOf returns the environment variable with the default of a flag.
func variableOf(f *pflag.Flag) string {
	return "LYNQCTL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Environment sets missing flags from their environment variables. These are defaults: a
// given flag wins, and also overrides the variable of a flag that it excludes.
func (l *Line) Environment(c *cobra.Command) error {
	var errs []error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		value := l.Getenv(variableOf(f))
		switch {
		case value == "" || f.Changed || f.Hidden || f.Name == "help" || f.Name == "version" || excluded(c.Flags(), f):
		case slices.Contains(l.OnlySaid, f.Name):
			errs = append(errs, fmt.Errorf("%s is set, but --%s turns a guard off and counts only on the command line (unset it, and pass --%s where you mean it)", variableOf(f), f.Name, f.Name))
		default:
			if err := f.Value.Set(value); err != nil {
				errs = append(errs, fmt.Errorf("%s, the default of --%s: %w", variableOf(f), f.Name, badText(f, value, err)))
			} else if fix := l.Looser(f, value); fix != "" {
				errs = append(errs, fmt.Errorf("%s=%s may loosen a guard, and the environment can only tighten it (%s, or pass --%s where you mean it)", variableOf(f), value, fix, f.Name))
			}
			l.Defaults = append(l.Defaults, f)
		}
	})
	return errors.Join(errs...)
}

// FromEnvironment returns the flags that the environment set, with their values and
// variables, or "". without are flags to leave out, and hidden are those without a value.
func (l *Line) FromEnvironment(without, hidden []string) string {
	var set []string
	for _, f := range l.Defaults {
		value := "=" + f.Value.String()
		if list, several := f.Value.(pflag.SliceValue); several {
			value = "=" + strings.Join(list.GetSlice(), ",")
		}
		if slices.Contains(hidden, f.Name) {
			value = ""
		}
		if !slices.Contains(without, f.Name) {
			set = append(set, fmt.Sprintf("--%s%s (%s)", f.Name, value, variableOf(f)))
		}
	}
	return strings.Join(set, ", ")
}

// excluded reports whether the opposite of a flag was given.
func excluded(flags *pflag.FlagSet, f *pflag.Flag) bool {
	other := flags.Lookup(map[string]string{"namespace": "all-namespaces", "all-namespaces": "namespace"}[f.Name])
	return other != nil && other.Changed
}

// Blamed says which flags in a message have their values from the environment, or returns
// "".
func (l *Line) Blamed(message string) string {
	var lines []string
	for _, f := range l.Defaults {
		names := "--" + f.Name
		if f.Shorthand != "" {
			names += "|-" + f.Shorthand
		}
		about := regexp.MustCompile(`(^|[\s(])(` + names + `)($|[^\w-])`)
		if about.MatchString(message) && !strings.Contains(message, variableOf(f)) {
			lines = append(lines, fmt.Sprintf("--%s has its value from the environment variable %s", f.Name, variableOf(f)))
		}
	}
	return strings.Join(lines, "\n")
}
