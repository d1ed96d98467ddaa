package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Line is a command line, and what it is run in.
type Line struct {
	Args   []string
	Getenv func(string) string
	// OnlySaid are the flags that are not taken from the environment.
	OnlySaid []string
	// Known are flags that people know, which help names and does not explain.
	Known *pflag.FlagSet
	// Columns is how wide the terminal is that help is shown on, 0 for none.
	Columns func() int
	// NoArgs refuses arguments.
	NoArgs cobra.PositionalArgs
	// Check checks the flags that all commands have.
	Check func() error
	// Defaults are the flags that have their values from the environment.
	Defaults []*pflag.Flag
}

// Govern has a command and all under it behave as this package says.
func (l *Line) Govern(root *cobra.Command) {
	l.ownCommands(root)
	l.strictUsage(root)
	root.SetUsageFunc(l.usage)
}

// MisuseError is a wrong use of a command.
type MisuseError struct {
	Err error
	See string // which command explains itself
}

func (e *MisuseError) Error() string { return e.Err.Error() }

func (e *MisuseError) Unwrap() error { return e.Err }

// EachCommand is a command and all under it.
func EachCommand(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, child := range c.Commands() {
		all = append(all, EachCommand(child)...)
	}
	return all
}
