package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// strictUsage makes a command and all below it refuse unknown words and flags, with a
// suggestion and the command that explains them.
func (l *Line) strictUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return misused(c, l.flagError(c, err)) })
	check := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := l.Environment(c); err != nil {
			return misused(c, err)
		}
		if err := l.Check(); err != nil || check == nil {
			return err
		}
		return misused(c, check(c, args))
	}
	for _, child := range c.Commands() {
		l.strictUsage(child)
	}
}

// misused returns a *MisuseError, or nil for nil.
func misused(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return &MisuseError{err, fmt.Sprintf("see '%s --help'", c.CommandPath())}
}

// flagError says what is wrong with a flag. If the word before it isn't a command, it
// reports that instead.
func (l *Line) flagError(c *cobra.Command, err error) error {
	if _, rest, findErr := c.Root().Find(l.Args); findErr == nil && c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		if unknown := c.ValidateArgs(rest[:1]); unknown != nil {
			return errors.Unwrap(unknown)
		}
	}
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, unknown)
	case errors.As(err, &missing):
		name := "--" + missing.GetFlag().Name
		if missing.GetSpecifiedShortnames() != "" {
			name = "-" + missing.GetSpecifiedName()
		}
		return fmt.Errorf("%s needs a value: %s", name, missing.GetFlag().Usage)
	case errors.As(err, &invalid):
		return badValue(invalid)
	}
	return err
}

// unknownFlag says which flag the user meant, or which command has it.
func unknownFlag(c *cobra.Command, err *pflag.NotExistError) error {
	if err.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("%s has no flag -%s%s", pathOf(c), err.GetSpecifiedName(), elsewhere(c, func(f *pflag.FlagSet) bool {
			return f.ShorthandLookup(err.GetSpecifiedName()) != nil
		}))
	}
	name := err.GetSpecifiedName()
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near, ok := suggest.Near(name, names); ok {
		return fmt.Errorf("%s has no flag --%s (did you mean --%s?)", pathOf(c), name, near)
	}
	return fmt.Errorf("%s has no flag --%s%s", pathOf(c), name, elsewhere(c, func(f *pflag.FlagSet) bool { return f.Lookup(name) != nil }))
}

// pathOf returns the name of a command, without the program.
func pathOf(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().CommandPath()+" ")
}

// elsewhere names the commands that have a flag, if they are few.
func elsewhere(c *cobra.Command, has func(*pflag.FlagSet) bool) string {
	const most = 3
	var names []string
	for _, other := range EachCommand(c.Root()) {
		if has(other.Flags()) {
			names = append(names, pathOf(other))
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case !c.HasParent():
		return " (flags follow on a command)"
	case len(names) > most:
		return ""
	}
	slices.Sort(names)
	verb := " has it)"
	if len(names) > 1 {
		verb = " have it)"
	}
	return " (" + strings.Join(names, ", ") + verb
}

// badValue says which values a flag accepts.
func badValue(err *pflag.InvalidValueError) error {
	f := err.GetFlag()
	if bad := badText(f, err.GetValue(), nil); bad != nil {
		return fmt.Errorf("--%s: %w", f.Name, bad)
	}
	return err
}

// badText says why a flag refuses a text. If only its own parser knows, it returns
// otherwise.
func badText(f *pflag.Flag, text string, otherwise error) error {
	var what string
	switch f.Value.Type() {
	case "duration":
		what = "not a duration such as 30s, 5m, or 1h30m"
	case "int":
		what = "not a whole number"
	case "bool":
		what = "neither true nor false"
	default:
		return otherwise
	}
	return fmt.Errorf("%q is %s", text, what)
}

// ownCommands makes cobra's own commands refuse unknown words. Otherwise they would print
// help and succeed.
func (l *Line) ownCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			describeOwn(c)
			c.Args = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					err = NoCommand(about, rest[0])
				}
				return err
			}
		case "completion":
			Group(c)
			describeOwn(c)
			for _, shell := range c.Commands() {
				describeOwn(shell)
				shell.Args = l.NoArgs
			}
		}
	}
}
