package markdown_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/markdown"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"a  b\nc":           "a b c",
		"<b>*x*</b> @me #1": `&lt;b&gt;\*x\*&lt;/b&gt; &#64;me &#35;1`,
		"a|b `c` [d](e)":    "a\\|b \\`c\\` \\[d\\](e)",
		"x\x1b[2J\u202e":    "x\ufffd\\[2J\ufffd",
	} {
		t.Run(in, func(t *testing.T) {
			if got := markdown.Text(in); got != want {
				t.Errorf("%q: %q, want %q", in, got, want)
			}
		})
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"a_b":     "`a_b`",
		"a`b":     "`` a`b ``",
		"``":      "``` `` ```",
		"a\x00\n": "`a\ufffd`",
	} {
		t.Run(in, func(t *testing.T) {
			if got := markdown.Code(in); got != want {
				t.Errorf("%q: %q, want %q", in, got, want)
			}
		})
	}
	if got := markdown.Cell("a|b"); got != "`a\\|b`" {
		t.Errorf("in a table: %q", got)
	}
	if got := markdown.Fence("x ``` y"); got != "````" {
		t.Errorf("a block: %q", got)
	}
}

// TestLines wants a count of the lines that don't fit.
func TestLines(t *testing.T) {
	var c markdown.Comment
	c.Lines([]string{"one\n", "two\n", "three\n", "four\n"}, len("one\ntwo\n"), "... and %s\n", "more line")
	if got, want := c.String(), "one\ntwo\n... and 2 more lines\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
