package command

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// sourceValue has no character that ends a word in CSV, JSON, YAML or a URL. So it lands in
// any place of a document.
const sourceValue = `C4nary-Pa55-Rotat3d`

const (
	brokenHub = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: %s
  valueMappings: {uid: id, activate: act}
  extraValueMappings: {pw: pw}
  secretColumns: [pw]
---
`
	brokenForm = `apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  secrets:
    - {id: s, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: Secret, stringData: {x: %s}}}
`
)

// brokenDocuments returns documents with an error beside a secret value, by the type of
// their source. PW stands for the value. It is never a column's name, which messages show.
func brokenDocuments() map[string][]string {
	objects := []string{
		`[{"id":"a","act":1,"pw":PW}]`, `[{"id":"a","act":1,"pw":"PW}]`, `[{"id":"a","act":1,"pw":"PW" "x":1}]`, `[{"id":"a","act":1,"pw":"\xPW"}]`,
		`[{"id":"a","act":1,"pw":"\uPW"}]`, `[{"id":"a","act":1,"pw":"PW"},`, `[{"id":"a","act":1,"pw":"PW"}]PW`, `[{"id":"a","act":1,"pw":"PW"} PW]`, `"PW"`, `PW`, `["PW"]`, `[["PW"]]`,
		`{"items":"PW"}`,
		`[{"id":"a","act":1,"pw":{"PW":1e}}]`, `[{"id":"a","act":1,"pw":"PW"},{"id":"a","act":1,"pw":"PW"}]`, `[{"id":"","act":1,"pw":"PW"}]`,
		`[{"id":"a","act":1,"pw":01PW}]`, `[{"id":"a","act":1,"pw":-PW}]`, "[{\"id\":\"a\",\"act\":1,\"pw\":\"PW\n\"}]", "[{\"id\":\"a\",\"act\":1,\"pw\":\"PW\xff\"}]", `[{'id':'a','pw':'PW'}]`,
		`{"id":"a","act":1,"pw":"PW"}{"id":PW}`, `[{"id":"a","act":1,"pw":tru,"x":"PW"}]`, `[{"id":"a","act":1,"pw":"PW",}]`,
	}
	return map[string][]string{
		"csv": {
			"a,1,PW\nb,1,PW\n", "PW\n", "id;act;pw\na;1;PW\n", "id,act,pw\na,1,PW,x\n", "id,act,pw\na,1\nPW\n", "id,act,pw\na,1,\"PW\n", "id,act,pw\na,1,P\"PW\"\n",
			"id,act,pw\na,1,\"PW\"x\n", "id,act,pw\na,1,PW\xff\n", "id,act,pw\na,1,PW\x00\n", "id,act,pw,PW,PW\na,1,x,y,z\n", "id,act,pw\na,1,PW\na,1,PW\n", "id,act,pw\n,1,PW\n",
			"id\tact\tpw\na\t1\tPW\n", "id,act\na,1\nPW,1\n", "id,act,\na,1,PW\n", "\xff\xfei\x00d\x00PW", "id|act|pw\na|1|PW\n",
		},
		"json": objects,
		"yaml": append([]string{
			"- {id: a, act: 1, pw: PW: x}\n", "- {id: a, act: 1, pw: [PW}\n", "- id: a\n\tpw: PW\n", "- id: a\n  act: 1\n  pw: *PW\n", "- id: a\n  act: 1\n  pw: !PW x\n", "- id: a\n  pw: &PW\n",
			"- id: a\n  act: 1\n  pw: \"PW\n", "- id: a\n  act: 1\n  pw: 'PW\n", "- id: a\n  act: 1\n  pw: \"\\PW\"\n", "- id: a\n  act: 1\n  pw: |9x PW\n   PW\n", "- id: a\n  act: 1\n  pw: PW\n - PW\n", "PW: [\n",
			"- id: a\n  act: 1\n  pw: @PW\n", "- id: a\n  act: 1\n  pw: `PW`\n", "- id: a\n  act: 1\n  pw: %PW\n", "? PW\n", "---\n- id: a\n...\nPW\n---\nPW: [", "- PW\n", "PW\n", "- id: a\n  PW: 1\n  PW: 2\n", "<<: PW\n",
			"- id: a\n  act: 1\n  pw: !!binary PW\n", "- id: a\n  act: 1\n  pw: !!int PW\n", "- id: a\n  act: 1\n  pw: !!timestamp PW\n", "- id: a\n  act: 1\n  pw: {? [PW] : 1}\n", "- id: a\n  act: 1\n  pw: {<<: PW}\n",
		}, objects...),
		"sqlite": {"PW", "SQLite format 3\x00PW"},
	}
}

