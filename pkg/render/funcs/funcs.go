package funcs

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // sprig has a function sha1sum
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
	_ "time/tzdata" // so that machines without zone files render the same
	"unicode/utf8"

	"github.com/Masterminds/sprig/v3"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// All returns the functions for templates, which are those of Lynq and sprig. It omits
// functions that read more than rows and forms. It replaces functions that depend on map
// order, time zone or clock.
func All() template.FuncMap {
	fs := sprig.TxtFuncMap()
	for name := range Refused() {
		delete(fs, name)
	}
	maps.Copy(fs, repeatable(fs))
	maps.Copy(fs, bounded(fs))
	maps.Copy(fs, strict())
	maps.Copy(fs, printing())
	return fs
}

// printing returns the functions of text/template that print their arguments.
func printing() template.FuncMap {
	return template.FuncMap{
		"print": fmt.Sprint, "println": fmt.Sprintln,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	}
}

// Refused returns the functions of sprig that lynqctl omits, with reasons.
func Refused() map[string]string {
	const environment = "what is rendered must not hang on the machine's environment; map a column to a variable"
	return map[string]string{
		"env":           environment,
		"expandenv":     environment,
		"getHostByName": "rendering asks no name server; map a column to a variable",
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
	return template.FuncMap{
		"toHost":       ToHost,
		"trunc63":      trunc63,
		"sha1sum":      sha1sum,
		"fromJson":     fromJSON,
		"mustFromJson": fromJSON,
		"int":          toInt,
		"atoi":         toInt,
		"int64":        func(v any) (int64, error) { i, err := toInt(v); return int64(i), err },
		"float":        toFloat,
		"float64":      toFloat,
		"bool":         toBool,
	}
}

// ToHost returns the host of a URL without its port. For other texts, it returns the part
// before a colon.
func ToHost(s string) string {
	if host, ok := plainHost(s); ok {
		return host
	}
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		return u.Hostname()
	}
	host, _, _ := strings.Cut(s, ":")
	return host
}

// plainHost is a fast ToHost for common URLs such as https://host.example/path.
func plainHost(s string) (string, bool) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found || scheme == "" || scheme[0] < 'a' || scheme[0] > 'z' || strings.Contains(scheme, "/") {
		return "", false
	}
	for i := range len(s) {
		if c := s[i]; !scalar.IsAlnum(c) && c != '-' && c != '.' && c != '/' && (c != ':' || i != len(scheme)) {
			return "", false
		}
	}
	host, _, _ := strings.Cut(rest, "/")
	return host, host != ""
}

// trunc63 cuts a text to the 63 bytes of a label or DNS label, but never inside a
// character.
func trunc63(s string) string {
	const limit = 63
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func sha1sum(s string) string {
	sum := sha1.Sum([]byte(s)) //nolint:gosec // sprig has a function sha1sum
	return hex.EncodeToString(sum[:])
}

// fromJSON parses a JSON text. It keeps integers of any size exact.
func fromJSON(s string) (any, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, &ValueError{What: jsonReason(s, err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &ValueError{What: "more than one JSON value"}
	}
	return plainNumbers(v), nil
}

// jsonReason describes an error without showing the text.
func jsonReason(s string, err error) string {
	var syntax *json.SyntaxError
	switch {
	case strings.TrimSpace(s) == "":
		return "empty text is not JSON"
	case errors.As(err, &syntax):
		return fmt.Sprintf("not JSON: the mistake is at character %d", syntax.Offset)
	}
	return "not JSON: it breaks off"
}

// plainNumbers turns a json.Number into an int if possible, or else into a float64.
// Templates can then count and compare with it.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	}
	return v
}

// toInt converts to an integer. It accepts white space around a text and a fraction of
// zero, as in DECIMAL columns. Any other value is an error, never zero.
func toInt(v any) (int, error) {
	switch v := v.(type) {
	case int:
		return v, nil
	case int64:
		return int(v), nil
	case int32:
		return int(v), nil
	case float64:
		return wholeFloat(v)
	case string:
		i, err := ParseInt(v)
		return int(i), err
	}
	return 0, notA(v, "a whole number")
}

// ParseInt parses an integer by the rules of int.
func ParseInt(s string) (int64, error) {
	s = strings.TrimSpace(s)
	i, err := strconv.ParseInt(s, 10, 64)
	if err == nil {
		return i, nil
	}
	if whole, fraction, found := strings.Cut(s, "."); found && fraction != "" && strings.Trim(fraction, "0") == "" {
		if i, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return i, nil
		}
	}
	if errors.Is(err, strconv.ErrRange) {
		return 0, &ValueError{value: s, What: "does not fit in 64 bits"}
	}
	return 0, notA(s, "a whole number")
}

