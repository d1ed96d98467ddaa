package render

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// lostToKustomize finds a character that no file can bring through kustomize. kustomize
// writes objects as JSON and reads that as YAML, which takes U+0085 for a line break and
// forbids the other ones unless they are escaped.
func lostToKustomize[T text](s T) (rune, bool) {
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
	return utf8.RuneError, false
}

// lostCharacterError is a text that kustomize would refuse, or change.
type lostCharacterError struct{ character rune }

func (e *lostCharacterError) Error() string {
	return fmt.Sprintf("kustomize cannot build an object with the character %U (remove the character; or encode the text, in a Secret or as binaryData)", e.character)
}

// checkKustomize refuses keys and texts of the form itself that kustomize cannot build.
func (c *compiler) checkKustomize(n *node, path []string) {
	check := func(s string, path []string) {
		if r, lost := lostToKustomize(s); lost {
			c.fail(c.place(c.res.Pos, fieldPath(path)), "", "%v", &lostCharacterError{r})
		}
	}
	switch {
	case n.slot != noSlot:
	case n.kind == form.String:
		check(n.value.Str, path)
	default:
		for _, f := range n.fields {
			check(f.key, path)
			c.checkKustomize(f.node, append(path, f.key))
		}
		for _, item := range n.items {
			c.checkKustomize(item, append(path, "[]"))
		}
	}
}

// substitutable tells whether an object, as YAML, comes out of Flux's substitution of
// variables as another one: "${" begins a variable, "$$" becomes "$", and a text of
// several lines that begins with a tab cannot be read again. Such text is in quotes.
func substitutable(object []byte) bool {
	for _, s := range [...]string{"${", "$$", `"\t`} {
		if bytes.Contains(object, []byte(s)) {
			return true
		}
	}
	return false
}
