package main

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/engine"
)

// badSelector is what is wrong with -l.
func badSelector(err error) error {
	return fmt.Errorf("-l: %w (write labels as kubectl takes them: tier=front,env!=test)", err)
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
