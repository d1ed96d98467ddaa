package funcs

import (
	"fmt"
	"maps"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/Masterminds/sprig/v3"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// All returns the functions for templates, which are those of Lynq and sprig. It omits
// functions that read more than rows and forms. It replaces functions that depend on map
// order, time zone or clock, and those that answer for an argument that they can't read.
func All() template.FuncMap {
	fs := sprig.TxtFuncMap()
	for name := range Refused() {
		delete(fs, name)
	}
	for _, replaced := range []template.FuncMap{
		arithmetic(), comparisons(), conditions(), cutting(fs), dates(), dictionaries(), encodings(fs), helms(), lists(), printing(), strict(),
	} {
		maps.Copy(fs, replaced)
	}
	return fs
}

// Refused returns the functions of sprig and Helm that lynqctl omits, with reasons.
func Refused() map[string]string {
	const environment = "what is rendered must not hang on the machine's environment; map a column to a variable"
	return map[string]string{
		"env":           environment,
		"expandenv":     environment,
		"getHostByName": "rendering asks no name server; map a column to a variable",
		"include":       "each string of a form is a template of its own; write {{ define }} and {{ template }} in the same string",
		"tpl":           "row text is data and never a template; write the template into the form",
		"lookup":        "rendering asks no cluster; map a column to a variable",
		"fromYamlArray": "fromYaml reads lists, too",
		"fromJsonArray": "fromJson reads lists, too",
		"toYamlPretty":  "use toYaml",
		"fromToml":      "store JSON in the column, and use fromJson",
	}
}

// Varying returns the functions whose results differ from run to run.
func Varying() map[string]bool {
	names := []string{
		"now", "ago", "shuffle", "uuidv4", "bcrypt", "htpasswd", "encryptAES",
		"randAlpha", "randAlphaNum", "randAscii", "randBytes", "randInt", "randNumeric",
		"genCA", "genCAWithKey", "genPrivateKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
		"genSignedCert", "genSignedCertWithKey",
	}
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// Mutating returns the functions that change their map argument. A template that calls one
// gets its own variables.
func Mutating() []string {
	return []string{"set", "unset", "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"}
}

// strict returns the operator's functions (contract: templates) and similar ones of sprig.
// They return an error for a value that doesn't convert. Others return 0, which would
// silently scale a tenant to nothing.
func strict() template.FuncMap {
	toJSONWith := func(escapeHTML bool, indent string) func(any) (string, error) {
		return func(v any) (string, error) { return toJSON(v, escapeHTML, indent) }
	}
	return template.FuncMap{
		"toHost":           ToHost,
		"slug":             Slug,
		"trunc63":          trunc63,
		"sha1sum":          sha1sum,
		"fromJson":         fromJSON,
		"mustFromJson":     fromJSON,
		"toJson":           toJSONWith(true, ""),
		"mustToJson":       toJSONWith(true, ""),
		"toRawJson":        toJSONWith(false, ""),
		"mustToRawJson":    toJSONWith(false, ""),
		"toPrettyJson":     toJSONWith(true, "  "),
		"mustToPrettyJson": toJSONWith(true, "  "),
		"int":              toInt,
		"atoi":             toInt,
		"int64":            toInt64,
		"float":            toFloat,
		"float64":          toFloat,
		"bool":             toBool,
	}
}

// ValueError says why a function refuses a value. The caller decides whether to show the
// value, which may be secret.
type ValueError struct {
	value any
	What  string // "is not a number"
}

// notA returns the error for a value of the wrong type.
func notA(value any, what string) error { return &ValueError{value: value, What: "is not " + what} }

func (e *ValueError) Error() string {
	switch v := e.value.(type) {
	case nil:
		return e.What
	case string:
		if strings.TrimSpace(v) == "" {
			return "empty text " + e.What
		}
		return phrase.Quote(v) + " " + e.What
	}
	return e.Hidden()
}

// Hidden returns the message without the value.
func (e *ValueError) Hidden() string {
	switch v := e.value.(type) {
	case nil:
		return e.What
	case string:
		return fmt.Sprintf("a text of %d characters %s", utf8.RuneCountInString(v), e.What)
	}
	return fmt.Sprintf("a value of type %T %s", e.value, e.What)
}
