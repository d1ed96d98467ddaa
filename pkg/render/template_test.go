package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestTemplates renders one string as a value of a custom resource. It checks the YAML,
// and the value for apply.
func TestTemplates(t *testing.T) {
	row := record{"id": "acme", "a": "5", "b": "on", "url": "https://acme.example:8443/x?y"}
	for _, c := range []struct {
		template, yaml string
		value          any
	}{
		{`{{ .uid }}`, `acme`, "acme"},
		{`{{ $.uid }}`, `acme`, "acme"},
		{`{{- .uid -}}`, `acme`, "acme"},
		{`x-{{ .uid }}-{{ .a }}`, `x-acme-5`, "x-acme-5"},
		{`{{ .a }}`, `"5"`, "5"},
		{`{{ .b }}`, `"on"`, "on"},
		{`{{ .activate }}`, `"1"`, "1"},
		{`{{ .hubId }}/{{ .templateRef }}/{{ .namespace }}`, `crm/web/default`, "crm/web/default"},
		{`{{ .hostOrUrl }}`, `https://acme.example:8443/x?y`, "https://acme.example:8443/x?y"},
		{`{{ .host }}`, `acme.example`, "acme.example"},
		{`{{/* nothing */}}{{ .uid }}`, `acme`, "acme"},
		{`{{ .hostOrUrl | toHost }}`, `acme.example`, "acme.example"},
		{`{{ "acme.example:80" | toHost }}`, `acme.example`, "acme.example"},
		{`{{ .uid | sha1sum | trunc 8 }}`, `293abb6b`, "293abb6b"},
		{`{{ repeat 70 "é" | trunc63 }}`, strings.Repeat("é", 31), strings.Repeat("é", 31)},
		{`{{ .nothing }}`, ``, nil}, // see TestTemplateProblems
		// These results have types.
		{`{{ .a | int }}`, `5`, int64(5)},
		{`{{ int .a }}`, `5`, int64(5)},
		{`{{ (.a | int) }}`, `5`, int64(5)},
		{`{{ .a | float }}`, `5`, int64(5)},
		{`{{ "2.50" | float }}`, `2.5`, 2.5},
		{`{{ 1e6 | float }}`, `1000000`, int64(1000000)},
		{`{{ "1e30" | float }}`, `1.0e+30`, 1e30},
		{`{{ .b | bool }}`, `true`, true},
		{`{{ "F" | bool }}`, `false`, false},
		{`{{ add (.a | int) 1 }}`, `"6"`, "6"},
		{`{{ add (.a | int) 1 | int }}`, `6`, int64(6)},
		{`{{ ternary 3 1 (eq .b "on") | int }}`, `3`, int64(3)},
		{`{{ .c | default "7" | int }}`, ``, nil},
		{` {{ .a | int }}`, `" 5"`, " 5"},
		{`{{ .a | int }}m`, `5m`, "5m"},
		{`{{ if true }}{{ .a | int }}{{ end }}`, `"5"`, "5"},
		{`{{ mulf (.a | float) 1.5 | float }}`, `7.5`, 7.5},
		{`{{ " 12.00 " | int }}`, `12`, int64(12)},
		// Numbers print without an exponent, and keep their digits.
		{`{{ mulf (float .a) 1073741824 }}`, `"5368709120"`, "5368709120"},
		{`size={{ float "2000000.5" }}`, `size=2000000.5`, "size=2000000.5"},
		{`{{ (fromJson "{\"n\":1000000.0}").n }}`, `"1000000"`, "1000000"},
		{`{{ fromJson "[1e6,0.1234567890123456789]" | join "," }}`, `1000000,0.1234567890123456789`, "1000000,0.1234567890123456789"},
		{`{{ 1e6 | quote }}{{ 1e6 | toString }}{{ 1e6 | printf "%v" }}{{ 1e21 }}`, `'"1000000"100000010000001000000000000000000000'`, `"1000000"100000010000001000000000000000000000`},
		{`{{ list 1e6 (dict "a" 1e6) | toJson }}{{ list 1e6 }}`, `'[1000000,{"a":1000000}][1000000]'`, `[1000000,{"a":1000000}][1000000]`},
		{`{{ addf 0.1 0.2 }}-{{ subf "12345678901234567890.5" "0.5" }}`, `0.3-12345678901234567890`, "0.3-12345678901234567890"},
		{`{{ add "010" 1 }}{{ max "08" 1 }}{{ floor "-1.5" }}{{ round -1.4 0 }}`, `118-2-1`, "118-2-1"},
		{`{{ "9007199254740993" | float }}`, `9007199254740993`, int64(9007199254740993)},
		{`{{ if gt .a "10" }}more{{ else }}less{{ end }}`, `less`, "less"},
		{`{{ has (add 1 1) (list 1 2) }}{{ eq 2 2.0 }}{{ lt 1 1.5 }}`, `truetruetrue`, "truetruetrue"},
		{`{{ mergeOverwrite (dict "on" true) (dict "on" false) | toJson }}`, `'{"on":false}'`, `{"on":false}`},
		{`{{ duration 95 }} {{ durationRound "1s" }}`, `1m35s 1s`, "1m35s 1s"},
		// Helm's functions give texts.
		{`{{ dict "a" (list 1 "yes") "b" (dict) | toYaml }}`, `|-
    a:
      - 1
      - "yes"
    b: {}`, "a:\n  - 1\n  - \"yes\"\nb: {}"},
		{`{{ (fromYaml "a: {b: [1.5, x]}").a.b | last }}`, `x`, "x"},
		{`{{ dict "a" 1e6 "t" (dict "k" "v") | toToml | replace "\n" ";" }}`, `a = 1000000;;[t];k = "v"`, "a = 1000000;;[t];k = \"v\""},
		{`{{ .uid | required "no uid" }}`, `acme`, "acme"},
		// sprig's functions accept the result of int.
		{`{{ range until (.a | int) }}{{ . }}{{ end }}`, `"01234"`, "01234"},
		{`{{ trunc (.a | int) "abcdefgh" }}{{ repeat (int .a) "x" }}`, `abcdexxxxx`, "abcdexxxxx"},
		{`{{ seq 1 3 }}{{ untilStep 0 6 2 }}`, `1 2 3[0 2 4]`, "1 2 3[0 2 4]"},
		{`{{ "a\nb" | indent 2 }}{{ "c" | nindent 2 }}`, `"  a\n  b\n  c"`, "  a\n  b\n  c"},
		{`{{ merge (dict "a" 1) (dict "b" 2) | toJson }}`, `'{"a":1,"b":2}'`, `{"a":1,"b":2}`},
		{`{{ printf "%s-%d" .uid 3 }}`, `acme-3`, "acme-3"},
		// These templates parse JSON.
		{`{{ (fromJson "{\"n\": 3, \"big\": 12345678901234567}").big }}`, `"12345678901234567"`, "12345678901234567"},
		{`{{ range fromJson "[1,2]" }}{{ . }};{{ end }}`, `1;2;`, "1;2;"},
		{`{{ fromJson "{\"b\":1,\"a\":[true]}" | toJson }}`, `'{"a":[true],"b":1}'`, `{"a":[true],"b":1}`},
		// These results don't depend on the machine's map order or time zone.
		{`{{ dict "b" 1 "a" 2 "c" 3 | keys | join "," }}`, `a,b,c`, "a,b,c"},
		{`{{ dict "b" 1 "a" 2 "c" 3 | values | join "," }}`, `2,1,3`, "2,1,3"},
		{`{{ date "2006-01-02 15:04 MST" 0 }}`, `"1970-01-01 00:00 UTC"`, "1970-01-01 00:00 UTC"},
		{`{{ toDate "2006-01-02" "2024-02-29" | date "02.01.2006" }}`, `29.02.2024`, "29.02.2024"},
		{`{{ dateInZone "15:04" 0 "Europe/Berlin" }}`, `"01:00"`, "01:00"},
		{`{{ htmlDate 86400 }}`, `"1970-01-02"`, "1970-01-02"},
		{`{{ durationRound "2h10m5s" }}`, `2h`, "2h"},
		// A change of a string's variables doesn't affect other strings.
		{`{{ $_ := set . "uid" "changed" }}{{ .uid }}`, `changed`, "changed"},
		{`{{ define "x" }}<{{ . }}>{{ end }}{{ template "x" .uid }}`, `<acme>`, "<acme>"},
		{`{{ with .uid }}{{ . }}{{ end }}`, `acme`, "acme"},
		{`{{ with $x := .uid }}{{ $x }}-{{ $.a }}{{ end }}`, `acme-5`, "acme-5"},
		{`{{ get . "uid" }}{{ hasKey . "zzz" }}`, `acmefalse`, "acmefalse"},
	} {
		t.Run(c.template, func(t *testing.T) {
			if c.yaml == "" {
				return
			}
			in := load(t, hubYAML+custom("v: "+single(c.template)+"\nw: "+single("{{ .uid }}")))
			p := compileAll(t, in, render.Options{})[0]
			node, problems := p.Node(row.row(p.Hub, 2))
			if len(problems) > 0 {
				t.Errorf("%s: %v", c.template, problems)
				return
			}
			spec, _ := contentOf(t, node, 0)["spec"].(map[string]any)
			if diff := cmp.Diff(map[string]any{"v": c.value, "w": "acme"}, spec); diff != "" {
				t.Errorf("%s as an object: %s", c.template, diff)
			}
			out, _, err := runAll(t, []*render.Program{p}, []record{row}, render.Settings{})
			if want := "\nspec:\n  v: " + c.yaml + "\n  w: acme\n"; err != nil || !strings.HasSuffix(out, want) {
				t.Errorf("%s as YAML:\n%s\nwant at the end:%s%v", c.template, out, want, err)
			}
		})
	}
}

