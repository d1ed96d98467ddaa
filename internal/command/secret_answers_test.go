package command

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

const (
	answeredHub = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: act}
  extraValueMappings: {pw: pw}
  secretColumns: [pw]
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  secrets:
    - {id: s, nameTemplate: "{{ .uid }}-s", spec: {apiVersion: v1, kind: Secret, stringData: {x: "{{ .pw }}"}}}
  configMaps:
`
	answeredMap = `    - {id: %[1]s, nameTemplate: "{{ .uid }}-%[1]s", %[2]s, spec: {apiVersion: v1, kind: ConfigMap, data: {x: '%[3]s'}}}
`
	answeredHook = `  jobs:
    - id: h
      nameTemplate: "{{ .uid }}-h"
      runOn: Delete
      spec:
        apiVersion: batch/v1
        kind: Job
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: h, image: h, env: [{name: X, value: "{{ .pw }}"}]}]}}}
`
	secretBefore, secretAfter = `C4nary-"<&>-Välue+/=0`, `R0tated'{&}-Wört+/=1`
)

// answeredForm returns hub and form. The ConfigMaps have some names, and x has a value.
func answeredForm(value string, hook bool, ids ...string) string {
	text := answeredHub
	for _, id := range ids {
		policy := map[string]string{"c": "patchStrategy: apply", "k": "deletionPolicy: Retain", "m": "patchStrategy: merge", "r": "patchStrategy: replace"}[id]
		text += fmt.Sprintf(answeredMap, id, policy, value)
	}
	if hook {
		text += answeredHook
	}
	return text
}

// answeredState says what became of a row since its node was applied.
type answeredState struct {
	applied bool // the node was applied with the first value
	left    bool // the row left, and its node was deleted
	hook    bool
	form    string // hub and form now
	rows    string // "" means the value changed
	command []string
}

func answeredStates() map[string]answeredState {
	const value = "{{ .pw }}"
	all := answeredForm(value, false, "c", "k", "m", "r")
	hooked := answeredForm(value, true, "c", "k")
	const rows = "id,act,pw\n"
	return map[string]answeredState{
		"new":                  {form: all},
		"changed":              {applied: true, form: all},
		"field dropped":        {applied: true, form: answeredForm("none", false, "c", "k", "m", "r")},
		"resource dropped":     {applied: true, form: answeredForm(value, false, "m")},
		"inactive":             {applied: true, form: all, rows: rows + "b,1,\na,0," + quotedCSV(secretBefore)},
		"inactive and emptied": {applied: true, form: all, rows: rows + "b,1,\na,0,"},
		"gone":                 {applied: true, form: all, rows: rows + "b,1,"},
		"gone, with a hook":    {applied: true, hook: true, form: hooked, rows: rows + "b,1,"},
		"node deleted":         {applied: true, form: all, rows: rows + "b,1,", command: []string{"delete", "node", "a-web", "--yes"}},
		"orphaned":             {applied: true, left: true, form: all, rows: rows + "b,1,", command: []string{"orphans", "prune", "--all", "--yes"}},
		"hub deleted, hook":    {applied: true, hook: true, form: hooked, rows: rows + "b,1,", command: []string{"delete", "hub", "crm", "--yes"}},
	}
}

func quotedCSV(v string) string { return `"` + strings.ReplaceAll(v, `"`, `""`) + `"` }

// answer is a refusal or a warning about an object, which quotes it.
type answer struct {
	code    int
	reason  metav1.StatusReason
	message string // %s is the quotation
	causes  bool
	warns   bool
}

func answers() map[string]answer {
	const webhook, policy = `admission webhook "w.example.com" denied the request: %s`, `%[2]s "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: %[1]s`
	return map[string]answer{
		"policy":                {code: 422, reason: metav1.StatusReasonInvalid, message: policy},
		"policy, unauthorized":  {code: 401, reason: metav1.StatusReasonUnauthorized, message: policy},
		"webhook":               {code: 403, reason: metav1.StatusReasonForbidden, message: webhook},
		"webhook, conflict":     {code: 409, reason: metav1.StatusReasonConflict, message: webhook},
		"webhook, bad request":  {code: 400, message: webhook},
		"webhook, like a right": {code: 403, reason: metav1.StatusReasonForbidden, message: webhook + ` cannot patch resource "x"`},
		"plugin":                {code: 403, reason: metav1.StatusReasonForbidden, message: `%[2]s "x" is forbidden: %[1]s`},
		"validation":            {code: 422, reason: metav1.StatusReasonInvalid, message: `%[2]s "x" is invalid: data.x: Invalid value: %[1]s: is bad`, causes: true},
		"proxy":                 {code: 403, message: `<html>%s</html>`},
		"warning":               {code: 200, message: `%s is weak`, warns: true},
	}
}

