package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/suggest"
)

// Group makes a command of others: alone it prints its help, and a word that is
// none of them is a mistake, which cobra would let pass.
func Group(cmd *cobra.Command, members ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(members...)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return NoCommand(cmd, args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[groupAnnotation] = "yes"
	return cmd
}

// groupAnnotation marks a command that does nothing by itself.
const groupAnnotation = "lynqctl-group"

// IsGroup tells whether a command only holds others.
func IsGroup(c *cobra.Command) bool { return c.Annotations[groupAnnotation] != "" }

// NoCommand is that a command has none of that name under it.
func NoCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no commands under it, got %q", cmd.CommandPath(), name)
	}
	path := strings.TrimPrefix(cmd.CommandPath()+" "+name, cmd.Root().CommandPath()+" ")
	text := fmt.Sprintf("unknown command %q", path)
	if other := meant(cmd, name); other != "" {
		return fmt.Errorf("%s (did you mean %q?)", text, other)
	}
	// All commands of the program are too many for a line.
	if near, ok := suggest.Near(name, names); ok {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	} else if cmd.HasParent() {
		text += " (" + suggest.List(names) + ")"
	}
	return errors.New(text)
}

// meant is the command below one that says in SuggestFor that it stands for a word of
// other programs, "" for none.
func meant(below *cobra.Command, word string) string {
	for _, c := range EachCommand(below) {
		if slices.Contains(c.SuggestFor, word) {
			return pathOf(c)
		}
	}
	return ""
}
