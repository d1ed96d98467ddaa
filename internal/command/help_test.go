package command

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/cli"
)

// TestHelp wants every command to explain itself in lines that fit a terminal, and to show
// an example. Groups and cobra's own commands need no example.
func TestHelp(t *testing.T) {
	for _, c := range cli.EachCommand(referenceRoot()) {
		name := c.CommandPath()
		own := c.Name() == "help" || strings.HasPrefix(name, "lynqctl completion")
		if c.Short == "" || c.Long == "" || c.Example == "" && !own && (!cli.IsGroup(c) || !c.HasParent()) {
			t.Errorf("%s has no short text, no long one or no example", name)
		}
		help := c.Long + "\n" + c.UsageString()
		for line := range strings.Lines(help) {
			if width := len(strings.TrimRight(line, "\n")); width > cli.UsualColumns && !own {
				t.Errorf("%s: a line of its help is %d wide: %s", name, width, line)
			}
		}
	}
}
