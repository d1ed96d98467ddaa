package redact

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// deepest limits how many encodings around each other are decoded, such as JSON in
	// base64 in a quoted text.
	deepest = 3
	// large is the size from which a text is decoded once less.
	large = 64 << 10
)

// Hide returns a text without the values, as they are and as texts write them: escaped,
// in URLs and HTML, in base64 and in hexadecimal, also one in another.
//
// A value of at least 8 bytes is hidden everywhere. A value of 4 to 7 bytes is hidden where
// it is a whole word, and a shorter one where it stands alone in quotes. If a text was cut
// off in a value, its beginning is hidden.
func (f *Filter) Hide(text string) string {
	if f == nil || text == "" {
		return text
	}
	defer f.read()()
	if len(f.tables) == 0 && len(f.short) == 0 {
		return text
	}
	s := search{Filter: f}
	s.least = 1 << 20
	for _, t := range s.tables {
		s.least = min(s.least, t.least)
	}
	depth := deepest
	if len(text) > large {
		depth--
	}
	s.view(&view{text: text}, depth)
	return s.replaced(text)
}

// span is a part of a text.
type span struct{ from, to int }

// search collects the places of values in a text, while the filter is locked for reading.
type search struct {
	*Filter
	least int // bytes of the shortest value that isn't hidden in quotes only
	found []span
}

// replaced returns the text with Hidden instead of the found places.
func (s *search) replaced(text string) string {
	if len(s.found) == 0 {
		return text
	}
	slices.SortFunc(s.found, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var b strings.Builder
	end := 0
	for _, p := range s.found {
		if p.from >= end {
			b.WriteString(text[end:p.from])
			b.WriteString(Hidden)
		}
		end = max(end, p.to)
	}
	b.WriteString(text[end:])
	return b.String()
}

// view searches a view of the text, and views of what is encoded in it.
func (s *search) view(v *view, depth int) {
	s.plain(v)
	if depth == 0 {
		return
	}
	for _, decode := range []func(*view) *view{unescaped, unpercented, unplussed, unentitied, undoubled} {
		if inner := decode(v); inner != nil {
			s.view(inner, depth-1)
		}
	}
	s.packed(v, depth)
}

// plain finds values as they are in a view.
func (s *search) plain(v *view) {
	for _, t := range s.tables {
		for i := 0; i+prefix <= len(v.text); i++ {
			n := t.at(v.text[i:], func(value string) bool { return s.hides(v.text, i, value) })
			if n > 0 {
				s.found = append(s.found, v.span(i, i+n))
			}
		}
	}
	if len(s.short) > 0 {
		s.quoted(v)
	}
	s.cut(v)
}

// hides reports whether a value at a place of a text is hidden there.
func (s *search) hides(text string, at int, value string) bool {
	if s.public[value] {
		return false
	}
	if len(value) > wordOnly {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	first, _ := utf8.DecodeRuneInString(value)
	after, _ := utf8.DecodeRuneInString(text[at+len(value):])
	last, _ := utf8.DecodeLastRuneInString(value)
	return (at == 0 || !inWord(before) || !inWord(first)) &&
		(at+len(value) == len(text) || !inWord(after) || !inWord(last))
}

// inWord reports whether a character joins others to a word. Names have dashes.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_')
}

const quotes = "\"'`"

// quoted finds short values that stand alone in quotes.
func (s *search) quoted(v *view) {
	for i := 0; i < len(v.text); i++ {
		if strings.IndexByte(quotes, v.text[i]) < 0 {
			continue
		}
		for n := 1; n <= quotedOnly && i+1+n < len(v.text); n++ {
			value, rest := v.text[i+1:i+1+n], strings.TrimLeft(v.text[i+1+n:], `\`)
			if s.short[value] && !s.public[value] && rest != "" && rest[0] == v.text[i] {
				s.found = append(s.found, v.span(i+1, i+1+n))
			}
		}
	}
}

// cuts returns the marks of a text that was cut off.
func cuts() [2]string { return [2]string{"…", "..."} }

// cut finds the beginnings of values before the marks of a cut.
func (s *search) cut(v *view) {
	for _, mark := range cuts() {
		for from := 0; ; {
			at := strings.Index(v.text[from:], mark)
			if at < 0 {
				break
			}
			s.begun(v, strings.TrimRight(v.text[:from+at], quotes+`\`))
			from += at + len(mark)
		}
	}
	if v.cut {
		s.begun(v, v.text)
	}
}

// begun finds the longest beginning of a value at the end of a text.
func (s *search) begun(v *view, text string) {
	for _, t := range s.tables {
		for i := max(0, len(text)-t.most); i+prefix <= len(text); i++ {
			if t.begun(text[i:]) && (len(text)-i > wordOnly || s.hides(text, i, text[i:])) {
				s.found = append(s.found, v.span(i, len(text)))
				break
			}
		}
	}
}
