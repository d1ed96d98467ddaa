package funcs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/render/funcs"
)

var update = flag.Bool("update", false, "write testdata/functions.txt")

// hostile has arguments that rows and forms give to functions, right or wrong.
func hostile() []any {
	var args []any
	for _, s := range []string{
		"", " ", "word", "two words", "Größe", "名前", "\xff\xfe", "a\x00b", "tab\there", "line\nbreak", "\r\n",
		"0", "1", "-1", "+7", "7", " 7 ", "08", "010", "0x10", "0b11", "0o17", "1_000", "1,000", "3,5", "3.7", ".5", "5.", "-0", "1e3", "1e400", "1e-400",
		"9223372036854775807", "9223372036854775808", "12345678901234567890.123456789", "0.1234567890123456789", "NaN", "Inf", "-Infinity", "٣",
		"true", "false", "yes", "no", "on", "off", "null", "<no value>", "%d", "100%", "{{ . }}", "${x}", "(", "[a-z]+", "*",
		"aGVsbG8=", "aGVsbG8", "NBSWY3DP", "aGVs bG8=", `{"a":1e6}`, `{"a":1,"a":2}`, `["x",2]`, `"\ud800"`, "a: 010", "[1, yes]", "&a [*a]",
		"2024-02-29", "2024-02-30", "90s", "1h30m", "UTC", "Europe/Berlin", "Mars/Base", "https://u:p@acme.example:8443/x?y#z", "http://", "::1", "acme.example:80", "%zz",
		"1.2.3", ">=1.0", "long", "rsa", strings.Repeat("x", 70),
	} {
		args = append(args, s)
	}
	return append(args, nil, 0, 7, -3, int64(1)<<62, 1.5, 1e6, 1e21, true, false, json.Number("0.12345678901234567890"),
		[]any{}, []any{"a", 1, 1e6}, []string{"b", "a"}, []any{nil}, map[string]any{}, map[string]any{"a": 1e6, "b": map[string]any{"c": "d"}},
		time.Date(2024, 2, 29, 13, 0, 0, 0, time.UTC), 90*time.Second)
}

// benign returns an argument that a parameter certainly takes.
func benign(name string, position int, t reflect.Type) any {
	given := map[string][]any{
		"semverCompare": {">=1.0", "1.2.3"}, "semver": {"1.2.3"}, "decryptAES": {"key", "x"}, "dateModify": {"1h", time.Unix(0, 0).UTC()},
		"date_modify": {"1h", time.Unix(0, 0).UTC()}, "mustDateModify": {"1h", time.Unix(0, 0).UTC()}, "must_date_modify": {"1h", time.Unix(0, 0).UTC()},
		"toDate": {"2006-01-02", "2024-02-29"}, "mustToDate": {"2006-01-02", "2024-02-29"}, "date": {"2006-01-02", 0},
		"dateInZone": {"2006-01-02", 0, "UTC"}, "date_in_zone": {"2006-01-02", 0, "UTC"}, "htmlDateInZone": {0, "UTC"}, "htmlDate": {0},
		"derivePassword": {uint32(1), "pin", "a", "b", "c"}, "printf": {"%v", "x"}, "has": {"a", []any{"a"}}, "mustHas": {"a", []any{"a"}},
		"join": {",", []any{"a", "b"}}, "pluck": {"a", map[string]any{"a": "b"}}, "dig": {"a", "other", map[string]any{"a": "b"}},
		"chunk": {2, []any{"a", "b", "c"}}, "mustChunk": {2, []any{"a", "b", "c"}}, "ternary": {"yes", "no", true}, "wrapWith": {3, "-", "abcdef"},
		"repeat": {3, "ab"}, "randInt": {1, 5}, "genPrivateKey": {"ed25519"}, "urlJoin": {map[string]any{"host": "a"}},
	}
	if args := given[name]; position < len(args) {
		return args[position]
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int, reflect.Uint32:
		return 5
	case reflect.Bool:
		return true
	case reflect.Map:
		return map[string]any{"k": "v"}
	case reflect.Slice:
		return []any{"a"}
	case reflect.Struct:
		return time.Date(2024, 2, 29, 13, 0, 0, 0, time.UTC)
	}
	return listOrNumber(name)
}

func listOrNumber(name string) any {
	switch strings.ToLower(strings.TrimPrefix(name, "must")) {
	case "append", "push", "prepend", "first", "last", "rest", "initial", "reverse", "compact", "slice", "concat", "without", "uniq":
		return []any{"a", "b"}
	}
	return 5
}

// outcome calls a function as a template does. It reports the printed result, or that the
// call fails.
func outcome(t *testing.T, fs template.FuncMap, name string, args []any) (string, bool) {
	t.Helper()
	call := "{{ result (" + name
	for i := range args {
		call += fmt.Sprintf(" (index $ %d)", i)
	}
	parsed, err := template.New("").Funcs(fs).Parse(call + ") }}")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = parsed.Execute(&out, args)
	return out.String(), err == nil
}

