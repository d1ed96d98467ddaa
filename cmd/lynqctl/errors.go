package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/engine"
)

// badSelector is what is wrong with -l.
func badSelector(err error) error {
	return fmt.Errorf("-l: %w (write labels as kubectl takes them: tier=front,env!=test)", err)
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
