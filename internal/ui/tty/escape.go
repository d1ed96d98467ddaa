package tty

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is text in which nothing is left that a terminal acts on, or that turns the
// direction of writing: what does not print is written as Go would write it in a
// string. Line ends and tabs stay. A Stream does this to all that is written to it.
func Text(s string) string {
	if Printable(s, structure) {
		return s
	}
	return Escaped(strings.ReplaceAll(s, "\r\n", "\n"), structure)
}

// structure are the control characters that are the form of a text.
const structure = "\n\t"

// Safe is Text in one line: line breaks become "; ". Cells of tables, names and messages
// that have a line of their own are made with it, so that none can begin another.
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

// Printable tells whether all of a text prints, or is one of the kept characters.
func Printable(s, kept string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !prints(r) && !strings.ContainsRune(kept, r) {
			return false
		}
	}
	return true
}

// prints is unicode.IsPrint, and blanks of other widths.
func prints(r rune) bool {
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

// Escaped writes each character that does not print as an escape, except the kept ones.
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

// SafeJSON writes what does not print as JSON escapes, which mean the same.
// In valid JSON such characters are within strings.
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
