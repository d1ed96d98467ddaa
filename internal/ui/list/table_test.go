package list_test

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

func TestFlow(t *testing.T) {
	d := &list.Details{
		Facts: []list.Fact{{"Node", "acme-web"}, {"Message", "it belongs to somebody else, who shall not be named here"}},
		Parts: list.List{
			Columns: []list.Column{{Name: "KIND", Flexible: true, Needed: true}, {Name: "NAME", Flexible: true}, {Name: "MESSAGE", Wrapped: true}},
			Items: []list.Item{
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
		stream := streamTo(&out, tty.Stream{Terminal: true, Size: func() (int, int) { return columns, 24 }})
		if err := list.PrintDetails(d, tty.Table, stream); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), out.String()); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", columns, diff)
		}
	}
}

// BenchmarkTable prints ten thousand rows, as a large site has. The table type of lipgloss
// takes more than half a second for that.
func BenchmarkTable(b *testing.B) {
	const rows = 10_000
	l := &list.List{Columns: []list.Column{
		{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "READY"}, {Name: "DESIRED"}, {Name: "FAILED"}, {Name: "SKIPPED"}, {Name: "CONFLICTED"},
		{Name: "CONDITION", Toned: true}, {Name: "AGE"},
	}}
	for i := range rows {
		l.Items = append(l.Items, list.Item{Cells: []string{"shop", "tenant-" + strconv.Itoa(i) + "-web", "12", "12", "0", "0", "0", "Ready", "3d"}, Tone: tty.Good})
	}
	b.Run("list", func(b *testing.B) {
		out := streamTo(io.Discard, tty.Stream{Color: true})
		for b.Loop() {
			if err := list.Print(l, tty.Table, out, tty.Stream{}); err != nil {
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
