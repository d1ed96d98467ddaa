package helm

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// TestNumbers wants the numbers that Helm reads from a file. It wants integers where templates
// would print an exponent.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]any{
		"0": 0.0, "-1": -1.0, "999999": 999999.0, "1.5": 1.5, "0.1": 0.1, "1e3": 1000.0, "1.0": 1.0,
		"1000000": int64(1000000), "10000000": int64(10000000), "-2147483648": int64(math.MinInt32),
		"9007199254740993": int64(9007199254740993), "9223372036854775807": int64(math.MaxInt64),
		"18446744073709551615": uint64(math.MaxUint64), "1234567.5": 1234567.5, "1e300": 1e300,
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := number(text); err != nil || got != want {
				t.Errorf("%s: %T %v, %v, want %T %v", text, got, got, err, want, want)
			}
		})
	}
	for _, text := range []string{"18446744073709551616", "-9223372036854775809", "1e999"} {
		t.Run(text, func(t *testing.T) {
			if got, err := number(text); err == nil {
				t.Errorf("%s: %v, want an error", text, got)
			}
		})
	}
}

// numberTemplate prints a number in the ways of charts.
const numberTemplate = `
apiVersion: v1
kind: ConfigMap
metadata: {name: numbers}
data:
  plain: "{{ .Values.n }}"
  quoted: {{ .Values.n | quote }}
  yaml: {{ toYaml .Values.n | quote }}
  json: {{ toJson .Values.n | quote }}
  int: {{ .Values.n | int64 | quote }}
  text: {{ .Values.n | toString | quote }}
  fixed: {{ printf "%.0f" .Values.n | quote }}
  sum: {{ add .Values.n 1 | quote }}
  compared: {{ ge (int64 .Values.n) 1000000 | quote }}
`

// TestLargeNumbers wants whole numbers without an exponent in all ways to print them.
func TestLargeNumbers(t *testing.T) {
	for _, n := range []int64{5, 10000000, 9007199254740992} {
		files := simple(map[string]string{"templates/n.yaml": numberTemplate})
		r, problems := rendering(t, files, fmt.Sprintf(`{"n": %d}`, n))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var object struct{ Data map[string]string }
		if err := yaml.Unmarshal([]byte(r.Objects[0].Text), &object); err != nil {
			t.Fatal(err)
		}
		for _, way := range []string{"plain", "quoted", "yaml", "json", "int", "text", "fixed"} {
			if want := fmt.Sprint(n); object.Data[way] != want {
				t.Errorf("%s: %s, want %s", way, object.Data[way], want)
			}
		}
	}
}

// TestFileValues compares values with those of Helm's own reader, except large numbers.
func TestFileValues(t *testing.T) {
	for _, text := range []string{
		"", "{}", "a: 1", "a: {b: [1, 2.5, x, true, null, ~]}\n", "a: 1\n---\na: {b: 2}\nc: 0x1F\n", "on: yes\n2: x\ntrue: y\n",
		"a: &x {k: v}\nb: *x\nc: {<<: *x, l: w}\n", "t: 2024-01-02\nf: 1.0\ne: 1e3\no: 0123\ns: '0123'\n", "m: |\n  text\n  more", "a: .5\nb: -.5\n",
	} {
		t.Run(text, func(t *testing.T) {
			want, err := loader.LoadValues(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := fileValues("v.yaml", []byte(text))
			if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
				t.Errorf("%q: %#v, %v, want %#v", text, got, err, want)
			}
		})
	}
	for text, want := range map[string]string{
		"a: [": "isn't YAML", "- a": "aren't a map", "just text": "aren't a map", "a: 99999999999999999999": "a: the number is too large",
		"a: b\n c: d": "isn't YAML",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := fileValues("v.yaml", []byte(text))
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		})
	}
}

// TestWrongValues wants errors that name the field.
func TestWrongValues(t *testing.T) {
	for values, want := range map[string]string{
		`[1]`: "the values aren't a map", `{`: "the values aren't JSON", `"x"`: "the values aren't a map",
		`{"a": {"b": [1, 99999999999999999999]}}`: "values: a.b[1]: the number is too large",
	} {
		t.Run(values, func(t *testing.T) {
			_, problems := rendering(t, simple(nil), values)
			if len(problems) != 1 || !strings.Contains(problems[0].What, want) || problems[0].Fix == "" {
				t.Errorf("%s: %v, want %s", values, problems, want)
			}
		})
	}
	if r, problems := rendering(t, simple(nil), "null"); len(problems) > 0 || len(r.Objects) > 0 {
		t.Errorf("null: %v, %v", r, problems)
	}
}

// TestOrderOfValues wants later values to win: the chart's, the files, the request's. null
// deletes a default.
func TestOrderOfValues(t *testing.T) {
	files := simple(map[string]string{
		"values.yaml":      "m: {chart: 1, one: 1, two: 1, row: 1, gone: 1}\n",
		"templates/x.yaml": "{{ toJson .Values.m }}",
	})
	files["one.yaml"], files["two.yaml"] = "m: {one: 2, two: 2, row: 2}\n", "m: {two: 3, row: 3}\n"
	c := New()
	o := opening(t, c, wire.Open{Dir: write(t, files), Path: "app", ValuesFiles: []string{"one.yaml", "two.yaml"}})
	for range 2 { // a release changes nothing for the next one
		r, problems := c.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "a", Namespace: "b", Values: json.RawMessage(`{"m":{"row":4,"gone":null}}`)})
		if len(problems) > 0 || texts(r) != `{"chart":1,"one":2,"row":4,"two":3}` {
			t.Errorf("%v, %v", r, problems)
		}
	}
}
