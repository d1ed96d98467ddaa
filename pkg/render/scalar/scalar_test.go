package scalar

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

func TestStyleOf(t *testing.T) {
	quoted := []string{
		"", "~", "null", "Null", "NULL", "true", "True", "FALSE", "yes", "No", "on", "OFF", "y", "N",
		"0", "0123", "123", "-1", "+1", "1_000", "1e3", "1.5E-3", ".5", "5.", "0x1F", "0b101", "0o17", "0_", "+_0", "-_1", "0_x1F", "1_e3", "+0b_1", "0_:30", "+._5",
		"0o-0", "0b+1", "-0o-7", "0x+1f", "2024-1-1 1:1:1,5", "2024-1-1   1:1:1", "2024-01-01t1:1:1Z",
		"12:30", "12:30:45", "190:20:30.15", "-12:30", ".inf", "-.INF", "+.inf", ".NaN",
		"2024-01-01", "2024-1-1", "2024-01-01 12:00:00", "2024-01-01T12:00:00Z",
		"=", "<<", "-", "- a", "---", "--- a", "...", "?", "? a", ":", ": a", ":a",
		"a: b", "a:", "a #b", "#a", "&a", "*a", "!a", "|", ">", "'", "\"", "%a", "@a", "`a`",
		"[a]", "{a}", "{{ .x }}", ", a", " a", "a ", "a\t", "\ta", "a\tb", "a\x00b", "a\r\nb", "a\u0085b", "a\u2028b", "\ufeffa",
		" \n", "\n", "a\nb ", "a\nb\t", " a\n\n", "\n a", "  a\nb", "\ta\nb", "a\n \nb", "a\x1b\nb",
	}
	for _, s := range quoted {
		if got := StyleOf(s); got != Single && got != Double {
			t.Errorf("styleOf(%q) = %v, want quotes", s, got)
		}
	}
	plain := []string{
		"a", "abc-def", "nginx:1.25", "https://example.com:8443/a?b=c#d", "10.0.0.1", "1.2.3", "v1", "-x", "--flag=a", "a#b",
		"12ab", "0xZZ", "0b12", "1e", "1e3x", "12:60x", "100m", "5Gi", "250Mi", "2024-01-01-backup", "2024-01-01 backup", "0o-", "0b-2", "2024-01", "12:345", ".a", "..",
		"Yes!", "nope", "yesterday", "a:b", "*.example.com"[2:], "é", "日本", "😀", "a  b", "a,b", "a]b", "-.5x", "_1", "a=b", "==", "a'b",
	}
	for _, s := range plain {
		if got := StyleOf(s); got != Plain {
			t.Errorf("styleOf(%q) = %v, want plain", s, got)
		}
	}
	literal := []string{"a\nb", "a\nb\n", "a\nb\n\n", "\na", "a\n\tb", "a:\n  b: c\n", "a \nb", "a\n\n\nb"}
	for _, s := range literal {
		if got := StyleOf(s); got != Literal {
			t.Errorf("styleOf(%q) = %v, want literal", s, got)
		}
	}
}

func TestQuotes(t *testing.T) {
	for s, want := range map[string]string{
		`on`:          `"on"`,
		`{"a":1}`:     `'{"a":1}'`,
		`"it's"`:      `'"it''s"'`,
		"a\tb":        `"a\tb"`,
		"\x01\x7f\\":  `"\x01\x7F\\"`,
		"a\u0085\"é😀": `"a\u0085\"é😀"`,
		"\r\n":        `"\r\n"`,
	} {
		t.Run(s, func(t *testing.T) {
			if got := string(Append(nil, s, StyleOf(s), 0)); got != want {
				t.Errorf("%q is written %s, want %s", s, got, want)
			}
		})
	}
}

// readers are YAML libraries of two generations. The older one follows YAML 1.1. For
// goccy's, see TestGoccy.
func readers() map[string]func([]byte, any) error {
	return map[string]func([]byte, any) error{
		"kyaml":      func(b []byte, v any) error { return kyaml.Unmarshal(b, v) },
		"sigs (1.1)": func(b []byte, v any) error { return sigsyaml.Unmarshal(b, v) },
	}
}

