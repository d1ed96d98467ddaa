package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// On a terminal that is too narrow, messages go on in further lines, what is needed
// is cut last, and nothing is broken within a word.
// words are the words of a text, without what tables have between cells.
func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// onTerminal is a stream of so many columns, 0 for no terminal.
func onTerminal(out *bytes.Buffer, columns int) tty.Stream {
	return ui.StreamTo(out, tty.Stream{Terminal: columns > 0, Size: func() (int, int) { return columns, 24 }})
}

// On a terminal of 45 columns, which wraps tables that are wider, all words are there that
// there are without a terminal.
func TestNarrow(t *testing.T) {
	nodes := &list.List{Columns: []list.Column{
		{Name: "NAMESPACE", Flexible: true}, {Name: "NODE", Flexible: true}, {Name: "READY"}, {Name: "DESIRED"}, {Name: "FAILED"},
		{Name: "SKIPPED"}, {Name: "CONFLICTED"}, {Name: "CONDITION", Flexible: true, Toned: true}, {Name: "AGE"},
	}, Items: []list.Item{{Cells: []string{"shop", "acme-storefront-web", "3", "4", "1", "0", "0", "Degraded: ResourceFailures", "5d"}}}}
	findings := &list.List{Columns: []list.Column{
		{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "OBJECT", Flexible: true}, {Name: "FINDING"}, {Name: "MESSAGE", Wrapped: true},
	}, Items: []list.Item{{Cells: []string{"shop", "acme-storefront-web", "Deployment.apps/shop/acme", "modified", "another client changed it: the next apply puts it right"}}}}
	list := func(l *list.List) func(tty.Stream) error {
		return func(out tty.Stream) error {
			return list.Print(l, tty.Table, out, ui.StreamTo(&bytes.Buffer{}, tty.Stream{}))
		}
	}
	run := func(print func(c *console) error) func(tty.Stream) error {
		return func(out tty.Stream) error {
			c := newConsole(ui.Options{Out: out})
			c.tell(story())
			return print(c)
		}
	}
	for name, print := range map[string]func(tty.Stream) error{
		"nodes":    list(nodes),
		"findings": list(findings),
		"result":   run(func(c *console) error { return c.result(plans()) }),
		"plan":     run(func(c *console) error { return c.tried(plans()) }),
	} {
		var whole, narrow bytes.Buffer
		if err := print(onTerminal(&whole, 0)); err != nil {
			t.Fatal(err)
		}
		if err := print(onTerminal(&narrow, 45)); err != nil {
			t.Fatal(err)
		}
		there := words(narrow.String())
		for w := range words(whole.String()) {
			if !there[w] {
				t.Errorf("%s: %q doesn't exist at 45 columns:\n%s", name, w, narrow.String())
			}
		}
	}
}
