package render_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	goccy "github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// propertyHub maps id, active, a and b.
func propertyHub() *form.Hub {
	return &form.Hub{Name: "crm", Mappings: []form.Mapping{
		{Variable: "a", Column: "a"}, {Variable: "activate", Column: "active"},
		{Variable: "b", Column: "b"}, {Variable: "uid", Column: "id"},
	}}
}

// propertyForm returns a form with one custom resource, which has the given spec.
func propertyForm(spec *document.Value) *form.Form {
	text := func(s string) *document.Value { return &document.Value{Kind: document.String, Str: s} }
	whole := &document.Value{Kind: document.Map, Fields: []document.Field{
		{Key: "apiVersion", Value: text("example.com/v1")}, {Key: "kind", Value: text("Thing")},
		{Key: "spec", Value: spec},
	}}
	return &form.Form{Name: "f", HubID: "crm", Resources: []*form.Resource{{
		ID: "r", APIVersion: "example.com/v1", Kind: "Thing", Section: "manifests",
		NameTemplate: form.Text{Text: "thing"}, Manifest: whole, Policy: lynq.DefaultPolicy(),
	}}}
}

// agree renders a row as bytes and as an object, and reads the bytes with several YAML
// libraries. All results must be equal. A form or row that fails must fail in both ways.
func agree(t *testing.T, f *form.Form, row record, read readers) {
	t.Helper()
	hub := propertyHub()
	p, problems := render.Compile(f, hub, render.Options{})
	if len(problems) > 0 {
		return
	}
	node, problems := p.Node(row.row(hub, 1))
	out, run, err := runAll(t, []*render.Program{p}, []record{row}, render.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) > 0 {
		if run.Err() == nil || out != "" {
			t.Fatalf("the object fails (%v), the bytes do not:\n%s", problems, out)
		}
		return
	}
	content := contentOf(t, node, 0)
	want, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	built, _, err := runAll(t, []*render.Program{p}, []record{row}, render.Settings{Format: render.JSON})
	if err != nil {
		t.Fatal(err)
	}
	if want, err := p.Built(row.row(hub, 1)); err != nil || built != want {
		t.Fatalf("the line is\n%s\nthe value is\n%s: %v", built, want, err)
	}
	if body, err := encodedAgain([]byte(built)); err != nil || string(body) != string(node.Objects[0].Body) {
		t.Fatalf("the body is\n%s\nthe value is\n%s: %v", node.Objects[0].Body, body, err)
	}
	got, err := sigsyaml.YAMLToJSON([]byte(out))
	if err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if string(got) != string(want) {
		t.Fatalf("sigs.k8s.io/yaml reads\n%s\nas\n%s\nthe object is\n%s", out, got, want)
	}
	for name, unmarshal := range read {
		var got, object any
		if err := unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, out)
		}
		if err := json.Unmarshal(want, &object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(object, asJSON(t, got)); diff != "" {
			t.Fatalf("%s reads\n%s\notherwise: %s", name, out, diff)
		}
	}
}

// contentOf decodes the manifest of a node's object.
func contentOf(t *testing.T, n *lynq.Node, i int) map[string]any {
	t.Helper()
	content, err := n.Objects[i].Body.Content()
	if err != nil {
		t.Fatalf("%v in\n%s", err, n.Objects[i].Body)
	}
	return content
}

// encodedAgain returns the body of a JSON value.
func encodedAgain(text []byte) (manifest.Body, error) {
	content, err := manifest.Body(text).Content()
	if err != nil {
		return nil, err
	}
	return manifest.Encode(content)
}

// readers are YAML libraries other than sigs.k8s.io/yaml, which follows YAML 1.1. Fuzzing
// excludes goccy's, because it misreads some plain YAML, such as keys like 0<<.
type readers map[string]func([]byte, any) error

func kyamlReader() readers {
	return readers{"kyaml": func(b []byte, v any) error { return kyaml.Unmarshal(b, v) }}
}

func allReaders() readers {
	all := kyamlReader()
	all["goccy/go-yaml"] = goccy.Unmarshal
	return all
}