// TestIndexedVariables checks that index . "name" equals .name, also for names that only
// index can spell. Problems of a Secret show which columns a string reads.
func TestIndexedVariables(t *testing.T) {
	hub := strings.Replace(hubYAML, "b: b}", "my-col: b, 2fa: b}", 1)
	for template, want := range map[string]any{
		`{{ index . "my-col" }}`:                                               "7",
		`{{ index . "my-col" | int }}`:                                         int64(7),
		`{{ index . "my-col" | default "1" | int }}`:                           int64(7),
		`{{ upper (index . "2fa") }}-{{ index . "uid" }}`:                      "7-acme",
		`{{ with .uid }}{{ index $ "my-col" }}{{ end }}`:                       "7",
		`{{ range list "x" }}{{ index $ "my-col" }}{{ end }}`:                  "7",
		`{{ with fromJson "{\"my-col\": 1}" }}{{ index . "my-col" }}{{ end }}`: "1",
		`{{ index . "nope" | default "none" }}`:                                "none",
		`{{ $_ := set . "nope" "set" }}{{ index . "nope" }}`:                   "set",
		`{{ index .uid 0 }}`:                                                   "97",
	} {
		t.Run(template, func(t *testing.T) {
			in := load(t, hub+custom("v: "+single(template)))
			p := compileAll(t, in, render.Options{})[0]
			node, problems := p.Node(record{"id": "acme", "a": "x", "b": "7"}.row(p.Hub, 2))
			if len(problems) > 0 {
				t.Errorf("%s: %v", template, problems)
				return
			}
			spec, _ := contentOf(t, node, 0)["spec"].(map[string]any)
			if diff := cmp.Diff(want, spec["v"]); diff != "" {
				t.Errorf("%s: %s", template, diff)
			}
		})
	}
	in := load(t, hub+formYAML("secrets", "nameTemplate: s\nspec: {apiVersion: v1, kind: Secret, stringData: {x: '{{ index . \"my-col\" }}'}}\n")+
		"  configMaps:\n  - id: c\n    nameTemplate: c\n    spec: {apiVersion: v1, kind: ConfigMap, data: {x: '{{ .a | int }}'}}\n")
	p := compileAll(t, in, render.Options{})[0]
	_, problems := p.Node(record{"id": "acme", "a": "open", "b": "7"}.row(p.Hub, 2))
	if got := problems.Error(); !strings.Contains(got, `"open" is not a whole number`) {
		t.Errorf("a column that no Secret has is hidden: %s", got)
	}
	wrong := problemsOf(t, hub+custom("v: '{{ .my_col }}'"), render.Options{})
	if !strings.Contains(wrong, `did you mean index . "my-col"?`) {
		t.Error(wrong)
	}
}

