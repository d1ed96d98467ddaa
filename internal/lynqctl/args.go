package lynqctl

import (
	"fmt"

	"github.com/spf13/cobra"
)

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
