package redact

import (
	"strings"
	"unicode/utf8"
)

// packed finds values in parts of a view that are base64 or hexadecimal. Nobody knows where
// the encoded text begins, so each shift counts.
func (s *search) packed(v *view, depth int) {
	for i := 0; i < len(v.text); {
		end := i
		for end < len(v.text) && sextet(v.text[end]) >= 0 {
			end++
		}
		if (end-i)*6/8 >= s.least {
			s.run(v, i, end, depth)
		}
		i = end + 1
	}
}

// run searches one part of characters of base64.
func (s *search) run(v *view, from, to, depth int) {
	rest := v.text[to:]
	cut := v.cut && rest == ""
	for _, mark := range cuts() {
		cut = cut || strings.HasPrefix(strings.TrimLeft(rest, quotes+`\`), mark)
	}
	for shift := range min(4, to-from) {
		s.inner(unpacked(v, from+shift, to, 6, sextet), cut, depth)
	}
	for i := from; i < to; {
		end := i
		for end < to && digit(v.text[end]) >= 0 {
			end++
		}
		for shift := range 2 {
			if (end-i-shift)/2 >= s.least {
				s.inner(unpacked(v, i+shift, end, 4, digit), cut && end == to, depth)
			}
		}
		i = end + 1
	}
}

// inner searches a decoded part. Only a text can have another encoding in it.
func (s *search) inner(v *view, cut bool, depth int) {
	v.cut = cut
	if utf8.ValidString(v.text) && !strings.ContainsAny(v.text, "\x00\x01\x02\x03\x04\x05\x06") {
		s.view(v, depth-1)
		return
	}
	s.plain(v)
}

// unpacked decodes characters of some bits each.
func unpacked(v *view, from, to, bits int, value func(byte) int) *view {
	b := make([]byte, 0, (to-from)*bits/8)
	all, have := uint32(0), 0
	for at := from; at < to; at++ {
		all = all<<bits | uint32(value(v.text[at])) //nolint:gosec // the caller checked the characters
		if have += bits; have >= 8 {
			have -= 8
			b = append(b, byte(all>>have)) //nolint:gosec // the lowest eight bits
		}
	}
	return &view{text: string(b), packed: v, start: from, bits: bits}
}

// sextet returns the value of a character of either base64, -1 for none.
func sextet(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+', c == '-':
		return 62
	case c == '/', c == '_':
		return 63
	}
	return -1
}

// digit returns the value of a hexadecimal digit, -1 for none.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
