package phrase_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// TestShown: a message has 4 KiB of a value at most, whole characters, and says how much
// is left out.
func TestShown(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct{ value, want string }{
		{"", ""},
		{a(4096), a(4096)},
		{a(4097), a(4096) + "… (1 more bytes)"},
		{a(4095) + "é", a(4095) + "… (2 more bytes)"},
		{a(4093) + "😀b", a(4093) + "… (5 more bytes)"},
		{a(4094) + "ééé", a(4094) + "é… (4 more bytes)"},
		{strings.Repeat("\x80", 5000), strings.Repeat("\x80", 4092) + "… (908 more bytes)"},
	} {
		t.Run(c.value, func(t *testing.T) {
			if got := phrase.Shown(c.value); got != c.want {
				t.Errorf("%d bytes: ...%q, want ...%q", len(c.value), end(got), end(c.want))
			} else if utf8.ValidString(c.value) && !utf8.ValidString(got) {
				t.Errorf("%d bytes: a character is cut in two", len(c.value))
			}
		})
	}
	if got, want := phrase.Quote("a\n"+a(4096)), `"a\n`+a(4094)+`"… (2 more bytes)`; got != want {
		t.Errorf("...%q, want ...%q", end(got), end(want))
	}
	if got := phrase.Quote(`a"b`); got != `"a\"b"` {
		t.Error(got)
	}
}

func end(s string) string { return s[max(0, len(s)-40):] }
