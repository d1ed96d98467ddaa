package form

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// anyCase returns the word that a text spells in any case. It reports any other text, and
// returns "".
func anyCase(o *object, name string, t Text, words []string) string {
	if i := slices.IndexFunc(words, func(word string) bool { return slices.Contains(cases(word), t.Text) }); i >= 0 {
		return words[i]
	}
	fix := ""
	if slices.Contains(cases("Default"), t.Text) {
		fix = "leave it out, which is the default"
	} else if near, ok := suggest.Near(pascal(t.Text), words); ok { // the message lists them all anyway
		fix = suggest.Fix(near, words)
	}
	o.fail(t.Pos, fix, "%s must be one of %s; found %q", name, strings.Join(words, ", "), t.Text)
	return ""
}

// cases returns a word unchanged, in PascalCase, in camelCase and in kebab-case.
func cases(word string) []string {
	var kebab strings.Builder
	for i, r := range word {
		if i > 0 && unicode.IsUpper(r) {
			kebab.WriteByte('-')
		}
		kebab.WriteRune(unicode.ToLower(r))
	}
	return []string{word, strings.ToUpper(word[:1]) + word[1:], strings.ToLower(word[:1]) + word[1:], kebab.String()}
}

// pascal guesses the intended spelling of a mistyped word.
func pascal(word string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(word, "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// annotationText returns an annotation of the manifest. It reports an annotation that
// isn't a string.
func annotationText(o *object, r *Resource, key string) Text {
	v := r.Manifest.Field("metadata").Field("annotations").Field(key)
	switch {
	case v == nil || v.Kind != document.String:
		return Text{}
	case document.IsTemplate(v.Str):
		o.fail(v.Pos, "write it out", "annotation %s may not be a template", key)
		return Text{}
	}
	return Text{Pos: v.Pos, Text: v.Str}
}

// warnNear warns about annotations that resemble one of these keys.
func warnNear(o *object, annotations []document.Field, keys []string) {
	for _, f := range annotations {
		name, ours := strings.CutPrefix(f.Key, wellknown.KeyPrefix)
		if !ours || slices.Contains(keys, f.Key) || wellknown.Reserved(f.Key) || name == "" {
			continue
		}
		if near, ok := suggest.Near(f.Key, keys); ok {
			o.warn(f.Pos, "did you mean "+near+"?", "annotation %s is unknown to lynqctl", f.Key)
		}
	}
}
