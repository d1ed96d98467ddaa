package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/engine"
)

// parseSelector reads what -l says, nil for nothing.
func parseSelector(text string) (labels.Selector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, engine.BadUsage(fmt.Errorf("-l: %w (write labels as kubectl takes them: tier=front,env!=test)", err))
	}
	return selector, nil
}

// someNames has a command take at least one name.
func someNames(command, what, where string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s takes names of %ss (%s has the names)", command, what, where)
		}
		return nil
	}
}

// someNodes has a command take at least one name of a node.
func someNodes(command, where string) cobra.PositionalArgs {
	return cobra.MatchAll(someNames(command, "node", where), func(_ *cobra.Command, args []string) error {
		_, err := nodeNames(args)
		return err
	})
}

// noArgs refuses arguments: inputs are named with -f.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Lookup("filename") == nil {
		return fmt.Errorf("%s takes no arguments, got %q", cmd.Name(), args[0])
	}
	return fmt.Errorf("%s takes no arguments, got %q; name inputs with -f: -f %s", cmd.Name(), args[0], args[0])
}

// oneOf checks the value of a flag that takes one of some words.
func oneOf[T ~string](flag, value string, allowed ...T) error {
	words := make([]string, len(allowed))
	for i, w := range allowed {
		if value == string(w) {
			return nil
		}
		words[i] = string(w)
	}
	return engine.BadUsage(fmt.Errorf("%s %q is unknown; it takes %s", flag, value, strings.Join(words, ", ")))
}

// onlySaid are the flags that take a guard or a question away, or let Secrets out. In an
// environment they would do so for every command that is ever called there, so
// that they count only on the command line.
func onlySaid() []string {
	return []string{"all", "allow-empty", "force", "include-data", "plain-secrets", "yes"}
}
