package scalar

import (
	"bytes"
	"unicode/utf8"
)

// LostToKustomize finds a character that no file can pass through kustomize. kustomize
// writes objects as JSON and reads that as YAML. YAML takes U+0085 for a line break, and
// forbids the other characters unless they are escaped. kustomize also omits the last line
// break after a line or paragraph separator, so that it merges the next object into this
// one.
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

// decodeLast returns the last character of a text.
func decodeLast[T Text](s T) rune {
	r, _ := utf8.DecodeLastRuneInString(string(s[max(0, len(s)-utf8.UTFMax):]))
	return r
}

// quoted reports whether kustomize writes a text in quotes. Such a text has a character
// that no block allows, or a space at the end of a line.
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

// severalLines reports whether a text has a line break.
func severalLines[T Text](s T) bool {
	for i := range len(s) {
		if s[i] == '\n' {
			return true
		}
	}
	return false
}

// Tabbed reports whether kustomize can't build an object with this annotation. kustomize
// writes an annotation of several lines as a block, and no block can begin with a tab.
func Tabbed[T Text](annotation T) bool {
	return len(annotation) > 0 && annotation[0] == '\t' && severalLines(annotation)
}

// Substitutable reports whether Flux's variable substitution changes an object's YAML.
// "${" begins a variable, and "$$" becomes "$". Flux also can't read a text of several
// lines that begins with a tab, which YAML shows in quotes.
func Substitutable(object []byte) bool {
	for _, s := range [...]string{"${", "$$", `"\t`} {
		if bytes.Contains(object, []byte(s)) {
			return true
		}
	}
	return false
}