// quotations are the ways in which a message quotes a text.
func quotations() map[string]func(string) string {
	return map[string]func(string) string{
		"plain":  func(s string) string { return s },
		"Go":     func(s string) string { return fmt.Sprintf("%q", s) },
		"base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("{" + s + "}")) },
		"URL":    url.QueryEscape,
		"hex":    func(s string) string { return hex.EncodeToString([]byte(s)) },
	}
}

// quoter stands before an API server. It refuses writes of objects, or warns about them, and
// quotes all values in them.
type quoter struct {
	*apiserver.Server
	answer answer
	quote  func(string) string

	mu     sync.Mutex
	on     bool
	quoted int
}

// RoundTrip implements http.RoundTripper.
func (q *quoter) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it is read
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	at := regexp.MustCompile(`/(configmaps|jobs|secrets)/?([^/]*)$`).FindStringSubmatch(r.URL.Path)
	if !q.on || r.Method == http.MethodGet || at == nil || strings.HasPrefix(at[2], "lynq") || bytes.Contains(body, []byte("lynq.sh/record")) || bytes.Contains(body, []byte("lynqhooks-")) {
		return q.Server.RoundTrip(r)
	}
	values := secretBefore + " and " + secretAfter
	q.quoted++
	quoted := q.quote(values)
	if q.answer.warns {
		resp, err := q.Server.RoundTrip(r)
		if err == nil {
			resp.Header.Set("Warning", fmt.Sprintf("299 - %q", fmt.Sprintf(q.answer.message, quoted)))
		}
		return resp, err
	}
	return q.refuse(r, at[1], quoted), nil
}

func (q *quoter) refuse(r *http.Request, plural, quoted string) *http.Response {
	message := q.answer.message
	if message = strings.ReplaceAll(message, "%[2]s", plural); strings.Contains(message, "%[1]s") {
		message = strings.ReplaceAll(message, "%[1]s", quoted)
	} else {
		message = strings.ReplaceAll(message, "%s", quoted)
	}
	contentType, text := "text/html", []byte(message)
	if !strings.HasPrefix(message, "<") {
		status := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Message: message, Reason: q.answer.reason, Code: int32(q.answer.code)}
		if q.answer.causes {
			status.Details = &metav1.StatusDetails{Kind: plural, Name: "x", Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "data.x", Message: message}}}
		}
		contentType = "application/json"
		text, _ = json.Marshal(status) // JSON supports all of its values
	}
	return &http.Response{StatusCode: q.answer.code, Status: http.StatusText(q.answer.code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: -1, Request: r}
}

// turn begins or ends the quoting.
func (q *quoter) turn(on bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.on = on
}

// shows returns a part of a secret value that a text shows, in any encoding, or "".
func shows(text string) string {
	text = strings.ToLower(text)
	for _, v := range []string{secretBefore, secretAfter} {
		const part = 6
		found := []string{v[:part], hex.EncodeToString([]byte(v[:part])), v[len(v)-part:]}
		for shift := range 3 {
			encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
			found = append(found, encoded[(shift*8+5)/6:(shift+9)*8/6])
		}
		for _, part := range found {
			if strings.Contains(text, strings.ToLower(part)) {
				return part
			}
		}
	}
	return ""
}

// TestAnswersKeepSecrets lets the server refuse, or warn about, each write in each state of
// a row, with each kind of answer that quotes the object. No output and nothing that lynqctl
// stores shows a part of a secret value, also if no row has the value any more.
func TestAnswersKeepSecrets(t *testing.T) {
	t.Parallel()
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	for state, s := range answeredStates() {
		for name, a := range answers() {
			for form, quote := range quotations() {
				if form != "plain" && (name != "warning" && name != "policy" || state != "changed" && state != "inactive") {
					continue // how a value is written depends on nothing else
				}
				t.Run(state+"/"+name+"/"+form, func(t *testing.T) {
					t.Parallel()
					r := newAnswered(t, managers, a, quote)
					r.begin(t, s)
					r.all(t, s)
					if r.server.quoted == 0 {
						t.Error("the server quoted nothing")
					}
				})
			}
		}
	}
}

// answered runs commands before a server that quotes.
type answered struct {
	server *quoter
	dir    string
	kube   string
}

