package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// words returns the words of a text, without the space between cells.
func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// onTerminal returns a stream with that many columns, or without a terminal for 0.
func onTerminal(out *bytes.Buffer, columns int) tty.Stream {
	return ui.StreamTo(out, tty.Stream{Terminal: columns > 0, Size: func() (int, int) { return columns, 24 }})
}

// TestNarrow prints tables on a terminal of 45 columns, which wraps wider ones. It wants
// all words that the output without a terminal has.
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
		t.Run(name, func(t *testing.T) {
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
					t.Errorf("%q doesn't exist at 45 columns:\n%s", w, narrow.String())
				}
			}
		})
	}
}