// TestFunctions calls each function with each hostile argument in each place. The table in
// testdata has the results that somebody read and found right. All other calls fail. A new
// function of sprig has no lines there, so that this test fails until somebody decides.
func TestFunctions(t *testing.T) {
	t.Parallel()
	fs := funcs.All()
	fs["result"] = funcs.Printable
	var table strings.Builder
	calls := 0
	for _, name := range slices.Sorted(maps.Keys(fs)) {
		if name == "result" || slow(name) {
			continue
		}
		calls += row(t, fs, name, &table)
	}
	const file = "testdata/functions.txt"
	if *update {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(table.String(), "\n")); diff != "" {
		t.Errorf("(-want +got; read the difference before you pass -update)\n%s", diff)
	}
	t.Logf("%d calls of %d functions", calls, len(fs)-1)
}

// slow reports whether a function makes keys or hashes that take long, or whose results
// differ each time. TestRefusals has these.
func slow(name string) bool {
	return funcs.Varying()[name] || name == "derivePassword" || name == "buildCustomCert"
}

// row calls a function with all arguments in all places, and writes the lines of the table.
func row(t *testing.T, fs template.FuncMap, name string, table *strings.Builder) int {
	t.Helper()
	f := reflect.TypeOf(fs[name])
	places := f.NumIn()
	fmt.Fprintf(table, "# %s\n", name)
	for place := range places {
		groups := map[string][]string{}
		var order []string
		for _, arg := range hostile() {
			args := make([]any, 0, places)
			for i := range places {
				in := f.In(i)
				if f.IsVariadic() && i == places-1 {
					in = in.Elem()
				}
				args = append(args, benign(name, i, in))
			}
			args[place] = arg
			result, ok := outcome(t, fs, name, args)
			if !ok {
				continue
			}
			honest(t, name, args, result)
			if result == fmt.Sprint(arg) {
				result = itself
			}
			if groups[result] == nil {
				order = append(order, result)
			}
			groups[result] = append(groups[result], fmt.Sprintf("%T %s", arg, short(fmt.Sprintf("%+q", fmt.Sprint(arg)))))
		}
		for _, result := range order {
			shown := short(fmt.Sprintf("%+q", result))
			if result == itself {
				shown = itself
			}
			fmt.Fprintf(table, "%d %s <- %s\n", place, shown, strings.Join(groups[result], ", "))
		}
	}
	return places * len(hostile())
}

// itself stands in the table for a result that is the argument's own text.
const itself = "the argument"

func short(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%s...%d", s[:most], len(s))
	}
	return s
}

// honest checks that a result isn't the complaint of a function that failed.
func honest(t *testing.T, name string, args []any, result string) {
	t.Helper()
	for _, complaint := range []string{"%!", "illegal base", "<nil>", "<no value>", "failed to", "cannot find", "Unknown type"} {
		if strings.Contains(result, complaint) && !strings.Contains(fmt.Sprint(args...), complaint) {
			t.Errorf("%s %q writes the complaint %q", name, args, result)
		}
	}
	if strings.Contains(result, "e+") && !strings.Contains(fmt.Sprint(args...), "e+") {
		t.Errorf("%s %q writes a number with an exponent: %q", name, args, result)
	}
}

// TestRefusals checks functions whose results the table can't have.
func TestRefusals(t *testing.T) {
	t.Parallel()
	fs := funcs.All()
	fs["result"] = funcs.Printable
	for template, args := range map[string][]any{
		"randAlphaNum":   {0},
		"randAlpha":      {-1},
		"randNumeric":    {0},
		"randAscii":      {0},
		"randBytes":      {0},
		"randInt":        {5, 5},
		"htpasswd":       {"a:b", "secret"},
		"bcrypt":         {strings.Repeat("x", 73)},
		"genPrivateKey":  {"word"},
		"derivePassword": {1, "word", "a", "b", "c"},
		"ago":            {"word"},
		"decryptAES":     {"key", ""},
		"encryptAES":     {"key", nil},
	} {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			if result, ok := outcome(t, fs, template, args); ok {
				t.Errorf("%s %q is %q", template, args, result)
			}
		})
	}
	for _, name := range []string{"randAlphaNum", "randAlpha", "randNumeric", "randAscii"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if result, ok := outcome(t, fs, name, []any{12}); !ok || len(result) != 12 {
				t.Errorf("%s 12 is %q", name, result)
			}
		})
	}
	encrypted, ok := outcome(t, fs, "encryptAES", []any{"key", "hunter2"})
	if result, again := outcome(t, fs, "decryptAES", []any{"key", encrypted}); !ok || !again || result != "hunter2" {
		t.Errorf("decrypted: %q", result)
	}
}
