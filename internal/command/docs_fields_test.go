package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// TestDocsFields wants each field of hubs and forms to have a row in the docs, with its default.
// With -update, it adds missing rows.
func TestDocsFields(t *testing.T) {
	below := func(from form.Field, path ...string) form.Field {
		for _, name := range path {
			i := slices.IndexFunc(from.Fields, func(f form.Field) bool { return f.Name == name })
			if i < 0 {
				t.Fatalf("%s has no field %s", from.Name, name)
			}
			from = from.Fields[i]
		}
		return from
	}
	hub, set := form.FieldsOf(wellknown.KindHub), form.FieldsOf(wellknown.KindForm)
	for _, table := range []struct {
		page, heading, prefix string
		of                    form.Field
	}{
		{"forms.md", "## LynqHub", "spec.", below(hub, "spec")},
		{"forms.md", "## LynqForm", "spec.", below(set, "spec")},
		{"forms.md", "### Resource fields", "", below(set, "spec", "deployments")},
		{"forms.md", "### Charts", "", below(set, "spec", "charts")},
		{"http.md", "## Fields", "", below(hub, "spec", "source", string(endpoint.SourceHTTP))},
	} {
		t.Run(table.page, func(t *testing.T) {
			path := filepath.Join(sourceTree, "docs", table.page)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before, rest, found := strings.Cut(string(content), "\n"+table.heading+"\n")
			const head = "\n| field | default | meaning |\n|---|---|---|\n"
			between, rest, is := strings.Cut(rest, head)
			rows, after, _ := strings.Cut(rest, "\n\n")
			if !found || !is {
				t.Fatalf("%s has no table of fields below %q", path, table.heading)
			}
			d := docsTable{t, string(content), strings.Split(rows, "\n"), nil}
			d.wants(table.prefix, table.of.Fields)
			if len(d.missing) == 0 {
				return
			}
			t.Errorf("%s, %q lacks %s", path, table.heading, strings.Join(d.missing, "\n"))
			if *update {
				page := before + "\n" + table.heading + "\n" + between + head + strings.Join(append(d.rows, d.missing...), "\n") + "\n\n" + after
				if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// docsTable is a table of fields in a page.
type docsTable struct {
	t       *testing.T
	page    string
	rows    []string
	missing []string // rows that it lacks
}

// wants collects the rows that fields lack. An object without a row has rows for its fields.
func (d *docsTable) wants(prefix string, fields []form.Field) {
	for _, f := range fields {
		row := d.row(prefix, f.Name)
		switch {
		case row != nil:
			if f.Required && !strings.Contains(row[1], "required") || f.Default != "" && !strings.Contains(row[1], "`"+f.Default+"`") {
				d.t.Errorf("the default of %s%s is %q, or else it is required: %v", prefix, f.Name, f.Default, f.Required)
			}
			for _, below := range f.Fields {
				if f.Shared == "" && !regexp.MustCompile(`\b`+regexp.QuoteMeta(below.Name)+`\b`).MatchString(d.page) {
					d.t.Errorf("the page lacks %s of %s%s", below.Name, prefix, f.Name)
				}
			}
		case f.Shared != "" && strings.Contains(d.page, "`"+f.Name+"`"): // a section, or a type of source
		case f.Fields != nil && f.Type != form.ListField:
			d.wants(prefix+f.Name+".", f.Fields)
		default:
			value := ""
			switch {
			case f.Required:
				value = "required "
			case f.Default != "":
				value = "`" + f.Default + "` "
			}
			d.missing = append(d.missing, fmt.Sprintf("| `%s%s` | %s| %s |", prefix, f.Name, value, strings.ReplaceAll(f.Doc, "|", `\|`)))
		}
	}
}

// row returns the cells of a field's row. A row may have several fields, and names their
// place once.
func (d *docsTable) row(prefix, name string) []string {
	for _, row := range d.rows {
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1)
		for _, n := range names {
			if n[1] == prefix+name || n[1] == name && strings.HasPrefix(names[0][1], prefix) {
				return cells
			}
		}
	}
	return nil
}