func wholeFloat(f float64) (int, error) {
	const exact = 1 << 53
	if f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, notA(strconv.FormatFloat(f, 'g', -1, 64), "a whole number")
	}
	return int(f), nil
}

// toFloat converts to a finite number.
func toFloat(v any) (float64, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case int32:
		return float64(v), nil
	case float64:
		return v, nil
	case string:
		return ParseFloat(v)
	}
	return 0, notA(v, "a number")
}

// ParseFloat parses a finite number by the rules of float.
func ParseFloat(s string) (float64, error) {
	s = strings.TrimSpace(s)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || strings.ContainsAny(s, "xX_") {
		return 0, notA(s, "a number")
	}
	return f, nil
}

// toBool converts the words of activation columns, in any case.
func toBool(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		return ParseBool(v)
	}
	if i, err := toInt(v); err == nil && (i == 0 || i == 1) {
		return i == 1, nil
	}
	return false, notA(v, aBoolean)
}

const aBoolean = "a boolean (true, false, yes, no, on, off, 1, 0)"

// ParseBool parses a boolean by the rules of bool.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "1", "true", "t", "yes", "y", "on":
		return true, nil
	case "0", "false", "f", "no", "n", "off":
		return false, nil
	}
	return false, notA(s, aBoolean)
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

// repeatable replaces functions of sprig with functions that depend only on their
// arguments.
func repeatable(sprigs template.FuncMap) template.FuncMap {
	return template.FuncMap{
		"printf":           formatted,
		"osBase":           path.Base,
		"osClean":          path.Clean,
		"osDir":            path.Dir,
		"osExt":            path.Ext,
		"osIsAbs":          path.IsAbs,
		"keys":             sortedKeys,
		"values":           sortedValues,
		"date":             func(layout string, v any) (string, error) { return formatDate(layout, v, "UTC") },
		"dateInZone":       formatDate,
		"date_in_zone":     formatDate,
		"htmlDate":         func(v any) (string, error) { return formatDate(time.DateOnly, v, "UTC") },
		"htmlDateInZone":   func(v any, zone string) (string, error) { return formatDate(time.DateOnly, v, zone) },
		"toDate":           parseDate,
		"mustToDate":       parseDate,
		"durationRound":    roundDuration(sprigs),
		"toJson":           func(v any) (string, error) { return toJSON(v, true, "") },
		"mustToJson":       func(v any) (string, error) { return toJSON(v, true, "") },
		"toRawJson":        func(v any) (string, error) { return toJSON(v, false, "") },
		"mustToRawJson":    func(v any) (string, error) { return toJSON(v, false, "") },
		"toPrettyJson":     func(v any) (string, error) { return toJSON(v, true, "  ") },
		"mustToPrettyJson": func(v any) (string, error) { return toJSON(v, true, "  ") },
	}
}

// toJSON returns an error where sprig's functions return "".
func toJSON(v any, escapeHTML bool, indent string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func sortedKeys(dicts ...map[string]any) []string {
	ks := []string{}
	for _, d := range dicts {
		ks = append(ks, slices.Sorted(maps.Keys(d))...)
	}
	return ks
}

func sortedValues(dict map[string]any) []any {
	vs := make([]any, 0, len(dict))
	for _, k := range slices.Sorted(maps.Keys(dict)) {
		vs = append(vs, dict[k])
	}
	return vs
}

// formatDate formats a time, or seconds since 1970, in a named zone.
func formatDate(layout string, v any, zone string) (string, error) {
	var t time.Time
	switch v := v.(type) {
	case time.Time:
		t = v
	case *time.Time:
		t = *v
	case int64:
		t = time.Unix(v, 0)
	case int:
		t = time.Unix(int64(v), 0)
	default:
		return "", notA(v, "a date; make one with toDate LAYOUT TEXT, or with int from seconds since 1970")
	}
	if zone == "Local" {
		return "", &ValueError{What: `zone "Local" is another one on every machine; name one, such as "UTC"`}
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return "", err
	}
	return t.In(loc).Format(layout), nil
}

func parseDate(layout, s string) (time.Time, error) { return time.ParseInLocation(layout, s, time.UTC) }

// roundDuration is sprig's durationRound without times, because it counts them until now.
func roundDuration(sprigs template.FuncMap) func(any) (string, error) {
	round, ok := sprigs["durationRound"].(func(any) string)
	return func(v any) (string, error) {
		if _, isTime := v.(time.Time); isTime || !ok {
			return "", &ValueError{What: "durationRound takes a duration, not a date: how long ago a date is changes from run to run"}
		}
		return round(v), nil
	}
}

// formatted is printf without the addresses of values.
func formatted(format string, args ...any) (string, error) {
	if strings.Contains(format, "%p") || strings.Contains(format, "%#p") {
		return "", &ValueError{What: "%p prints an address, which is another one in every run"}
	}
	return fmt.Sprintf(format, args...), nil
}
