package list_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

func TestPrintDetails(t *testing.T) {
	for name, test := range map[string]struct {
		format tty.Format
		parts  bool
		want   string
	}{
		"table": {tty.Table, true, `
Node:      acme\x1b[2J
Message:   one; two

KIND                    NAME       NOTE
PersistentVolumeClaim   data       a note of some length
Secret                  web        -
Secret                  b\x1b[2J   Größe; \u202e
`},
		"wide": {tty.Wide, true, `
Node:      acme\x1b[2J
Message:   one; two

KIND                    NAME       NOTE                    UID
PersistentVolumeClaim   data       a note of some length   u-1
Secret                  web        -                       u-2
Secret                  b\x1b[2J   Größe; \u202e           u-3
`},
		"no parts": {tty.Table, false, `
Node:      acme\x1b[2J
Message:   one; two
`},
		"name": {tty.Name, true, `
PersistentVolumeClaim/shop/data
Secret/shop/web
b\x1b[2J
`},
		"json": {tty.JSON, true, `
{
  "name": "acme\u001b[2J",
  "count": 3
}
`},
		"yaml": {tty.YAML, true, `
count: 3
name: "acme\e[2J"
`},
	} {
		t.Run(name, func(t *testing.T) {
			d := &list.Details{
				Facts: []list.Fact{{"Node", "acme\x1b[2J"}, {"Form", ""}, {"Message", "one\ntwo"}},
				Data:  thing{Name: "acme\x1b[2J", Count: 3},
			}
			if test.parts {
				d.Parts = *things()
			}
			var out bytes.Buffer
			if err := list.PrintDetails(d, test.format, streamTo(&out, tty.Stream{})); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	err := list.PrintDetails(&list.Details{Facts: []list.Fact{{"Node", "acme"}}}, tty.Table, streamTo(closed{}, tty.Stream{}))
	if !errors.Is(err, errClosed) {
		t.Errorf("what could not be written is told as %v", err)
	}
}

// TestPrintAllDetails wants people to see several things in a row, and programs to get a
// list, whatever their number.
func TestPrintAllDetails(t *testing.T) {
	one := func(name string) *list.Details {
		return &list.Details{
			Facts: []list.Fact{{Name: "Node", Text: name}}, Data: map[string]string{"node": name},
			Parts: list.List{Columns: []list.Column{{Name: "NAME"}}, Items: []list.Item{{Cells: []string{"Secret/" + name}, Name: "Secret/" + name}}},
		}
	}
	both := []*list.Details{one("acme"), one("bolt")}
	for _, tt := range []struct {
		format tty.Format
		all    []*list.Details
		want   string
	}{
		{tty.Table, both, "Node:   acme\n\nNAME\nSecret/acme\n\n\nNode:   bolt\n\nNAME\nSecret/bolt\n"},
		{tty.Name, both, "Secret/acme\nSecret/bolt\n"},
		{tty.Table, nil, ""},
		{"jsonpath={.items[*].node}", both, "acme bolt"},
		{"jsonpath={.kind} {.items[*].node}", both[:1], "List acme"},
		{"custom-columns=NODE:.node", both, "NODE\nacme\nbolt\n"},
		{tty.JSON, nil, "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"List\",\n  \"items\": []\n}\n"},
	} {
		t.Run(string(tt.format), func(t *testing.T) {
			var out bytes.Buffer
			if err := list.PrintAllDetails(tt.all, tt.format, streamTo(&out, tty.Stream{})); err != nil || out.String() != tt.want {
				t.Errorf("%s of %d: %v, got\n%q\nwant\n%q", tt.format, len(tt.all), err, out.String(), tt.want)
			}
		})
	}
	if err := list.PrintAllDetails(both, tty.Table, streamTo(closed{}, tty.Stream{})); err == nil {
		t.Error("no error of a closed stream")
	}
}
