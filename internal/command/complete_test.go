package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagWords wants every flag that takes words, and names them in its description, to
// offer them. A flag with a new word fails here.
func TestFlagWords(t *testing.T) {
	known := map[string]bool{}
	eachFlag(referenceRoot(), func(c *cobra.Command, f *pflag.Flag) {
		words := flagWords(f)
		for _, w := range words {
			known[f.Name+" "+w] = true
		}
		// The default must be one of the words.
		for _, value := range strings.FieldsFunc(f.DefValue, func(r rune) bool { return strings.ContainsRune("[],", r) }) {
			if len(words) > 0 && !slices.Contains(words, value) {
				t.Errorf("%s --%s: default %q is not among the words offered, %q", c.CommandPath(), f.Name, value, words)
			}
		}
	})
	for _, want := range []string{"output wide", "output kyaml", "output jsonpath=", "output custom-columns=", "output dot", "output markdown", "dry-run server", "cascade orphan", "adopt never", "target flux", "reason RemovedFromTemplate", "layout node-file", "for status"} {
		t.Run(want, func(t *testing.T) {
			if !known[want] {
				t.Errorf("no flag offers %s", want)
			}
		})
	}
}

// TestCompletionsRegistered wants no shell to offer files for a flag or argument that isn't
// a file.
func TestCompletionsRegistered(t *testing.T) {
	a := newApp(World{Getenv: func(string) string { return "" }}, nil)
	root := rootCommand(a)
	registerCompletions(a, root)
	for _, c := range documented(root) {
		named := strings.Contains(c.Use, "NODE") || strings.HasSuffix(c.Use, " NAME") || strings.Contains(c.Use, "OBJECT...|")
		if named && !c.HasAvailableSubCommands() && c.ValidArgsFunction == nil {
			t.Errorf("%s: nothing is offered for its arguments", c.CommandPath())
		}
	}
	eachFlag(root, func(c *cobra.Command, f *pflag.Flag) {
		if _, ok := c.GetFlagCompletionFunc(f.Name); !ok && slices.Contains([]string{"hub", "form", "node", "namespace", "context", "filename"}, f.Name) {
			t.Errorf("%s --%s: nothing is offered", c.CommandPath(), f.Name)
		}
	})
}

func eachFlag(root *cobra.Command, do func(c *cobra.Command, f *pflag.Flag)) {
	for _, c := range documented(root) {
		c.Flags().VisitAll(func(f *pflag.Flag) { do(c, f) })
	}
}
