package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
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
		stream := ui.StreamTo(&out, ui.Stream{Terminal: true, Size: func() (int, int) { return columns, 24 }})
		if err := ui.PrintDetails(d, ui.Table, stream); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), out.String()); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", columns, diff)
		}
	}
}
