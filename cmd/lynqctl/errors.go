package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// badUsage is an error of the command line: exit code 2.
func badUsage(err error) error { return &exitError{code: exitBadInput, err: err} }

// badInputs reports everything that is wrong with the inputs: exit code 2.
func badInputs(problems lynq.Problems, nothing string) error {
	sorted := problems.Sorted()
	return &exitError{
		code:    exitBadInput,
		err:     sorted,
		summary: fmt.Sprintf("%s in the inputs; %s", count(len(sorted), "problem"), nothing),
	}
}

// failed is an error while something was done: exit code 1. Nil stays nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitFailed, err: err}
}

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

// count is "1 row", "2 rows".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// inOrder joins errors in the order of their texts.
func inOrder(errs []error) error {
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
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
	return badUsage(fmt.Errorf("%s %q is unknown; it takes %s", flag, value, strings.Join(words, ", ")))
}