// brokenTables returns statements that make a table t with an error beside a secret value.
func brokenTables() []string {
	return []string{
		`create table t (id text, act int, pw text); insert into t values ('a', 1, 'PW'), ('a', 1, 'PW')`,
		`create table t (id text, act int, pw blob); insert into t values ('a', 1, cast('PW' || x'ff' as blob))`,
		`create table t (id text, act int, pw blob); insert into t values ('', 1, 'PW')`,
		`create table u (id text, act int, x text); insert into u values ('a', 1, 'PW'); create view t as select id, act, json(x) as pw from u`,
		`create table u (id text, act int, x text); insert into u values ('a', 1, 'PW'); create view t as select id, act, json_extract('{}', x) as pw from u`,
		`create table u (id text, act int, x text); insert into u values ('a', 1, 'PW'); create view t as select id, act, load_extension(x) as pw from u`,
	}
}

// brokenAnswers returns what an HTTP API answers, beside broken JSON. lynqctl repeats requests
// after a 429 or a 503 for a while, so these are left out.
func brokenAnswers() []http.HandlerFunc {
	say := func(code int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], with(header[i+1]))
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(with(body))) // the client may be gone
		}
	}
	const rows = `[{"id":"a","act":1,"pw":"PW"}]`
	all := []http.HandlerFunc{
		say(200, rows, "Link", `<http://127.0.0.1:1/PW>; rel="next"`), say(302, "", "Location", "http://127.0.0.1:1/PW"),
		say(302, "", "Location", "::PW"), say(200, rows, "Content-Encoding", "PW"), say(200, rows, "Content-Encoding", "gzip"),
		say(200, `{"data":[],"errors":["PW"]}`), say(200, `{"errors":[{"message":"PW"}]}`), say(200, `{"data":[],"partial":true,"PW":"PW"}`), say(206, rows),
	}
	for _, code := range []int{400, 401, 403, 404, 500} {
		all = append(all, say(code, `{"message":"PW","error":{"PW":"PW"}}`, "WWW-Authenticate", `Bearer realm="PW"`), say(code, "<html>PW</html>", "Content-Type", "text/html"))
	}
	for _, document := range brokenDocuments()["json"] {
		all = append(all, say(200, document))
	}
	return all
}

// brokenTemplates return templates that fail for a row, beside its secret value.
func brokenTemplates() []string {
	return []string{
		`{{ fail .pw }}`, `{{ atoi .pw }}`, `{{ int .pw }}`, `{{ float .pw }}`, `{{ add .pw 1 }}`, `{{ fromJson .pw }}`, `{{ mustFromJson .pw }}`, `{{ fromYaml (print "[" .pw) }}`, `{{ b64dec .pw }}`, `{{ b32dec .pw }}`,
		`{{ printf "%d" .pw }}`, `{{ index (dict) .pw | required .pw }}`, `{{ (dict .pw 1).x.y }}`, `{{ mustRegexMatch (print "[" .pw) "x" }}`, `{{ regexReplaceAll (print "(" .pw) "x" "y" }}`, `{{ toDate "2006" .pw }}`, `{{ duration .pw }}`,
		`{{ semver .pw }}`, `{{ semverCompare .pw "1" }}`, `{{ mustToDate "2006" .pw }}`, `{{ urlParse (print ":" .pw) }}`, `{{ substr 9 1 .pw | fail }}`, `{{ get (dict "a" 1) .pw | required .pw }}`, `{{ .pw | int64 }}`, `{{ dateModify .pw now }}`,
		`{{ tpl .pw }}`, `{{ list .pw | first | len | printf "%s" | fail }}`, `{{ bool .pw }}`, `{{ genCA .pw 1 }}`, `{{ htpasswd .pw "x" }}`, `{{ lookup .pw }}`, `{{ index .pw 99 }}`, `{{ slice .pw 1 999 }}`, `{{ .pw.x }}`, `{{ repeat (int .pw) "x" }}`,
	}
}