func single(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// TestStringOnly checks that typed results stay strings where Kubernetes requires strings.
func TestStringOnly(t *testing.T) {
	out := stream(t, hubYAML+formYAML("deployments", `nameTemplate: app
labelsTemplate: {x: "{{ .a | int }}"}
annotationsTemplate: {z: "{{ .a | float }}"}
spec:
  apiVersion: apps/v1
  kind: Deployment
  spec:
    replicas: "{{ .a | int }}"
    selector: {matchLabels: {x: "{{ .a | int }}"}}
    template:
      metadata: {labels: {x: "{{ .a | int }}"}}
      spec:
        nodeSelector: {o: "{{ .b | bool }}"}
        containers:
        - name: c
          args: ["{{ .a | int }}"]
          command: ["{{ .a | int }}"]
          env: [{name: A, value: "{{ .a | int }}"}]
          ports: [{containerPort: "{{ .a | int }}"}]
`), record{"id": "acme", "a": "5", "b": "true"})
	want := `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
  namespace: default
  labels:
    lynq.sh/hub: crm
    x: "5"
  annotations:
    lynq.sh/deletion-policy: Delete
    lynq.sh/resource-id: r
    z: "5"
spec:
  replicas: 5
  selector:
    matchLabels:
      x: "5"
  template:
    metadata:
      labels:
        x: "5"
    spec:
      nodeSelector:
        o: "true"
      containers:
      - name: c
        args:
        - "5"
        command:
        - "5"
        env:
        - name: A
          value: "5"
        ports:
        - containerPort: 5
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
}

// TestTemplateProblems checks errors that show without any row.
func TestTemplateProblems(t *testing.T) {
	const at = `stdin:22: form "web", resource "r", spec.v: `
	for template, want := range map[string]string{
		`{{ .udi }}`:                     at + `variable .udi is unknown (did you mean .uid? otherwise add it to extraValueMappings in the hub)`,
		`{{ .zzzzzz }}`:                  at + `variable .zzzzzz is unknown (there are a, activate, b, host, hostOrUrl, hubId, namespace, templateRef, uid; add it to extraValueMappings in the hub)`,
		`{{ $.zzzzzz | int }}`:           at + `variable .zzzzzz is unknown (there are a, activate, b, host, hostOrUrl, hubId, namespace, templateRef, uid; add it to extraValueMappings in the hub)`,
		`{{ .a.b }}`:                     at + `.a is text and has no field b (for JSON in a column: (.a | fromJson).b)`,
		`{{ .a | uper }}`:                at + `function uper does not exist (did you mean upper?)`,
		`{{ frobnicate .a }}`:            at + `function frobnicate does not exist (Go templates', sprig's and Lynq's functions exist)`,
		`{{ env "HOME" }}`:               at + `function env does not exist here (what is rendered must not hang on the machine's environment; map a column to a variable)`,
		`{{ getHostByName .a }}`:         at + `function getHostByName does not exist here (rendering asks no name server; map a column to a variable)`,
		`{{ now | date "2006" }}`:        at + `function now returns a new value every time, so that every run would change the object (use it only with creationPolicy: Once, or store the value in a column)`,
		`{{ .a `:                         at + `unclosed action`,
		`{{ if .a }}`:                    at + `unexpected EOF`,
		`{{ lower }}`:                    at + `function lower takes 1 arguments, it gets 0`,
		`{{ len .a .b }}`:                at + `function len takes 1 arguments, it gets 2`,
		`{{ eq }}`:                       at + `function eq takes at least 1 arguments, it gets 0`,
		`{{ printf "%p" (list 1) }}`:     at + `function printf: %p prints an address, which is another one in every run`,
		`{{ printf "%03d" .a }}`:         at + `function printf: a text does not fit %d, which takes a whole number (convert it with | int)`,
		`{{ printf "%.1f" .a }}`:         at + `function printf: a text does not fit %f, which takes a number (convert it with | float)`,
		`{{ .a | printf "%s-%s" }}`:      at + `function printf: the format has a verb for argument 2, and only 1 follow it`,
		`{{ printf "100%" }}`:            at + `function printf: the format ends with a percent sign; %% writes one`,
		`{{ printf "%y" .a }}`:           at + `function printf: %y is no verb; %% writes a percent sign`,
		`{{ trunc .a "x" }}`:             at + `function trunc takes a whole number as argument 1, it gets a text (convert it: (.a | int))`,
		`{{ dict "a" }}`:                 at + `function dict takes keys and values in turn, and it gets 1 arguments (add a value for the last key)`,
		`{{ regexMatch "(" .a }}`:        at + `function regexMatch: "(" is not a regular expression`,
		`{{ tpl .a . }}`:                 at + `function tpl does not exist here (row text is data and never a template; write the template into the form)`,
		`{{ include "x" . }}`:            at + `function include does not exist here (each string of a form is a template of its own; write {{ define }} and {{ template }} in the same string)`,
		`{{ lookup "v1" .a .b "" }}`:     at + `function lookup does not exist here (rendering asks no cluster; map a column to a variable)`,
		`{{ .a | trunc 5 6 }}`:           at + `function trunc takes 2 arguments, it gets 3`,
		`{{ (toDate "2006" .a).Local }}`: at + `the local time zone is another one on every machine (name a zone: dateInZone "Europe/Berlin")`,
		`{{ define "x" }}{{ if . }}{{ template "x" . }}{{ end }}{{ end }}{{ template "x" .a }}`:  at + `template "x" calls itself (use range)`,
		`{{ define "x" }}{{ template "y" }}{{ end }}{{ define "y" }}{{ template "x" }}{{ end }}`: at + `template "x" calls itself (use range)` + "\n" + at + `template "y" calls itself (use range)`,
		`{{ template "x" . }}`: at + `template "x" is not defined (each string of a form is a template of its own; define it in the same string)`,
		`{{ .x }}{{ uuidv4 }}`: at + `variable .x is unknown (there are a, activate, b, host, hostOrUrl, hubId, namespace, templateRef, uid; add it to extraValueMappings in the hub)` + "\n" +
			at + `function uuidv4 returns a new value every time, so that every run would change the object (use it only with creationPolicy: Once, or store the value in a column)`,
	} {
		t.Run(template, func(t *testing.T) {
			if got := problemsOf(t, hubYAML+custom("v: "+single(template)), render.Options{}); got != want {
				t.Errorf("%s:\n got %s\nwant %s", template, got, want)
			}
		})
	}
}

// TestVarying checks that nondeterministic functions need creationPolicy Once and a flag.
func TestVarying(t *testing.T) {
	once := hubYAML + formYAML("secrets", `nameTemplate: "{{ .uid }}"
creationPolicy: Once
spec:
  apiVersion: v1
  kind: Secret
  stringData: {a: "{{ randAlphaNum 32 }}", b: "{{ randAlphaNum 32 }}"}
`)
	want := `stdin:22: form "web", resource "r", stringData.a: function randAlphaNum returns a new value every time (store the value in a column, or pass --allow-nondeterministic)`
	want += "\n" + strings.Replace(want, "stringData.a", "stringData.b", 1)
	if got := problemsOf(t, once, render.Options{}); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	p := compileAll(t, load(t, once), render.Options{AllowVarying: true})[0]
	node, problems := p.Node(record{"id": "x"}.row(p.Hub, 1))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	data, _ := contentOf(t, node, 0)["stringData"].(map[string]any)
	if data["a"] == data["b"] {
		t.Errorf("two places have the same random value %v", data["a"])
	}
}

// TestRowProblems checks that the error for a row names the place, the row and the reason.
func TestRowProblems(t *testing.T) {
	const at = `stdin:22: form "web", resource "r", spec.v: row "acme": `
	for template, want := range map[string]string{
		`{{ .a | int }}`:                                      at + `"x y" is not a whole number`,
		`{{ .b | int }}`:                                      at + `empty text is not a whole number`,
		`{{ .b | bool }}`:                                     at + `empty text is not a boolean (true, false, yes, no, on, off, 1, 0)`,
		`{{ .a | float }}`:                                    at + `"x y" is not a number`,
		`{{ "3.5" | int }}`:                                   at + `at <int>: "3.5" is not a whole number`,
		`{{ "99999999999999999999" | int }}`:                  at + `at <int>: "99999999999999999999" does not fit in 64 bits`,
		`{{ add (.a | int) 1 }}`:                              at + `at <int>: "x y" is not a whole number`,
		`{{ .a | fromJson }}`:                                 at + `at <fromJson>: not JSON: the mistake is at character 1`,
		`{{ .b | fromJson }}`:                                 at + `at <fromJson>: empty text is not JSON`,
		`{{ fromJson "1 2" }}`:                                at + `at <fromJson "1 2">: more than one JSON value`,
		`{{ (fromJson "{}").x }}`:                             at + `at <"{}">: map has no entry for key "x"`,
		`{{ index (fromJson "{}") "x" }}`:                     at + `the value is missing: a key or an element doesn't exist, or is null (default, get and dig give another value)`,
		`{{ fail "no" }}`:                                     at + `at <fail "no">: no`,
		`{{ date "2006" .a }}`:                                at + `at <date "2006" .a>: "x y" is not a date; make one with toDate LAYOUT TEXT, or with int from seconds since 1970`,
		`{{ dateInZone "2006" 0 "Local" }}`:                   at + `at <dateInZone "2006" 0 "Local">: zone "Local" is another one on every machine; name one, such as "UTC"`,
		`{{ toDate "2006" "1" | durationRound }}`:             at + `at <toDate "2006" "1">: "1" is not a date of layout "2006"`,
		`{{ $d := dict }}{{ set $d "a" (list $d) }}`:          at + `at <set $d "a" (list $d)>: set would make the map hold itself`,
		`{{ $d := dict }}{{ merge $d (dict "a" $d) }}`:        at + `at <merge $d (dict "a" $d)>: merge would make the map hold itself`,
		`{{ range until 99999 }}{{ repeat 99 "x" }}{{ end }}`: at + `the result has more than 4194304 bytes`,
		`{{ printf .a 1 }}`:                                   at + `at <printf .a 1>: the format has no verb for argument 1 after it`,
		`{{ if .hostOrUrl }}x{{ end }}`:                       at + `"no" is a text, and a condition takes every text but "" for true (for a column that says yes or no: (.x | bool); for whether it has a text: (ne .x ""))`,
		`{{ .a | atoi }}`:                                     at + `at <atoi>: "x y" is not a whole number`,
		`{{ urlParse "postgres://u:pa%zz@h/db" }}`:            at + `at <urlParse "postgres://u:pa%zz@h/db">: "postgres://REDACTED@h/db" is not a URL`,
		`{{ substr 0 1 "é" }}`:                                at + `at <substr 0 1 "é">: "é" would be cut inside a character (trunc63 cuts between characters)`,
	} {
		t.Run(template, func(t *testing.T) {
			in := load(t, hubYAML+custom("v: "+single(template)))
			p := compileAll(t, in, render.Options{})[0]
			_, problems := p.Node(record{"id": "acme", "a": "x y", "b": "", "url": "no"}.row(p.Hub, 2))
			if got := problems.Error(); got != want {
				t.Errorf("%s:\n got %s\nwant %s", template, got, want)
			}
		})
	}
}

// TestSecretsStayOut checks that problems of a Secret don't show values of the row.
func TestSecretsStayOut(t *testing.T) {
	in := load(t, hubYAML+formYAML("secrets", `nameTemplate: "{{ .uid }}"
spec: {apiVersion: v1, kind: Secret, stringData: {num: "{{ .a | int }}", m: "{{ .a | fail }}"}}
`))
	p := compileAll(t, in, render.Options{})[0]
	_, problems := p.Node(record{"id": "acme", "a": "hunter2"}.row(p.Hub, 2))
	want := lynq.Problems{
		{Pos: lynq.Pos{File: "stdin", Line: 18}, Subject: `form "web", resource "r", stringData.num`, Row: "acme", What: `a text of 7 characters is not a whole number`},
		{Pos: lynq.Pos{File: "stdin", Line: 18}, Subject: `form "web", resource "r", stringData.m`, Row: "acme", What: `at <fail>: it fails (the reason could show a secret)`},
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
}

// TestSecretsStaySecret checks that other places don't show a Secret's values either.
func TestSecretsStaySecret(t *testing.T) {
	in := load(t, hubYAML+formYAML("secrets", `nameTemplate: "{{ .uid }}"
spec: {apiVersion: v1, kind: Secret, stringData: {pw: "{{ .a }}"}}
`)+`  configMaps:
  - id: c
    nameTemplate: "{{ .a }}"
    labelsTemplate: {l: "{{ .a }}", m: "{{ .b }}"}
    spec: {apiVersion: v1, kind: ConfigMap, data: {x: "{{ .a | int }}", yy: "{{ .b | int }}", z: "{{ printf .a | int }}"}}
`)
	p := compileAll(t, in, render.Options{})[0]
	_, problems := p.Node(record{"id": "acme", "a": " Hunter2 ", "b": "open"}.row(p.Hub, 2))
	want := `stdin:23: form "web", resource "c", data.x: row "acme": a text of 7 characters is not a whole number
stdin:23: form "web", resource "c", data.yy: row "acme": "open" is not a whole number
stdin:23: form "web", resource "c", data.z: row "acme": at <int>: a text of 7 characters is not a whole number`
	if diff := cmp.Diff(want, problems.Error()); diff != "" {
		t.Error(diff)
	}
	in = load(t, strings.Replace(hubYAML+formYAML("secrets", `nameTemplate: "{{ .uid }}"
spec: {apiVersion: v1, kind: Secret, stringData: {pw: "{{ .a }}"}}
`), "stringData: {pw", "metadata: {labels: {l: '{{ .a }}'}}, stringData: {pw", 1))
	p = compileAll(t, in, render.Options{})[0]
	_, problems = p.Node(record{"id": "acme", "a": " Hunter2 "}.row(p.Hub, 2))
	if got := problems.Error(); strings.Contains(got, "Hunter2") || !strings.Contains(got, "a text of 9 characters cannot be the value of a label") {
		t.Error(got)
	}
}

// TestPlaces checks that each problem names its place, although equal strings run only
// once.
func TestPlaces(t *testing.T) {
	text := hubYAML + formYAML("configMaps", `nameTemplate: "{{ .a }}"
spec: {apiVersion: v1, kind: ConfigMap}
`) + `  services:
  - id: s
    nameTemplate: "{{ .a }}"
    targetNamespace: "{{ .b }}"
    spec: {apiVersion: v1, kind: Service, spec: {x: "{{ .b | int }}", l: ["{{ .b | int }}"]}}
`
	p := compileAll(t, load(t, text), render.Options{})[0]
	_, problems := p.Node(record{"id": "acme", "a": "a.b", "b": "1"}.row(p.Hub, 2))
	want := `stdin:21: form "web", resource "s", nameTemplate: row "acme": name "a.b" isn't valid in Kubernetes (use lowercase letters, digits, and '-', and start and end with a letter or digit)`
	if diff := cmp.Diff(want, problems.Error()); diff != "" {
		t.Error(diff)
	}
	_, problems = p.Node(record{"id": "acme", "a": "a", "b": "x"}.row(p.Hub, 2))
	want = `stdin:23: form "web", resource "s", spec.x: row "acme": "x" is not a whole number (the same text stands in 1 more places)`
	if diff := cmp.Diff(want, problems.Error()); diff != "" {
		t.Error(diff)
	}
	wrong := strings.ReplaceAll(text, ".b | int", ".nope | int")
	want = `stdin:23: form "web", resource "s", spec.x: variable .nope is unknown (there are a, activate, b, host, hostOrUrl, hubId, namespace, templateRef, uid; add it to extraValueMappings in the hub)
stdin:23: form "web", resource "s", spec.l[]: variable .nope is unknown (there are a, activate, b, host, hostOrUrl, hubId, namespace, templateRef, uid; add it to extraValueMappings in the hub)`
	if diff := cmp.Diff(want, problemsOf(t, wrong, render.Options{})); diff != "" {
		t.Error(diff)
	}
}

// TestLongValues checks that messages shorten values of rows.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("x y", 100_000)
	for field, want := range map[string]string{
		`nameTemplate: "{{ .a }}"`:                                      "has 300000 characters, at most 253 are allowed",
		`labelsTemplate: {l: "{{ .a }}"}`:                               "cannot be the value of a label",
		`spec: {x: "{{ .a | int }}"}`:                                   "is not a whole number",
		`spec: {x: "{{ .a | upper | int }}"}`:                           "is not a whole number",
		`spec: {x: "{{ fail .a }}"}`:                                    "",
		`spec: {x: "{{ mustRegexMatch .a .a }}{{ printf .a | fail }}"}`: "",
	} {
		t.Run(field, func(t *testing.T) {
			name := "nameTemplate: thing\n"
			if strings.HasPrefix(field, "nameTemplate") {
				name = ""
			}
			text := name + field + "\n"
			if spec, found := strings.CutPrefix(field, "spec: "); found {
				text = name + "spec: {apiVersion: example.com/v1, kind: Thing, spec: " + spec + "}\n"
			} else {
				text += "spec: {apiVersion: example.com/v1, kind: Thing}\n"
			}
			p := compileAll(t, load(t, hubYAML+formYAML("manifests", text)), render.Options{})[0]
			_, problems := p.Node(record{"id": "acme" + long, "a": long}.row(p.Hub, 2))
			if got := problems.Error(); len(problems) != 1 || len(got) > 3*4096 || !strings.Contains(got, "more bytes)") || !strings.Contains(got, want) {
				t.Errorf("%s: %d problems of %d bytes: ...%.200s", field, len(problems), len(got), got[max(0, len(got)-200):])
			}
		})
	}
	_, _, err := runAll(t, compileAll(t, load(t, hubYAML+custom("v: x")), render.Options{}), []record{{"id": long, "active": long}}, render.Settings{})
	if err == nil || len(err.Error()) > 3*4096 || strings.Count(err.Error(), "more bytes)") != 2 {
		t.Errorf("activation: %.200v", err)
	}
}
