package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/suggest"
)

// group makes a command of others: alone it prints its help, and a word that is
// none of them is a mistake, which cobra would let pass.
func group(cmd *cobra.Command, members ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(members...)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		return fmt.Errorf("there is no command %q (%s)", cmd.Name()+" "+args[0], suggest.Fix(args[0], names))
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}
