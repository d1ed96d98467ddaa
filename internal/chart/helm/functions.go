package helm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"
	_ "time/tzdata" // so that machines without zone files render the same
	"unicode"

	"github.com/Masterminds/sprig/v3"
)

// refusal is the error of a function that templates mustn't call.
type refusal struct{ what, fix string }

func (r *refusal) Error() string { return r.what }

// varying returns the refusal of a function with a new result in each run.
func varying(name string) *refusal {
	return &refusal{
		"function " + name + " returns a new value every time, so that every run would change the object",
		"set the value of the chart that it stands in for, such as a password; map a column to it",
	}
}

// refusals returns the functions that Helm has and lynqctl refuses. A template that doesn't
// call them may have them.
func refusals(lookups bool) map[string]*refusal {
	const environment = "what is rendered must not hang on the machine's environment"
	const column = "map a column to a value of the chart"
	all := map[string]*refusal{
		"env":           {"function env: " + environment, column},
		"expandenv":     {"function expandenv: " + environment, column},
		"getHostByName": {"function getHostByName: rendering asks no name server", column},
	}
	if !lookups { // otherwise Helm's engine finds nothing
		all["lookup"] = &refusal{
			"function lookup: rendering asks no cluster",
			"set the value of the chart that makes the lookup unnecessary, such as existingSecret, or emptyLookups: true in the form",
		}
	}
	for _, name := range []string{
		"now", "ago", "shuffle", "uuidv4", "bcrypt", "htpasswd", "encryptAES",
		"randAlpha", "randAlphaNum", "randAscii", "randBytes", "randInt", "randNumeric",
		"genCA", "genCAWithKey", "genPrivateKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
		"genSignedCert", "genSignedCertWithKey",
	} {
		all[name] = varying(name)
	}
	return all
}

// These functions refuse some of their arguments.
func noDate() *refusal {
	return &refusal{
		"a function of dates gets no date, and would return the current time",
		"make a date with toDate, or with int64 from seconds since 1970",
	}
}

func localZone() *refusal {
	return &refusal{`the zone "Local" is another one on every machine`, `name one, such as "UTC"`}
}

func sinceDate() *refusal { return varying("durationRound with a date") }

func address() *refusal {
	return &refusal{"function printf: %p prints an address, which is another one in every run", "correct the template"}
}

// refusalIn finds a refusal in an error of Helm, which has only its text.
func refusalIn(text string) (*refusal, bool) {
	const lookups = false
	all := slices.Collect(maps.Values(refusals(lookups)))
	for _, r := range append(all, noDate(), localZone(), sinceDate(), address()) {
		if strings.Contains(text, r.what) {
			return r, true
		}
	}
	return nil, false
}

// functions returns the functions that replace those of Helm's engine. All others return the
// same result for the same arguments.
func functions(lookups bool) template.FuncMap {
	all := template.FuncMap{
		"date":           func(layout string, v any) (string, error) { return formatDate(layout, v, "UTC") },
		"dateInZone":     formatDate,
		"date_in_zone":   formatDate,
		"htmlDate":       func(v any) (string, error) { return formatDate(time.DateOnly, v, "UTC") },
		"htmlDateInZone": func(v any, zone string) (string, error) { return formatDate(time.DateOnly, v, zone) },
		"toDate": func(layout, text string) time.Time {
			t, _ := time.ParseInLocation(layout, text, time.UTC) // as Helm's function, which returns no error
			return t
		},
		"mustToDate": func(layout, text string) (time.Time, error) { return time.ParseInLocation(layout, text, time.UTC) },
		"keys":       sortedKeys,
		"values":     sortedValues,
		"printf":     formatted,
	}
	if round, ok := sprig.TxtFuncMap()["durationRound"].(func(any) string); ok {
		all["durationRound"] = func(v any) (string, error) { return roundDuration(round, v) }
	}
	for name, r := range refusals(lookups) {
		all[name] = func(...any) (any, error) { return nil, r }
	}
	return all
}

// formatDate formats a time, or seconds since 1970. Helm's function takes the current time
// for anything else, and the machine's zone for "Local".
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
	case int32:
		t = time.Unix(int64(v), 0)
	default:
		return "", noDate()
	}
	if zone == "Local" {
		return "", localZone()
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC // as Helm's function
	}
	return t.In(location).Format(layout), nil
}

// roundDuration refuses a date, because Helm's function would count from it until now.
func roundDuration(round func(any) string, v any) (string, error) {
	if _, ok := v.(time.Time); ok {
		return "", sinceDate()
	}
	return round(v), nil
}

// sortedKeys returns the keys of maps. Helm's function has them in any order.
func sortedKeys(dicts ...map[string]any) []string {
	all := []string{}
	for _, dict := range dicts {
		all = append(all, slices.Sorted(maps.Keys(dict))...)
	}
	return all
}

// sortedValues returns the values of a map, in the order of its keys.
func sortedValues(dict map[string]any) []any {
	all := make([]any, 0, len(dict))
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		all = append(all, dict[key])
	}
	return all
}

// formatted formats like printf. It writes whole numbers for %f, too, because values have
// large ones as integers, and it refuses addresses, which change from run to run.
func formatted(format string, args ...any) (string, error) {
	text := fmt.Sprintf(format, args...)
	if printsAddress(format) {
		return "", address()
	}
	if !strings.Contains(text, "%!") || !strings.Contains(text, "int64=") {
		return text, nil
	}
	floats := slices.Clone(args)
	for i, arg := range floats {
		switch n := arg.(type) {
		case int64:
			floats[i] = float64(n)
		case uint64:
			floats[i] = float64(n)
		}
	}
	if again := fmt.Sprintf(format, floats...); !strings.Contains(again, "%!") {
		return again, nil
	}
	return text, nil
}

// printsAddress reports whether a format has the verb %p, before which flags may stand.
func printsAddress(format string) bool {
	for {
		_, rest, more := strings.Cut(format, "%")
		verb := strings.TrimLeftFunc(rest, func(r rune) bool { return r != '%' && !unicode.IsLetter(r) })
		switch {
		case !more || verb == "":
			return false
		case verb[0] == 'p':
			return true
		}
		format = verb[1:]
	}
}
