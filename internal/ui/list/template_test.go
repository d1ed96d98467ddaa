package list_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// sized is an item for tests of sorting.
type sized struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Size  string `json:"size,omitempty"`
}

func sizes() *list.List {
	l := &list.List{Columns: []list.Column{{Name: "NAME"}, {Name: "SIZE"}}, Empty: "No sizes"}
	for _, s := range []sized{{"b", 9, "2Gi"}, {"c", 10, "100Mi"}, {"a", 1, ""}} {
		l.Items = append(l.Items, list.Item{Cells: []string{s.Name, s.Size}, Name: s.Name, Data: s})
	}
	return l
}

func TestPrintByTemplate(t *testing.T) {
	for name, test := range map[string]struct {
		format    tty.Format
		sortBy    string
		noHeaders bool
		want      string
	}{
		"jsonpath":                 {`jsonpath={.kind} {range .items[*]}{.name}={.size};{end}`, "", false, "List b=2Gi;c=100Mi;a=;"},
		"go-template":              {`go-template={{range .items}}{{.name}} {{end}}`, "", false, "b c a "},
		"custom-columns":           {"custom-columns=N:.name,S:{.size},C:count", "", false, "N   S        C\nb   2Gi      9\nc   100Mi    10\na   <none>   1\n"},
		"custom-columns alone":     {"custom-columns=N:.name,S:.size", "", true, "b   2Gi\nc   100Mi\na   <none>\n"},
		"table without its head":   {tty.Table, "", true, "b   2Gi\nc   100Mi\na   -\n"},
		"by text":                  {tty.Name, ".name", false, "a\nb\nc\n"},
		"by a number":              {tty.Name, "{.count}", false, "a\nb\nc\n"},
		"by a size, none first":    {tty.Name, "size", false, "a\nc\nb\n"},
		"sorted before it is JSON": {`jsonpath={.items[*].name}`, ".name", false, "a b c"},
	} {
		t.Run(name, func(t *testing.T) {
			l := sizes()
			l.SortBy, l.NoHeaders = test.sortBy, test.noHeaders
			got, _ := printed(t, l, test.format, 0, false)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTemplatesPrintWhatPrints wants templates to escape text from a cluster on a terminal.
// Programs get it unchanged.
func TestTemplatesPrintWhatPrints(t *testing.T) {
	for _, format := range []tty.Format{"jsonpath={.items[2].name}", "go-template={{(index .items 2).name}}", "custom-columns=N:.name"} {
		t.Run(string(format), func(t *testing.T) {
			if got, _ := printed(t, things(), format, 80, false); !strings.Contains(got, `b\x1b[2J`) || strings.Contains(got, "\x1b") {
				t.Errorf("-o %s on a terminal: %q", format, got)
			}
			if got, _ := printed(t, things(), format, 0, false); !strings.Contains(got, "b\x1b[2J") {
				t.Errorf("-o %s to a program: %q", format, got)
			}
		})
	}
}

// TestEmptyListByTemplate wants the text for an empty list only in formats for people.
func TestEmptyListByTemplate(t *testing.T) {
	for format, want := range map[tty.Format]string{"jsonpath={.items[*].name}": "", "custom-columns=N:.name": "", tty.Table: "No sizes\n"} {
		t.Run(string(format), func(t *testing.T) {
			l := sizes()
			l.Items = nil
			if out, err := printed(t, l, format, 0, false); out != "" || err != want {
				t.Errorf("-o %s: %q, %q", format, out, err)
			}
		})
	}
}

// TestPrintDetailsByTemplate wants templates to see details as one object.
func TestPrintDetailsByTemplate(t *testing.T) {
	d := &list.Details{Data: sized{"a", 1, "2Gi"}}
	for format, want := range map[tty.Format]string{"jsonpath={.size}": "2Gi", "custom-columns=N:.name,C:.count": "N   C\na   1\n"} {
		t.Run(string(format), func(t *testing.T) {
			var out bytes.Buffer
			if err := list.PrintDetails(d, format, streamTo(&out, tty.Stream{})); err != nil || out.String() != want {
				t.Errorf("-o %s: %q, %v", format, out.String(), err)
			}
		})
	}
}

func TestCheckFormat(t *testing.T) {
	for _, f := range append(list.Formats(), "jsonpath={.a}", "go-template={{.a}}", "custom-columns=A:.a,B:b") {
		if err := list.CheckFormat(f); err != nil {
			t.Error(err)
		}
	}
	for f, want := range map[tty.Format]string{
		"xml":                  `-o "xml" is unknown; it takes table, wide, json, `,
		"table=x":              `-o "table=x" is unknown; it takes table, `,
		"jsonpath":             "there is no template (-o jsonpath=...)",
		"jsonpath=":            "the template is empty",
		"jsonpath={.a":         "unclosed action",
		"go-template={{.a":     "unclosed action",
		"custom-columns=A":     `"A" is no NAME:PATH`,
		"custom-columns=A:{[}": `"{[}" is no path: `,
	} {
		t.Run(string(f), func(t *testing.T) {
			if err := list.CheckFormat(f); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("-o %s: %v, want %s", f, err, want)
			}
		})
	}
}

func TestSortByUnknownField(t *testing.T) {
	if err := list.CheckSort("{[}"); err == nil || !strings.Contains(err.Error(), "--sort-by: ") {
		t.Error(err)
	}
	l := sizes()
	l.SortBy = ".nope"
	err := list.Print(l, tty.Table, streamTo(&bytes.Buffer{}, tty.Stream{}), streamTo(&bytes.Buffer{}, tty.Stream{}))
	if err == nil || !strings.Contains(err.Error(), "nothing in the list has a field .nope") {
		t.Error(err)
	}
}