// everywhere writes a string in each possible place of a manifest, and returns the
// expected values.
func everywhere(s string) (doc []byte, want map[string]any) {
	st := StyleOf(s)
	doc = append(doc, "k: "...)
	doc = Append(doc, s, st, 0)
	doc = append(doc, "\nl:\n- "...)
	doc = Append(doc, s, st, 0)
	doc = append(doc, "\n- - "...)
	doc = Append(doc, s, st, 2)
	doc = append(doc, "\nm:\n  sub:\n    a: "...)
	doc = Append(doc, s, st, 4)
	doc = append(doc, "\nz: end\n"...)
	return doc, map[string]any{
		"k": s, "l": []any{s, []any{s}}, "m": map[string]any{"sub": map[string]any{"a": s}}, "z": "end",
	}
}

// reads reads a document with a library.
func reads(t *testing.T, name string, read func([]byte, any) error, doc []byte, want map[string]any) {
	t.Helper()
	got := map[string]any{}
	if err := read(doc, &got); err != nil {
		t.Fatalf("%s does not read\n%s\n%v", name, doc, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s misreads\n%s\n%s", name, doc, diff)
	}
}

// FuzzScalar writes a string in each possible place of a manifest, and reads it back with
// several libraries.
func FuzzScalar(f *testing.F) {
	for _, s := range scalars() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // rows and forms have only UTF-8
		}
		doc, want := everywhere(s)
		key := append(AppendKey(nil, s), ": x\n"...)
		for name, read := range readers() {
			reads(t, name, read, doc, want)
			if len(key) <= MaxKey {
				reads(t, name, read, key, map[string]any{s: "x"})
			}
		}
	})
}

// FuzzKustomize compares lynqctl's checks with kustomize. kustomize reads a file, writes
// the object as JSON, and reads that as YAML (RNode, resWrangler).
func FuzzKustomize(f *testing.F) {
	for _, s := range append(scalars(), "a\x7f", "\u0080", "\u0085", "a\u0085b", "\u009f", "\u00a0", "\ufffd", "\ufffe", "\uffff", "\U0001fffe", "\x00", "\t\nx", "x\ny\u2029", "x\u2028", "\n\u2028", "\x03\ny\u2029", "a\tb\nc\u2029", "\ta\n\u2028", "a\r\nb\u2028") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // rows and forms have only UTF-8
		}
		doc, want := everywhere(s)
		got, lost := kustomized(doc)
		if _, refused := LostToKustomize(s); refused != (lost != nil || !cmp.Equal(want, got) || !endsLine(t, s)) {
			t.Errorf("%q: refused: %v, kustomize: %v\n%s", s, refused, lost, cmp.Diff(want, got))
		}
	})
}

// endsLine reports whether kustomize ends an object whose last value is s with a line
// break. Otherwise, the next object isn't a separate document.
func endsLine(t *testing.T, s string) bool {
	t.Helper()
	text, err := sigsyaml.Marshal(map[string]string{"k": s})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.HasSuffix(text, []byte{'\n'})
}

// kustomized returns kustomize's version of a document.
func kustomized(doc []byte) (map[string]any, error) {
	node, err := kyaml.Parse(string(doc))
	if err != nil {
		return nil, err
	}
	text, err := node.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if text, err = sigsyaml.JSONToYAML(text); err != nil {
		return nil, err
	}
	var got map[string]any
	err = sigsyaml.Unmarshal(text, &got)
	return got, err
}

// TestGoccy reads some strings with another family's library. No fuzzer uses it, because
// it misreads some plain YAML.
func TestGoccy(t *testing.T) {
	for _, s := range scalars() {
		doc, want := everywhere(s)
		reads(t, "goccy", yaml.Unmarshal, doc, want)
	}
}

func scalars() []string {
	return []string{
		"", "a", "on", "0123", "1e3", "null", "12:30", "~", "a ", "a\nb\n\n", "\n a", "a: b", "- a", "'", "\"\\", "é\u2028", "😀",
		"{{", "a\t\nb", "  a\n b", "1_0", "+_0", "0x", "<<", "=", "a\n#b\n", "---\na", "a\n---\nb", "a\n...\n", "\n\na", " a\n\n",
		"2024-01-01", "0o17", "0b1", "0o-0", "0b+1", "2024-1-1 1:1:1,5", ".inf", "y", "a\r\nb", "key: |\n  block\n", "{a: b}", "[x]", "%a", "@a", "`a`", "a #b", "#", "&a", "*a",
	}
}
