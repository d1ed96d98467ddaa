package ui_test

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// On a terminal that is too narrow, messages go on in further lines, what is needed
// is cut last, and nothing is broken within a word.
func TestFlow(t *testing.T) {
	d := &ui.Details{
		Facts: []ui.Fact{{"Node", "acme-web"}, {"Message", "it belongs to somebody else, who shall not be named here"}},
		Parts: ui.List{
			Columns: []ui.Column{{Name: "KIND", Flexible: true, Needed: true}, {Name: "NAME", Flexible: true}, {Name: "MESSAGE", Wrapped: true}},
			Items: []ui.Item{
				{Cells: []string{"Deployment", "acme-of-the-long-name", ""}},
				{Cells: []string{"Secret", "acme", "waiting for a volume to be created by somebody who creates volumes"}},
			},
		},
	}
	for columns, want := range map[int]string{
		200: `
Node:      acme-web
Message:   it belongs to somebody else, who shall not be named here

KIND         NAME                    MESSAGE
Deployment   acme-of-the-long-name   -
Secret       acme                    waiting for a volume to be created by somebody who creates volumes
`,
		60: `
Node:      acme-web
Message:   it belongs to somebody else, who shall not be
           named here

KIND       NAME                  MESSAGE
Deployment acme-of-the-long-name -
Secret     acme
      waiting for a volume to be created by somebody who
      creates volumes
`,
		40: `
Node:     acme-web
Message:  it belongs to somebody else,
          who shall not be named here

KIND       NAME                 MESSAGE
Deployment acme-of-the-long-na… -
Secret     acme
      waiting for a volume to be created
      by somebody who creates volumes
`,
		75: `
Node:      acme-web
Message:   it belongs to somebody else, who shall not be named here

KIND         NAME                    MESSAGE
Deployment   acme-of-the-long-name   -
Secret       acme                    waiting for a volume to be created by
                                     somebody who creates volumes
`,
	} {
		var out bytes.Buffer
		stream := ui.StreamTo(&out, tty.Stream{Terminal: true, Size: func() (int, int) { return columns, 24 }})
		if err := ui.PrintDetails(d, tty.Table, stream); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), out.String()); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", columns, diff)
		}
	}
}

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
	nodes := &ui.List{Columns: []ui.Column{
		{Name: "NAMESPACE", Flexible: true}, {Name: "NODE", Flexible: true}, {Name: "READY"}, {Name: "DESIRED"}, {Name: "FAILED"},
		{Name: "SKIPPED"}, {Name: "CONFLICTED"}, {Name: "CONDITION", Flexible: true, Toned: true}, {Name: "AGE"},
	}, Items: []ui.Item{{Cells: []string{"shop", "acme-storefront-web", "3", "4", "1", "0", "0", "Degraded: ResourceFailures", "5d"}}}}
	findings := &ui.List{Columns: []ui.Column{
		{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "OBJECT", Flexible: true}, {Name: "FINDING"}, {Name: "MESSAGE", Wrapped: true},
	}, Items: []ui.Item{{Cells: []string{"shop", "acme-storefront-web", "Deployment.apps/shop/acme", "modified", "another client changed it: the next apply puts it right"}}}}
	list := func(l *ui.List) func(tty.Stream) error {
		return func(out tty.Stream) error {
			return ui.PrintList(l, tty.Table, out, ui.StreamTo(&bytes.Buffer{}, tty.Stream{}))
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

// Lists of ten thousand rows are what a large site has: the type for tables that lipgloss
// has takes more than half a second for one.
func BenchmarkTable(b *testing.B) {
	const rows = 10_000
	l := &ui.List{Columns: []ui.Column{
		{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "READY"}, {Name: "DESIRED"}, {Name: "FAILED"}, {Name: "SKIPPED"}, {Name: "CONFLICTED"},
		{Name: "CONDITION", Toned: true}, {Name: "AGE"},
	}}
	for i := range rows {
		l.Items = append(l.Items, ui.Item{Cells: []string{"shop", "tenant-" + strconv.Itoa(i) + "-web", "12", "12", "0", "0", "0", "Ready", "3d"}, Tone: tty.Good})
	}
	b.Run("list", func(b *testing.B) {
		out := ui.StreamTo(io.Discard, tty.Stream{Color: true})
		for b.Loop() {
			if err := ui.PrintList(l, tty.Table, out, tty.Stream{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lipgloss", func(b *testing.B) {
		padded := func(int, int) lipgloss.Style { return lipgloss.NewStyle().PaddingRight(3) }
		for b.Loop() {
			t := table.New().Border(lipgloss.Border{}).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
				BorderColumn(false).BorderHeader(false).Wrap(false).StyleFunc(padded)
			for i := range l.Items {
				t.Row(l.Items[i].Cells...)
			}
			_, _ = io.WriteString(io.Discard, t.String())
		}
	})
}