func asJSON(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWriterEqualsBuilder compares bytes and objects of random manifests.
func TestWriterEqualsBuilder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		f := propertyForm(randomMap(r, 0))
		agree(t, f, record{"id": "x", "a": randomString(r), "b": fmt.Sprint(r.IntN(1000))}, allReaders())
	}
}

// TestWords does the same with words as values. Fixed text around them can make numbers or
// dates.
func TestWords(t *testing.T) {
	words := []string{
		"a", "acme", "1", "12", "05", "1e3", "0x1F", "on", "yes", "n", "null", "a-b", "2024-01-01", "12:30", "1.5", "nan", "inf",
		"01-02", "e5", "x1", "o7", "Z", "T10", "https://a.example", "a@b", "a_b", "A.B", "f", "al", "se", "tr", "ue", "e",
	}
	fixed := []string{"", "-", "x", "0x", "0", ".", ":", "e", "T", " ", "2024-01-", ":30", "_", "n", "tru", "y", "-app", "/", "+", "~", "=", "Z", "fals", "o", ": ", "a #b", "\n", "- "}
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	for range 250 {
		spec := &document.Value{Kind: document.Map}
		for i := range 40 {
			text := pick(fixed) + "{{ .a }}" + pick(fixed)
			if r.IntN(2) == 0 {
				text += "{{ .b }}" + pick(fixed)
			}
			spec.Fields = append(spec.Fields, document.Field{Key: fmt.Sprint("k", i), Value: &document.Value{Kind: document.String, Str: text}})
		}
		agree(t, propertyForm(spec), record{"id": "x", "a": pick(words), "b": pick(words)}, allReaders())
	}
}

// TestNamesOfWords checks that lynqctl accepts a name or label exactly if Kubernetes does,
// for any parts.
func TestNamesOfWords(t *testing.T) {
	pieces := []string{"a", "acme", "A", "-", ".", "_", "1", "x-", "-x", ".x", "", " ", strings.Repeat("x", 30), "/", "a.b", "a-b", "é"}
	r := rand.New(rand.NewPCG(5, 6))
	pick := func() string { return pieces[r.IntN(len(pieces))] }
	compiled := 0
	for range 2000 {
		before, after, value := pick(), pick(), pick()+pick()+pick()
		f := propertyForm(&document.Value{Kind: document.Map})
		f.Resources[0].NameTemplate.Text = before + "{{ .a }}" + after
		f.Resources[0].Labels = []form.Entry{{Key: "l", Text: form.Text{Text: before + "{{ .b }}" + after}}}
		p, problems := render.Compile(f, propertyHub(), render.Options{})
		if len(problems) > 0 {
			continue // no row can make this a name
		}
		compiled++
		for _, c := range []struct {
			row  record
			good bool
		}{
			{record{"id": "x", "a": value, "b": "w"}, len(validation.IsDNS1123Subdomain(strings.TrimSpace(before+value+after))) == 0 && len(validation.IsValidLabelValue(before+"w"+after)) == 0},
			{record{"id": "x", "a": "w", "b": value}, len(validation.IsDNS1123Subdomain(strings.TrimSpace(before+"w"+after))) == 0 && len(validation.IsValidLabelValue(before+value+after)) == 0},
		} {
			if _, problems := p.Node(c.row.row(p.Hub, 1)); (len(problems) == 0) != c.good {
				t.Fatalf("%q %q %v: %v", before, after, c.row, problems)
			}
		}
	}
	if compiled < 500 {
		t.Fatalf("only %d forms compile", compiled)
	}
}

func randomValue(r *rand.Rand, depth int) *document.Value {
	switch n := r.IntN(12); {
	case n < 2 && depth < 5:
		return randomMap(r, depth+1)
	case n < 4 && depth < 5:
		v := &document.Value{Kind: document.List}
		for range r.IntN(4) {
			v.Items = append(v.Items, randomValue(r, depth+1))
		}
		return v
	case n == 4:
		return &document.Value{Kind: document.Int, Int: r.Int64() >> r.IntN(64) * int64(1-2*r.IntN(2))}
	case n == 5:
		return &document.Value{Kind: document.Float, Float: []float64{0.5, 1, -2.25, 1e-9, 1e21, 123456.789}[r.IntN(6)]}
	case n == 6:
		return &document.Value{Kind: document.Bool, Bool: r.IntN(2) == 0}
	case n == 7:
		return &document.Value{Kind: document.Null}
	}
	return &document.Value{Kind: document.String, Str: randomTemplate(r)}
}

