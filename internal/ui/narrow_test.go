package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/lynqctl/lynqctl/internal/ui"
)

// words are the words of a text, without what tables have between cells.
func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// onTerminal is a stream of so many columns, 0 for no terminal.
func onTerminal(out *bytes.Buffer, columns int) ui.Stream {
	return ui.StreamTo(out, ui.Stream{Terminal: columns > 0, Size: func() (int, int) { return columns, 24 }})
}

// On a terminal of 45 columns, no line of what is printed is wider, so that the terminal
// breaks no word, and all words are there that there are without a terminal.
func TestNarrow(t *testing.T) {
	nodes := &ui.List{Columns: []ui.Column{
		{Name: "NAMESPACE", Flexible: true}, {Name: "NODE", Flexible: true}, {Name: "READY"}, {Name: "DESIRED"}, {Name: "FAILED"},
		{Name: "SKIPPED"}, {Name: "CONFLICTED"}, {Name: "CONDITION", Flexible: true, Toned: true}, {Name: "AGE"},
	}, Items: []ui.Item{{Cells: []string{"shop", "acme-storefront-web", "3", "4", "1", "0", "0", "Degraded: ResourceFailures", "5d"}}}}
	findings := &ui.List{Columns: []ui.Column{
		{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "OBJECT", Flexible: true}, {Name: "FINDING"}, {Name: "MESSAGE", Wrapped: true},
	}, Items: []ui.Item{{Cells: []string{"shop", "acme-storefront-web", "Deployment.apps/shop/acme", "modified", "another client changed it: the next apply puts it right"}}}}
	list := func(l *ui.List) func(ui.Stream) error {
		return func(out ui.Stream) error {
			return ui.PrintList(l, ui.Table, out, ui.StreamTo(&bytes.Buffer{}, ui.Stream{}))
		}
	}
	run := func(print func(c *console) error) func(ui.Stream) error {
		return func(out ui.Stream) error {
			c := newConsole(ui.Options{Out: out})
			c.tell(story())
			return print(c)
		}
	}
	for name, print := range map[string]func(ui.Stream) error{
		"nodes":    list(nodes),
		"findings": list(findings),
		"result":   run(func(c *console) error { return c.Result(plans()) }),
		"plan":     run(func(c *console) error { return c.Plan(plans()) }),
	} {
		var whole, narrow bytes.Buffer
		if err := print(onTerminal(&whole, 0)); err != nil {
			t.Fatal(err)
		}
		if err := print(onTerminal(&narrow, 45)); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(narrow.String()) {
			if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > 45 {
				t.Errorf("%s: a line is wider than 45 columns: %q", name, line)
			}
		}
		there := words(narrow.String())
		for w := range words(whole.String()) {
			if !there[w] {
				t.Errorf("%s: %q is not there at 45 columns:\n%s", name, w, narrow.String())
			}
		}
	}
}
