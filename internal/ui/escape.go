package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// safe makes one line of text that prints: line breaks become "; ", and what
// does not print is written as Go would write it in a string. Nothing that it
// returns can move a cursor or turn the direction of writing.
func safe(s string) string {
	if printable(s) {
		return s
	}
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = escape(strings.TrimRight(line, "\r"))
	}
	return strings.Join(lines, "; ")
}

func printable(s string) bool {
	for _, r := range s {
		if !prints(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// prints is unicode.IsPrint, and blanks of other widths.
func prints(r rune) bool {
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

func escape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1, r < utf8.RuneSelf && !prints(r):
			b.WriteString(escapeByte(s[0]))
		case prints(r):
			b.WriteString(s[:size])
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

// safeJSON writes what does not print as JSON escapes, which mean the same.
// In valid JSON such characters are within strings.
func safeJSON(line []byte) []byte {
	if printable(string(line)) {
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
