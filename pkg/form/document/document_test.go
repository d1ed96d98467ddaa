package document_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/form/document"
)

// TestSurrogates reads JSON escapes that YAML doesn't have.
func TestSurrogates(t *testing.T) {
	s := document.Parse("f", []byte(`{"a": "\ud83d\ude00 \\ud83d\\ude00 \u263a\n"}`))
	if len(s.Problems) > 0 {
		t.Fatal(s.Problems)
	}
	want := map[string]any{"a": "😀 \\ud83d\\ude00 ☺\n"}
	if diff := cmp.Diff(want, s.Documents[0].Plain()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// seeds adds all inputs in the testdata of form to a fuzz test.
func seeds(f *testing.F) {
	f.Helper()
	archives, err := filepath.Glob("../testdata/*/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatalf("no archives in testdata: %v", err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
}

// FuzzValue checks that a mapping reads as in kubectl.
func FuzzValue(f *testing.F) {
	seeds(f)
	for _, text := range []string{
		"a: 0123\nb: 0x1F\nc: 1_000\nd: 1e3\ne: 0o17\nf: 0b11\ng: 08\nh: 1.0\ni: -0\nj: +12\nk: .5\nl: 1e21\nm: 1.5e-7",
		"yes: no\non: off\n1e3: y\n0x10: n\n1.50: ~\n2024-01-01: 2024-01-01\ntrue: False",
		"a: &a {x: 1, y: 2}\nb: {x: 0, <<: *a, y: 3}\nc: {<<: [*a, {x: 5, z: 6}]}\nd: *a",
		"a: |\n  text\n\nb: >-\n  folded\n  text\nc: 'it''s'\nd: \"\\u263a\\n\"\ne: !!str 5\nf: !!int \"7\"\ng: !!float 1",
		"{\"a\": [1, 2.5, null, true, \"\\ud83d\\ude00\"], \"b\": {}}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := document.Parse("f", data)
		reference, err := yaml.YAMLToJSON(data)
		if len(s.Problems) > 0 || err != nil || len(s.Documents) != 1 || !bytes.HasPrefix(reference, []byte("{")) {
			return
		}
		if bytes.Contains(bytes.ReplaceAll(data, []byte("!!"), nil), []byte("!")) {
			return // perhaps the tag "!", which makes "! 5" a string: our parser drops it
		}
		got, err := json.Marshal(s.Documents[0].Plain())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(canonical(t, reference), canonical(t, got)); diff != "" {
			t.Errorf("not as kubectl reads it (-kubectl +got):\n%s", diff)
		}
	})
}

// canonical decodes JSON with the number types of Kubernetes.
func canonical(t *testing.T, data []byte) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return numbers(t, v)
}

func numbers(t *testing.T, v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			t.Fatal(err)
		}
		return f
	case []any:
		for i := range v {
			v[i] = numbers(t, v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbers(t, v[key])
		}
	}
	return v
}
