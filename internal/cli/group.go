package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// Group turns a command into a group of others. Without an argument, it prints its help. It
// refuses unknown words, which cobra would accept.
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

// groupAnnotation marks a command that only contains others.
const groupAnnotation = "lynqctl-group"

// IsGroup reports whether a command only contains others.
func IsGroup(c *cobra.Command) bool { return c.Annotations[groupAnnotation] != "" }

// NoCommand returns the error for an unknown command, with a suggestion.
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
	// A line has no room for all commands of the program.
	if near, ok := suggest.Near(name, names); ok {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	} else if cmd.HasParent() {
		text += " (" + suggest.List(names) + ")"
	}
	return errors.New(text)
}

// meant returns the command that names a word of other programs in SuggestFor, or "".
func meant(below *cobra.Command, word string) string {
	for _, c := range EachCommand(below) {
		if slices.Contains(c.SuggestFor, word) {
			return pathOf(c)
		}
	}
	return ""
}
