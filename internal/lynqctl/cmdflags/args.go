package cmdflags

import (
	"fmt"

	"github.com/spf13/cobra"
)

// NoArgs refuses arguments, because -f names the inputs.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Lookup("source") != nil && cmd.Flags().Lookup("uid") != nil {
		return fmt.Errorf("%s takes no arguments, got %q; name a file of rows with --source: --source csv:%s", cmd.Name(), args[0], args[0])
	}
	if cmd.Flags().Lookup("filename") == nil {
		return fmt.Errorf("%s takes no arguments, got %q", cmd.Name(), args[0])
	}
	return fmt.Errorf("%s takes no arguments, got %q; name inputs with -f: -f %s", cmd.Name(), args[0], args[0])
}

// SomeNames requires at least one name as an argument.
func SomeNames(command, what, where string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s takes names of %ss (%s has the names)", command, what, where)
		}
		return nil
	}
}

// SomeNodes requires at least one name of a node as an argument.
func SomeNodes(command, where string) cobra.PositionalArgs {
	return cobra.MatchAll(SomeNames(command, "node", where), func(_ *cobra.Command, args []string) error {
		_, err := NodeNames(args)
		return err
	})
}
