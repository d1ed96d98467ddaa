package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Line is a command line with its environment.
type Line struct {
	Args   []string
	Getenv func(string) string
	// OnlySaid are the flags that the environment can't set.
	OnlySaid []string
	// Looser says what to do about a value of the environment that may loosen a guard, or
	// returns "".
	Looser func(f *pflag.Flag, value string) string
	// Known are flags that people know. Help names them without an explanation.
	Known *pflag.FlagSet
	// Sections are the titles of the parts of many flags in help. SectionOf returns the part
	// of a flag, or "" for the first one, which has no title here.
	Sections  []string
	SectionOf func(flag string) string
	// Columns returns the width of the terminal for help, 0 for none.
	Columns func() int
	// NoArgs refuses arguments.
	NoArgs cobra.PositionalArgs
	// Check checks the flags that all commands have.
	Check func() error
	// Defaults are the flags whose values came from the environment.
	Defaults []*pflag.Flag
}

// Govern makes a command and all commands below it behave as this package says.
func (l *Line) Govern(root *cobra.Command) {
	l.ownCommands(root)
	l.strictUsage(root)
	root.SetUsageFunc(l.usage)
}

// MisuseError says that the user called a command wrongly.
type MisuseError struct {
	Err error
	See string // names the command with an explanation
}

func (e *MisuseError) Error() string { return e.Err.Error() }

func (e *MisuseError) Unwrap() error { return e.Err }

// EachCommand returns a command and all commands below it.
func EachCommand(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, child := range c.Commands() {
		all = append(all, EachCommand(child)...)
	}
	return all
}
