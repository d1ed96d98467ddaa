package redact

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Hidden stands for a value that must not be shown.
const Hidden = "•••"

const (
	// fewBytes are in so many words that a value of no more is hidden only where it
	// is quoted: to hide it everywhere would leave no text.
	fewBytes = 3
	// fewChars are how many characters of base64 may be in any text by chance.
	fewChars = 7
)

// Mask hides values in texts. The zero value hides nothing.
type Mask []string

// New makes a Mask of values. Of a value with several lines each line counts, and of
// a JSON value each string in it, because a text may show a part of a value.
func New(values ...string) Mask {
	var m Mask
	add := func(v string) {
		if v = strings.TrimSpace(v); v != "" && !slices.Contains(m, v) {
			m = append(m, v)
		}
	}
	for _, v := range values {
		add(v)
		if strings.ContainsAny(v, "\n\r") {
			for line := range strings.Lines(v) {
				if line = strings.TrimSpace(line); len(line) > fewChars {
					add(line)
				}
			}
		}
		for _, part := range jsonStrings(v) {
			add(part)
		}
	}
	return m
}

// jsonStrings are the strings in a JSON list or object, nil where a text is neither.
func jsonStrings(text string) []string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return nil
	}
	var content any
	if json.Unmarshal([]byte(text), &content) != nil {
		return nil
	}
	var found []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			found = append(found, v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, field := range v {
				walk(field)
			}
		}
	}
	walk(content)
	return found
}

// Hide is a text without the values, as they are and as messages and manifests write
// them: quoted, in one line, in a URL, in base64. A value of one to three bytes is hidden
// only where it is quoted.
func (m Mask) Hide(text string) string {
	if len(m) == 0 || text == "" {
		return text
	}
	var forms []string
	for _, v := range m {
		forms = append(forms, formsOf(v)...)
	}
	// One form may be in another: the longest goes first.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, hiddenAs(f))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// hiddenAs stands for a form: what is quoted stays quoted.
func hiddenAs(form string) string {
	for _, quote := range []string{`\"`, `"`, `'`, "`"} {
		if len(form) <= fewBytes+2*len(quote) && strings.HasPrefix(form, quote) && strings.HasSuffix(form, quote) {
			return quote + Hidden + quote
		}
	}
	return Hidden
}

// formsOf are the ways in which texts write a value.
func formsOf(v string) []string {
	if len(v) <= fewBytes {
		return []string{`"` + v + `"`, `\"` + v + `\"`, `'` + v + `'`, "`" + v + "`"}
	}
	forms := []string{v, phrase.OneLine(v), url.QueryEscape(v), url.PathEscape(v)}
	for _, quoted := range []string{strconv.Quote(v), jsonText(v)} {
		inner := quoted[1 : len(quoted)-1]
		again := strconv.Quote(inner) // a text that is quoted in a text
		forms = append(forms, inner, again[1:len(again)-1])
	}
	forms = append(forms, inBase64(v, base64.RawStdEncoding)...)
	return append(forms, inBase64(v, base64.RawURLEncoding)...)
}

// jsonText is a text as JSON has it.
func jsonText(v string) string {
	b, err := json.Marshal(v)
	if err != nil {
		return strconv.Quote(v)
	}
	return string(b)
}

// inBase64 are the characters that a value makes of base64, whatever stands before and
// behind it: three ways, by the place where it begins.
func inBase64(v string, encoding *base64.Encoding) []string {
	var forms []string
	for shift := range 3 {
		text := encoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
		from := (shift*8 + 5) / 6 // the characters before have bits of what stands before
		to := (shift + len(v)) * 8 / 6
		if core := text[from:to]; len(core) > fewChars {
			forms = append(forms, core)
		}
	}
	if whole := encoding.EncodeToString([]byte(v)); len(whole) > fewBytes {
		forms = append(forms, whole)
	}
	return forms
}

// hiding is what the requests of a context hide.
type hiding struct {
	mask     Mask
	messages bool
}

type hidingKey struct{}

func hidingOf(ctx context.Context) hiding {
	h, _ := ctx.Value(hidingKey{}).(hiding)
	return h
}

// Context is a context whose requests have a Mask: their errors and warnings hide its
// values.
func (m Mask) Context(ctx context.Context) context.Context {
	if len(m) == 0 {
		return ctx
	}
	h := hidingOf(ctx)
	h.mask = m
	return context.WithValue(ctx, hidingKey{}, h)
}

// Of is the Mask of a context, nil for none.
func Of(ctx context.Context) Mask { return hidingOf(ctx).mask }

// HideMessages is a context whose requests are about an object that no message may quote:
// their errors hide what the server says of its content.
func HideMessages(ctx context.Context) context.Context {
	h := hidingOf(ctx)
	h.messages = true
	return context.WithValue(ctx, hidingKey{}, h)
}

// HidesMessages tells whether the requests of a context are about such an object.
func HidesMessages(ctx context.Context) bool { return hidingOf(ctx).messages }