func newAnswered(t *testing.T, managers *apiserver.Managers, a answer, quote func(string) string) *answered {
	t.Helper()
	r := &answered{server: &quoter{Server: apiserver.New(managers), answer: a, quote: quote}, dir: t.TempDir(), kube: filepath.Join(t.TempDir(), "kubeconfig")}
	const text = `{apiVersion: v1, kind: Config, current-context: memory, contexts: [{name: memory, context: {cluster: memory, namespace: shop}}], clusters: [{name: memory, cluster: {server: "http://memory"}}]}`
	if err := os.WriteFile(r.kube, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://memory", Transport: r.server.Server, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	shop := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}}}
	if _, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), shop, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *answered) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// begin brings a row into a state.
func (r *answered) begin(t *testing.T, s answeredState) {
	t.Helper()
	const rows = "id,act,pw\nb,1,\na,1,"
	if s.applied {
		ids := []string{"c", "k", "m", "r"}
		if s.hook {
			ids = ids[:2]
		}
		r.write(t, "form.yaml", answeredForm("{{ .pw }}", s.hook, ids...))
		r.write(t, "rows.csv", rows+quotedCSV(secretBefore)+"\n")
		if code, said := r.run(t, "apply", "-f", r.dir); code != 0 {
			t.Fatal(said)
		}
	}
	r.write(t, "form.yaml", s.form)
	if s.rows == "" {
		s.rows = rows + quotedCSV(secretAfter)
	}
	r.write(t, "rows.csv", s.rows+"\n")
	if s.left {
		if code, said := r.run(t, "apply", "-f", r.dir, "--max-delete=100%"); code != 0 {
			t.Fatal(said)
		}
	}
}

// all runs the commands, and looks at everything that they show and store.
func (r *answered) all(t *testing.T, s answeredState) {
	t.Helper()
	metrics, plan := filepath.Join(r.dir, "metrics.prom"), filepath.Join(r.dir, "plan.json")
	file := []string{"-f", r.dir, "--max-delete=100%"}
	r.server.turn(true)
	if s.command != nil {
		r.quiet(t, append(s.command, "--dry-run=server")...)
		r.quiet(t, append(s.command, "-v=9")...)
		r.quiet(t, append(s.command, "-o", "json")...)
	} else {
		r.quiet(t, append(file, "diff")...)
		r.quiet(t, append(file, "plan", "--out", plan, "-o", "json")...)
		r.quiet(t, append(file, "apply", "--dry-run=server", "-o", "json")...)
		r.quiet(t, append(file, "apply", "-o", "json", "-v=9", "--metrics-file", metrics, "--metrics-per-node")...)
		r.quiet(t, append(file, "apply")...)
	}
	r.server.turn(false)
	r.quiet(t, "status", "node", "a-web", "-o", "json")
	r.quiet(t, "inventory", "show", "a-web", "-o", "yaml")
	r.quiet(t, "history", "-o", "json")
	r.stored(t)
}

// quiet runs a command that must not show a value.
func (r *answered) quiet(t *testing.T, args ...string) {
	t.Helper()
	if _, said := r.run(t, args...); shows(said) != "" {
		t.Errorf("%q shows %s:\n%s", args, shows(said), said)
	}
}

// run runs a command, and returns its output and messages.
func (r *answered) run(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	return r.runAs(t, r.server, args...)
}

// runAs runs a command whose requests go through a transport.
func (r *answered) runAs(t *testing.T, transport http.RoundTripper, args ...string) (code int, said string) {
	t.Helper()
	var out screen
	args = append(args, "--kubeconfig="+r.kube)
	if args[0] == "-f" { // the command comes behind its flags
		args = append(append([]string{args[3]}, args[:3]...), args[4:]...)
	}
	code = Run(t.Context(), World{Stdin: strings.NewReader(""), Stdout: tty.To(&out), Stderr: tty.To(&out), Program: "lynqctl", Getenv: func(string) string { return "" }, Transport: transport}, args)
	return code, out.text.String()
}

// screen receives outputs, messages and a log in the order in which they come, as a
// terminal does. Requests log while a run reports.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// stored looks at records, events, Leases and files.
func (r *answered) stored(t *testing.T) {
	t.Helper()
	for _, kind := range [][2]string{{"", "configmaps"}, {"", "events"}, {"coordination.k8s.io", "leases"}} {
		for _, o := range r.server.All(kind[0], kind[1], "") {
			if kind[1] == "configmaps" && o.GetLabels()["lynq.sh/record"] == "" {
				continue
			}
			text, err := o.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if v := shows(string(text)); v != "" {
				t.Errorf("%s %s shows %s:\n%s", kind[1], o.GetName(), v, text)
			}
		}
	}
	for _, name := range []string{"metrics.prom", "plan.json"} {
		text, err := os.ReadFile(filepath.Join(r.dir, name))
		if err == nil && shows(string(text)) != "" {
			t.Errorf("%s shows %s:\n%s", name, shows(string(text)), text)
		}
	}
}
