package lynqctl

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/cli"
)

// Every command says what it does, in lines that fit a terminal, and shows how it
// is used. Groups leave that to their members, and cobra's own say it in words.
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
