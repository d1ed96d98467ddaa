package tty

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a text without anything that a terminal acts on, or that changes the
// direction of writing. It writes unprintable characters as escapes of Go strings. Line
// ends and tabs stay. A Stream applies Text to everything that is written to it.
func Text(s string) string {
	if Printable(s, structure) {
		return s
	}
	return Escaped(strings.ReplaceAll(s, "\r\n", "\n"), structure)
}

// structure has the control characters that structure a text.
const structure = "\n\t"

// Safe works like Text, and also turns line breaks into "; ". Cells, names and messages in
// lines go through Safe, so that none can begin a new line.
func Safe(s string) string {
	if Printable(s, "") {
		return s
	}
	lines := strings.Split(strings.Trim(s, " \t\r\n"), "\n")
	for i, line := range lines {
		lines[i] = Escaped(strings.TrimRight(line, "\r"), "")
	}
	return strings.Join(lines, "; ")
}

// Printable reports whether all characters of a text are printable or in kept.
func Printable(s, kept string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !prints(r) && !strings.ContainsRune(kept, r) {
			return false
		}
	}
	return true
}

// prints works like unicode.IsPrint, and accepts blanks of other widths.
func prints(r rune) bool {
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

// Escaped writes each unprintable character as an escape, except those in kept.
func Escaped(s, kept string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(escapeByte(s[0]))
		case prints(r), strings.ContainsRune(kept, r):
			b.WriteString(s[:size])
		case r < utf8.RuneSelf:
			b.WriteString(escapeByte(s[0]))
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

func escapeByte(c byte) string {
	switch c {
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\x%02x`, c)
}

// SafeJSON writes unprintable characters as JSON escapes, which mean the same. Valid JSON
// has such characters only in strings.
func SafeJSON(line []byte) []byte {
	if Printable(string(line), "") {
		return line
	}
	out := make([]byte, 0, len(line)+16)
	for _, r := range string(line) {
		switch {
		case prints(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
