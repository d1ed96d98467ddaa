package scalar

import (
	"bytes"
	"unicode/utf8"
)

// LostToKustomize finds a character that no file can bring through kustomize. kustomize
// writes objects as JSON and reads that as YAML, which takes U+0085 for a line break and
// forbids the other ones unless they are escaped. It ends a text of several lines at a line or
// paragraph separator without a line break, so that the next object is no document any more.
func LostToKustomize[T Text](s T) (rune, bool) {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x7f {
			continue
		}
		r, n := decodeRune(s, i)
		if r < 0xa0 || r == 0xfffe || r == 0xffff {
			return r, true
		}
		i += n - 1
	}
	if last := decodeLast(s); (last == '\u2028' || last == '\u2029') && severalLines(s) && !quoted(s) {
		return last, true
	}
	return utf8.RuneError, false
}

// decodeLast is the last character of a text.
func decodeLast[T Text](s T) rune {
	r, _ := utf8.DecodeLastRuneInString(string(s[max(0, len(s)-utf8.UTFMax):]))
	return r
}

// quoted tells whether kustomize writes a text in quotes: it has a character that no block
// has, or a space at the end of a line.
func quoted[T Text](s T) bool {
	space := false
	for i := 0; i < len(s); i++ {
		r, n := decodeRune(s, i)
		ends := r == '\n' || r == '\u2028' || r == '\u2029'
		if r < ' ' && !ends || r == '\ufeff' || r > '\uffff' || space && ends {
			return true
		}
		space = r == ' '
		i += n - 1
	}
	return false
}

// severalLines tells whether a text has a line break.
func severalLines[T Text](s T) bool {
	for i := range len(s) {
		if s[i] == '\n' {
			return true
		}
	}
	return false
}

// Tabbed tells whether kustomize cannot build an object with this annotation: it writes
// annotations anew, those of several lines as a block, and no block begins with a tab.
func Tabbed[T Text](annotation T) bool {
	return len(annotation) > 0 && annotation[0] == '\t' && severalLines(annotation)
}

// Substitutable tells whether an object, as YAML, comes out of Flux's substitution of
// variables as another one: "${" begins a variable, "$$" becomes "$", and a text of
// several lines that begins with a tab cannot be read again. Such text is in quotes.
func Substitutable(object []byte) bool {
	for _, s := range [...]string{"${", "$$", `"\t`} {
		if bytes.Contains(object, []byte(s)) {
			return true
		}
	}
	return false
}