func with(text string) string { return strings.ReplaceAll(text, "PW", sourceValue) }

// TestSourcesKeepSecrets breaks documents, tables, answers and templates beside a secret
// value. Each run that reads them ends with 1 to 3, and no message shows the value.
func TestSourcesKeepSecrets(t *testing.T) {
	t.Parallel()
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	for kind, documents := range brokenDocuments() {
		for i, document := range documents {
			t.Run(fmt.Sprintf("%s/%d", kind, i), func(t *testing.T) {
				t.Parallel()
				r := newAnswered(t, managers, answer{}, nil)
				r.write(t, "rows", with(document))
				r.broken(t, `"{{ .pw }}"`, fmt.Sprintf("{type: %[1]s, %[1]s: {path: rows}}", kind))
			})
		}
	}
	for i, statements := range brokenTables() {
		t.Run(fmt.Sprintf("table/%d", i), func(t *testing.T) {
			t.Parallel()
			r := newAnswered(t, managers, answer{}, nil)
			path := filepath.Join(r.dir, "rows.db")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.ExecContext(t.Context(), with(statements))
			if closed := db.Close(); err != nil || closed != nil {
				t.Fatal(err, closed)
			}
			r.broken(t, `"{{ .pw }}"`, "{type: sqlite, sqlite: {path: rows.db, table: t}}")
		})
	}
	for i, handler := range brokenAnswers() {
		t.Run(fmt.Sprintf("http/%d", i), func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(handler)
			t.Cleanup(server.Close)
			newAnswered(t, managers, answer{}, nil).broken(t, `"{{ .pw }}"`, fmt.Sprintf("{type: http, http: {url: %q}}", server.URL+"/rows"))
		})
	}
	for i, template := range brokenTemplates() {
		t.Run(fmt.Sprintf("template/%d", i), func(t *testing.T) {
			t.Parallel()
			r := newAnswered(t, managers, answer{}, nil)
			r.write(t, "rows", with("id,act,pw\na,1,PW\n"))
			r.broken(t, fmt.Sprintf("%q", template), "{type: csv, csv: {path: rows}}")
		})
	}
}

// broken runs the commands that read rows, with a template for a Secret's value.
func (r *answered) broken(t *testing.T, template, source string) {
	t.Helper()
	r.write(t, "form.yaml", fmt.Sprintf(brokenHub, source)+fmt.Sprintf(brokenForm, template))
	for _, args := range [][]string{
		{"render", "--concurrency=1"}, {"render", "-o", "json"}, {"validate", "--rows"}, {"validate", "--rows", "-o", "json", "-v=9"},
		{"apply", "-v=9"}, {"diff", "-o", "json"}, {"apply", "-o", "json"}, {"render", "--output-dir", filepath.Join(r.dir, "tree"), "-o", "markdown"},
	} {
		code, said := r.run(t, append(args, "-f", filepath.Join(r.dir, "form.yaml"))...)
		switch {
		case strings.Contains(strings.ToLower(said), strings.ToLower(sourceValue[:8])):
			t.Errorf("%q shows the value:\n%s", args, said)
		case code == 0:
			t.Errorf("%q takes it:\n%s", args, said)
		}
	}
	r.stored(t)
}
