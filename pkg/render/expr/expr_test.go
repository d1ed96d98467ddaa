package expr_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
)

// newCompiler returns a compiler for rows with a uid, a and a URL.
func newCompiler() *expr.Compiler {
	return expr.NewCompiler(&expr.Scope{
		Columns:   map[string]int{"uid": 0, "a": 1, "host": expr.HostColumn},
		Constants: map[string]string{"hubId": "crm"},
		UID:       0, HostOrURL: 2,
	})
}

// add adds a valid string.
func add(t *testing.T, c *expr.Compiler, text string) int {
	t.Helper()
	e, findings := c.Compile(text, false)
	if len(findings) > 0 {
		t.Fatalf("%s: %v", text, findings)
	}
	return c.Add(e)
}

// evaluator returns an evaluator for a finished compiler's set. It names every node
// asked-for, so that tests notice the call.
func evaluator(c *expr.Compiler, check func([]byte) error) *expr.Evaluator {
	c.Finish()
	return expr.NewEvaluator(c.Set(), expr.Node{Name: func() string { return "asked-for" }}, check)
}

// TestEvaluator checks that all ways to evaluate a string give the same text, for words
// and other values.
func TestEvaluator(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"{{ .a }}":              {"word", "two: words"},
		"{{ .uid }}-{{ .a }}":   {"acme-word", "acme-two: words"},
		"{{ .a | upper }}":      {"WORD", "TWO: WORDS"},
		"{{ .hubId }}/{{ .a }}": {"crm/word", "crm/two: words"},
		"{{ .host }}":           {"acme.example.com", "acme.example.com"},
		"{{ if .a }}{{ printf \"%s\" .a }}{{ end }}": {"word", "two: words"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()

			c := newCompiler()
			i := add(t, c, text)
			ev := evaluator(c, nil)
			for n, a := range []string{"word", "two: words"} {
				ev.Load(lynq.Row{Values: []string{"acme", a, "https://acme.example.com/x"}})
				if err := ev.Run(i); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				got := []string{string(ev.Bytes(i)), ev.TextOf(i), string(ev.Append(nil, i))}
				if diff := cmp.Diff([]string{want[n], want[n], want[n]}, got); diff != "" || ev.Len(i) != len(want[n]) {
					t.Errorf("%s of %q, length %d: %s", text, a, ev.Len(i), diff)
				}
			}
		})
	}
}

// TestTyped checks that a string that ends with int, float or bool gives a typed value, or
// an error that can hide its value.
func TestTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{"{{ .a | int }}": int64(1), "{{ .a | bool }}": true, "{{ printf `%s` .a | int }}": int64(1)} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()

			c := newCompiler()
			i := add(t, c, text)
			ev := evaluator(c, nil)
			ev.Load(lynq.Row{Values: []string{"acme", "1", ""}})
			if err := ev.Run(i); err != nil || ev.Typed(i) != want {
				t.Errorf("%s is %v (%T), %v", text, ev.Typed(i), ev.Typed(i), err)
			}
			ev.Load(lynq.Row{Values: []string{"acme", "hunter2", ""}})
			err := ev.Run(i)
			if err == nil || ev.Len(i) != 0 {
				t.Fatalf("%s of a word is %q", text, ev.Bytes(i))
			}
			if reason := expr.Reason(err, true); strings.Contains(reason, "hunter2") || reason == "" {
				t.Errorf("%s: the reason is %q", text, reason)
			}
		})
	}
}

// TestFindings checks errors that show without any row.
func TestFindings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{{ .b }}":             "variable .b is unknown",
		"{{ .a.b }}":           ".a is text and has no field b",
		"{{ uper .a }}":        "function uper does not exist",
		"{{ .a ":               "unclosed action",
		"{{ uuidv4 }}":         "function uuidv4 returns a new value every time, so that every run would change the object",
		"{{ template \"x\" }}": "template \"x\" is not defined",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()

			_, findings := newCompiler().Compile(text, false)
			if len(findings) != 1 || findings[0].What != want {
				t.Errorf("%s: %v", text, findings)
			}
		})
	}
}

// TestSet checks facts about a string without any row.
func TestSet(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		injective bool
		columns   []int
		sample    string
		pieces    lynq.Text
	}{
		"{{ .uid }}-x":            {true, []int{0}, "w-x", lynq.Text{{UID: true}, {Fixed: "-x"}}},
		"{{ .uid | upper }}":      {false, []int{0}, "w", lynq.Text{{Any: true}}},
		"{{ .a }}{{ .host }}":     {false, []int{1, 2}, "ww", lynq.Text{{Any: true}, {Any: true}}},
		"x{{ if .a }}y{{ end }}z": {false, []int{1}, "", lynq.Text{{Fixed: "x"}, {Any: true}, {Fixed: "z"}}},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()

			c := newCompiler()
			i := add(t, c, text)
			s := c.Set()
			if s.Injective(i) != want.injective || s.At(i).Sample() != want.sample {
				t.Errorf("%s: injective %v, sample %q", text, s.Injective(i), s.At(i).Sample())
			}
			if diff := cmp.Diff(want.columns, s.Columns(i)); diff != "" {
				t.Errorf("%s: columns %s", text, diff)
			}
			if diff := cmp.Diff(want.pieces, s.Pieces(i)); diff != "" {
				t.Errorf("%s: pieces %s", text, diff)
			}
		})
	}
}

// TestCheck checks that a refused result is empty, whatever the length of its parts.
func TestCheck(t *testing.T) {
	t.Parallel()
	errOdd := errors.New("odd")
	c := newCompiler()
	i := add(t, c, "{{ .uid }}: {{ .a }}")
	ev := evaluator(c, func(text []byte) error {
		if bytes.Contains(text, []byte("odd")) {
			return errOdd
		}
		return nil
	})
	for a, want := range map[string]string{"even": "acme: even", "odd": ""} {
		ev.Load(lynq.Row{Values: []string{"acme", a, ""}})
		if err := ev.Run(i); (want == "") != errors.Is(err, errOdd) || ev.TextOf(i) != want {
			t.Errorf("%s: %q, %v", a, ev.TextOf(i), err)
		}
	}
}

// TestNodeName checks that the evaluator asks for the node's name only if the uid isn't a
// valid name.
func TestNodeName(t *testing.T) {
	t.Parallel()
	c := newCompiler()
	i := c.Add(c.OfNode("web"))
	ev := evaluator(c, nil)
	for uid, want := range map[string]string{"acme": "acme-web", "Acme": "asked-for", strings.Repeat("a", 60): "asked-for"} {
		ev.Load(lynq.Row{Values: []string{uid, "", ""}})
		if err := ev.Run(i); err != nil || ev.TextOf(i) != want {
			t.Errorf("%s: %s, %v", uid, ev.TextOf(i), err)
		}
	}
}
