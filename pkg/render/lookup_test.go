package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// withLookups returns hubYAML with lookups.
func withLookups(lookups, rest string) string {
	return strings.Replace(hubYAML, "  extraValueMappings: {a: a, b: b}\n", "  extraValueMappings: {a: a, b: b}\n"+rest+"  lookups:\n"+indent(lookups, "  "), 1)
}

const sizes = `- {name: sizes, column: plan, values: {gold: {cpu: "2", ram: 4}, basic: {cpu: "1", ram: 1}}}`

// TestLookup renders values of lookups in each way that templates have.
func TestLookup(t *testing.T) {
	for template, want := range map[string]string{
		"{{ .sizes.cpu }}":                               "2",
		"{{ $.sizes.cpu | upper }}-{{ .uid }}":           "2-x",
		"{{ .sizes.ram | int }}":                         "4",
		`{{ index .sizes "cpu" }}`:                       "2",
		`{{ index . "sizes" "cpu" }}`:                    "2",
		"{{ with .sizes }}{{ .cpu }}{{ .ram }}{{ end }}": "24",
		`{{ if eq .sizes.cpu "2" }}{{ .a }}{{ end }}`:    "5",
		`{{ $s := .sizes }}{{ $s.ram }}`:                 "4",
		`{{ .sizes | toJson }}`:                          `{"cpu":"2","ram":"4"}`,
		`{{ range until 2 }}{{ $.sizes.cpu }}{{ end }}`:  "22",
	} {
		t.Run(template, func(t *testing.T) {
			programs := compileAll(t, load(t, withLookups(sizes, "")+configMap("v: "+single(template)+"\nw: x")), render.Options{})
			out, _, err := runAll(t, programs, []record{{"id": "x", "a": "5", "plan": "gold"}}, render.Settings{})
			if strings.Contains(template, "| int") {
				want = "4"
			}
			if err != nil || !strings.Contains(out, "v: "+want) && !strings.Contains(out, fmt.Sprintf("v: %q", want)) && !strings.Contains(out, "v: '"+want+"'") {
				t.Errorf("%s: %v\n%s", template, err, out)
			}
		})
	}
}

// TestLookupIsolated checks that a template that changes the fields of a lookup changes no
// other template and no other row.
func TestLookupIsolated(t *testing.T) {
	programs := compileAll(t, load(t, withLookups(sizes, "")+configMap(`v: '{{ $_ := set .sizes "cpu" "9" }}{{ .sizes.cpu }}'
w: '{{ if .uid }}{{ .sizes.cpu }}{{ end }}'`)), render.Options{})
	out, run, _ := runAll(t, programs, []record{{"id": "a1", "plan": "gold"}, {"id": "b1", "plan": "basic"}}, render.Settings{Workers: 1})
	for _, want := range []string{`w: "2"`, `w: "1"`} {
		t.Run(want, func(t *testing.T) {
			if err := run.Err(); err != nil || !strings.Contains(out, want) {
				t.Errorf("%v, want %s in\n%s", run.Err(), want, out)
			}
		})
	}
}

// TestLookupWithoutEntry checks that only rows without an entry fail, once, and that forms
// without the lookup don't need one.
func TestLookupWithoutEntry(t *testing.T) {
	text := withLookups(sizes, "")
	uses := configMap("v: '{{ .sizes.cpu }}'\nw: '{{ .sizes.ram | int }}-{{ .sizes.cpu }}'")
	rows := []record{{"id": "x1", "plan": "gold"}, {"id": "y1", "plan": "glod"}, {"id": "z1"}}
	out, run, _ := runAll(t, compileAll(t, load(t, text+uses), render.Options{}), rows, render.Settings{KeepGoing: true})
	want := `hub "crm", form "web": row "y1": lookup "sizes" has no entry for "glod" (column "plan") (did you mean "gold"? otherwise add an entry)
 hub "crm", form "web": row "z1": lookup "sizes" has no entry for "" (column "plan") (add an entry; it has basic, gold)`
	var got []string
	for line := range strings.SplitSeq(fmt.Sprint(run.Err()), "\n") {
		_, line, _ = strings.Cut(line, ":")
		_, line, _ = strings.Cut(line, ":")
		got = append(got, line)
	}
	if diff := cmp.Diff(" "+want, strings.Join(got, "\n")); diff != "" || !strings.Contains(out, "name: x1") || strings.Contains(out, "name: y1") {
		t.Errorf("%s\n%s", diff, out)
	}
	if _, run, _ := runAll(t, compileAll(t, load(t, text+configMap("v: '{{ .a }}'")), render.Options{}), rows, render.Settings{}); run.Err() != nil {
		t.Errorf("a form without the lookup: %v", run.Err())
	}
	hidden := withLookups(sizes, "  secretColumns: [plan]\n")
	_, run, _ = runAll(t, compileAll(t, load(t, hidden+uses), render.Options{}), rows, render.Settings{})
	if text := fmt.Sprint(run.Err()); strings.Contains(text, "glod") || strings.Contains(text, "gold") || !strings.Contains(text, "no entry for the row's value") {
		t.Errorf("a secret column: %s", text)
	}
}

