package write

import (
	"regexp"
	"strings"
)

// Misfit reports whether a server's message says that a manifest doesn't fit its kind.
// Examples are an invalid quantity, invalid base64, or a number instead of a text. The same
// request never succeeds, although the server answers a server-side apply with an internal
// error. A failed conversion webhook isn't a misfit, because it may work again soon.
func Misfit(message string) bool {
	if strings.Contains(message, "conversion webhook") {
		return false
	}
	for _, sign := range []string{
		"failed to create typed patch object",
		"failed to convert new object",
		"unable to convert unstructured object",
		"json: cannot unmarshal",
		"illegal base64 data",
		"quantities must match",
	} {
		if strings.Contains(message, sign) {
			return true
		}
	}
	return false
}

// MisfitCause returns the part of a server's message that says why a manifest doesn't fit
// its kind, or "". It quotes no value.
func MisfitCause(message string) string {
	for _, pattern := range [][2]string{
		{`illegal base64 data at input byte [0-9]+`, "$0"},
		{`(failed to create typed patch object)(?: \([^()]*\))?(: \.[-._A-Za-z0-9]+: (?:expected [a-z]+|field not declared in schema))`, "$1$2"},
		{`(json: cannot unmarshal (?:string|number|bool|object|array))(?: \S+)?( into Go (?:struct field|value)(?: [A-Za-z0-9.]+)? of type [][A-Za-z0-9.*]+)`, "$1$2"},
		{`cannot (?:convert|restore) [a-z0-9]+ (?:to|from) [a-z0-9]+`, "$0"},
		{`quantities must match the regular expression '[^']*'`, "$0"},
	} {
		expression := regexp.MustCompile(pattern[0])
		if at := expression.FindStringSubmatchIndex(message); at != nil {
			return string(expression.ExpandString(nil, pattern[1], message, at))
		}
	}
	return ""
}

// misfitHint says how to fix a misfit.
func misfitHint(message string) string {
	switch {
	case strings.Contains(message, "quantities must match"):
		return "quantities, such as those of memory and storage, are numbers with a suffix: 500m, 2, 1Gi; correct the form, or the row"
	case strings.Contains(message, "illegal base64 data"):
		return "what is under data is base64: write plain text under stringData, or end its template with b64enc"
	case regexp.MustCompile(`expected numeric|cannot unmarshal string into Go .* of type u?int|cannot (?:convert|restore) .* (?:to|from) int`).MatchString(message):
		return `the field is a number: end its template with int, as in "{{ .replicas | int }}"`
	case regexp.MustCompile(`expected bool|cannot unmarshal string into Go .* of type bool`).MatchString(message):
		return `the field is true or false: end its template with bool, as in "{{ .enabled | bool }}"`
	case regexp.MustCompile(`expected string|cannot unmarshal (?:number|bool) into Go .* of type string`).MatchString(message):
		return "the field is text: put its value in quotes, and don't end its template with int or bool"
	}
	return "correct the form, or the row: what it renders does not fit the kind"
}