func randomMap(r *rand.Rand, depth int) *document.Value {
	v := &document.Value{Kind: document.Map}
	keys := map[string]bool{}
	for range r.IntN(5) {
		key := strings.ReplaceAll(randomString(r), "<<", "")
		if key != "" && !keys[key] {
			keys[key] = true
			v.Fields = append(v.Fields, document.Field{Key: key, Value: randomValue(r, depth+1)})
		}
	}
	return v
}

func randomTemplate(r *rand.Rand) string {
	return []string{
		"{{ .a }}", "{{ .b | int }}", "{{ .b | float }}", "{{ .a }}-{{ .b }}", "x: {{ .a }}", "{{ .a | upper }}",
		"line\n{{ .a }}\n", "{{ gt (.b | int) 500 | bool }}", randomString(r), randomString(r),
	}[r.IntN(10)]
}

func randomString(r *rand.Rand) string {
	words := []string{
		"", "a", "on", "1", "0x1F", "1e3", "12:30", "~", "null", " ", "\n", "- ", ": ", " #", "'", `"`, `\`, "é", "😀", "\t",
		"{", "}", "[", "&", "*", "!", "|", ">", "%", "@", "-", "?", ".", "2024-01-01", "text", "a b", "\x01", "\u2028", "=", "\r",
	}
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// FuzzTemplate compiles any template, and renders any values with it. It must not panic,
// and bytes and object must agree.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"{{ .a }}", "{{ .a | int }}", "{{ .a | fromJson }}", "{{ range fromJson .a }}{{ . }}{{ end }}", "{{ $x := .a }}{{ $x }}",
		"{{ define \"x\" }}{{ . }}{{ end }}{{ template \"x\" . }}", "{{ .a | quote }}", "{{- .a -}} x", "{{ printf \"%s-%d\" .a 3 | trunc63 }}",
		"{{ if eq .a .b }}x{{ else }}y{{ end }}", "{{ .a.b }}", "{{ /* c */ }}", "{{ .a", "a: {{ .b | bool }}", "{{ with .a }}{{ .b }}{{ end }}",
		"{{ index .a 0 }}", "{{ . | toJson }}", "{{ set . \"a\" 1 }}", "{{ (dict \"a\" 1).a }}", "{{ break }}", "{{ template \"template\" . }}",
		"{{ .a | default \"x\" | upper | trunc63 }}", "{{ lower .a }}", "{{ .b | default \"1\" | int }}", "{{ .a | toHost | sha1sum }}",
	} {
		f.Add(s, "text", "5")
		f.Add(s, `{"k": [1, "x"]}`, "on")
	}
	f.Add(" 0\n\n", "", "")
	huge := regexp.MustCompile(`[0-9_]{4,}|0[xob]|[0-9][eEpP]|range|template|repeat|seq|until|indent|wrap`)
	f.Fuzz(func(t *testing.T, template, a, b string) {
		if !utf8.ValidString(template) || !utf8.ValidString(a) || !utf8.ValidString(b) {
			return // sources and forms have only UTF-8
		}
		if huge.MatchString(template) && strings.Count(template, "{{") > 0 && len(huge.FindAllString(template, -1)) > 1 {
			return // a template may need more memory than exists, as in any engine
		}
		if strings.Contains(template, `template "template"`) {
			return // a template may call itself without end, and the engine only limits the depth
		}
		spec := &document.Value{Kind: document.Map, Fields: []document.Field{
			{Key: "v", Value: &document.Value{Kind: document.String, Str: template}},
			{Key: "l", Value: &document.Value{Kind: document.List, Items: []*document.Value{{Kind: document.String, Str: template}}}},
		}}
		agree(t, propertyForm(spec), record{"id": "x", "a": a, "b": b}, kyamlReader())
	})
}
