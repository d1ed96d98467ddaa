package cmdflags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// NoArgs refuses arguments, because -f names the inputs.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	refused := fmt.Sprintf("%s takes no arguments, got %q", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath()+" "), args[0])
	switch flags := cmd.Flags(); {
	case flags.Changed("dry-run") && slices.Contains([]string{"none", "client", "server"}, args[0]):
		refused += "; write --dry-run=" + args[0]
	case flags.Lookup("source") != nil && flags.Lookup("uid") != nil:
		refused += "; name a file of rows with --source: --source csv:" + args[0]
	case flags.Lookup("filename") != nil:
		refused += "; name inputs with -f: -f " + args[0]
	}
	return errors.New(refused)
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