// TestLookupTable checks that the run supplies the entries of tables, and that a program says
// which fields it reads.
func TestLookupTable(t *testing.T) {
	text := strings.Replace(withLookups("- {name: accounts, column: account, table: accounts, key: number}", ""), "{type: csv, csv: {path: rows.csv}}", "{type: sqlite, sqlite: {path: a.db, table: t}}", 1)
	programs := compileAll(t, load(t, text+configMap("v: '{{ .accounts.company }}-{{ .accounts.zone }}'")), render.Options{})
	l := programs[0].Hub.Lookups[0]
	if got := programs[0].TableFields(l); !cmp.Equal(got, []string{"company", "zone"}) {
		t.Errorf("fields %q", got)
	}
	tables := map[*form.Lookup]*form.Entries{l: {Fields: []string{"company", "other", "zone"}, Values: map[string][]string{"7": {"Acme", "no", "eu"}}}}
	out, _, err := runAll(t, programs, []record{{"id": "x", "account": "7"}}, render.Settings{Tables: tables})
	if err != nil || !strings.Contains(out, "v: Acme-eu") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLookupSecrets checks that fields of a lookup are as secret as columns.
func TestLookupSecrets(t *testing.T) {
	const secret = `- {name: sizes, column: plan, values: {gold: {cpu: "2", token: hunter2}}, secretColumns: [token]}`
	in := load(t, withLookups(secret, "")+configMap("v: '{{ .sizes.token }}'\nw: '{{ .sizes.cpu }}'"))
	p := compileAll(t, in, render.Options{})[0]
	if got := p.Exposed().Error(); !strings.Contains(got, "it shows the value of secret column sizes.token outside a Secret") || strings.Contains(got, "cpu") {
		t.Error(got)
	}
	want := []render.FieldColumns{
		{Path: []string{"data", "v"}, Columns: []string{"lookup sizes", "plan"}, Secret: true},
		{Path: []string{"data", "w"}, Columns: []string{"lookup sizes", "plan"}},
	}
	var got []render.FieldColumns
	for _, f := range p.Fields("r") {
		if f.Path[0] == "data" {
			got = append(got, f)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	name := strings.Replace(configMap("v: x"), "{{ .uid }}", "{{ .uid }}-{{ .sizes.token }}", 1)
	if got := problemsOf(t, withLookups(secret, "")+name, render.Options{}); !strings.Contains(got, "secret column sizes.token, and every output shows names") {
		t.Error(got)
	}
	if in.Hubs[0].HasSecrets() != true {
		t.Error("the hub has no secrets")
	}
}

// TestLookupDigests checks that entries change the digest of their lookup, and no template.
func TestLookupDigests(t *testing.T) {
	digests := func(entries string) (lookup, template string) {
		in := load(t, withLookups("- {name: sizes, column: plan, values: "+entries+", secretColumns: [token]}", "")+configMap("v: '{{ .sizes.cpu }}'"))
		return render.Digests(in.Hubs[0], nil)["sizes"], compileAll(t, in, render.Options{})[0].Digest()
	}
	lookup, template := digests("{gold: {cpu: 1, token: a}}")
	for entries, same := range map[string]bool{
		"{gold: {token: a, cpu: '1'}}":                          true,
		"{gold: {cpu: 1, token: b}}":                            true,
		"{gold: {cpu: 1, token: ''}}":                           false,
		"{gold: {cpu: 2, token: a}}":                            false,
		"{gold: {cpu: 1, token: a}, basic: {cpu: 1, token: a}}": false,
	} {
		t.Run(entries, func(t *testing.T) {
			l, p := digests(entries)
			if (l == lookup) != same || p != template {
				t.Errorf("%s: lookup %s, was %s; template %s, was %s", entries, l, lookup, p, template)
			}
		})
	}
}

// BenchmarkLookup renders 1000 rows with a lookup, and with a column in its place.
func BenchmarkLookup(b *testing.B) {
	rows := make([]record, 1000)
	for i := range rows {
		rows[i] = record{"id": fmt.Sprintf("t%04d", i), "a": "2", "plan": "gold"}
	}
	for name, text := range map[string]string{
		"lookup": withLookups(sizes, "") + configMap("v: '{{ .sizes.cpu }}'\nw: '{{ .uid }}-{{ .sizes.ram }}'"),
		"column": hubYAML + configMap("v: '{{ .a }}'\nw: '{{ .uid }}-{{ .a }}'"),
	} {
		b.Run(name, func(b *testing.B) {
			programs := compileAll(b, load(b, text), render.Options{})
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := runAll(b, programs, rows, render.Settings{Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
