package watchcmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// logView is a View that writes a log.
type logView struct{ *ui.Log }

func (logView) CanAsk() bool                             { return false }
func (logView) Attended() bool                           { return false }
func (logView) Confirm(string) (bool, error)             { return false, nil }
func (logView) ConfirmName(string, string) (bool, error) { return false, nil }
func (logView) Preview([]plan.Plan) error                { return nil }
func (logView) Count(string) session.Counter             { return nil }
func (v logView) Printer(session.Mode) session.Printer   { return v.Log }
func (v logView) Reporter(session.Mode) session.Reporter { return v.Log }

// lines is a writer for several goroutines.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// slowServer answers each write late, each one by another time, so that retries of nodes
// drift apart. It refuses writes of tenants' objects with refusal, unless that is 0.
type slowServer struct {
	*apiserver.Server
	refusal int
	mu      sync.Mutex
	writes  int
}

func (s *slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		s.mu.Lock()
		s.writes++
		late := time.Duration(s.writes*37%191) * 10 * time.Millisecond
		s.mu.Unlock()
		<-time.After(late)
	}
	if s.refusal != 0 && r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/default/configmaps/t") {
		body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"%s is refused"}`,
			s.refusal, map[int]string{http.StatusForbidden: "Forbidden", http.StatusUnprocessableEntity: "Invalid"}[s.refusal], path.Base(r.URL.Path))
		return &http.Response{
			StatusCode: s.refusal, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}
	return s.Server.RoundTrip(r)
}

// failure is a cause for which all nodes fail.
type failure struct {
	name    string
	taken   bool   // other owners have the objects
	refusal int    // the server refuses to write them
	value   string // of each row, from which the form makes an integer
	each    bool   // each node has an event, because no common cause stops the form
}

// TestFailingForLong lets 250 nodes fail for 20 minutes of a clock that doesn't wait, on a
// server in memory. The log tells the cause once, and each
// node has at most one event.
func TestFailingForLong(t *testing.T) {
	for _, cause := range []failure{
		{name: "conflict", taken: true, value: "1", each: true},
		{name: "forbidden", refusal: http.StatusForbidden, value: "1"},
		{name: "invalid", refusal: http.StatusUnprocessableEntity, value: "1"},
		{name: "a broken server", refusal: http.StatusInternalServerError, value: "1"},
		{name: "rows that don't render", value: "many"},
	} {
		t.Run(cause.name, func(t *testing.T) { failForLong(t, &cause) })
	}
}

func failForLong(t *testing.T, cause *failure) {
	t.Helper()
	const nodes, most, mostEvents = 250, 200, 300
	dir, said := t.TempDir(), &lines{}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows := &strings.Builder{}
	rows.WriteString("id,active,v\n")
	for i := range nodes {
		fmt.Fprintf(rows, "t%03d,1,%s\n", i, cause.value)
	}
	write("rows.csv", rows.String())
	write("inputs.yaml", strings.NewReplacer("activate: active}", "activate: active}\n  extraValueMappings: {v: v}", "gold", "\"{{ .v | int }}\"").Replace(inputs))
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(memoryKubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	events, retries, about := 0, 0, map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		server := &slowServer{Server: apiserver.New(managers), refusal: cause.refusal}
		send(t, server, http.MethodPost, "/api/v1/namespaces", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`))
		if cause.taken {
			foreign(t, server, nodes)
		}
		watchFor(t, server, dir, kubeconfig, said)
		items, _ := send(t, server, http.MethodGet, "/api/v1/namespaces/default/events", nil)["items"].([]any)
		events = len(items)
		for _, item := range items {
			event, _ := item.(map[string]any)
			of, _ := event["involvedObject"].(map[string]any)
			count, _ := event["count"].(float64)
			retries += int(count)
			about[fmt.Sprint(of["namespace"], of["name"], event["reason"])]++
		}
	})
	for of, n := range about {
		if n > 1 {
			t.Errorf("%s has %d events, and one can count retries", of, n)
		}
	}
	text := said.String()
	if got := strings.Count(text, "\n"); got > most || got < 3 {
		t.Errorf("%d lines:\n%.9000s", got, text)
	}
	if events > mostEvents || cause.each && (events < nodes || retries < 4*nodes) || cause.refusal != 0 && (events == 0 || retries < 2*events) { // without a hub record, rows have no event
		t.Errorf("%d events, which count %d retries:\n%.9000s", events, retries, text)
	}
}

// watchFor runs watch for 20 minutes.
func watchFor(t *testing.T, server http.RoundTripper, dir, kubeconfig string, said *lines) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Minute)
	defer stop()
	watchUntil(ctx, server, dir, kubeconfig, said)
}

// watchUntil runs watch until the end of the context.
func watchUntil(ctx context.Context, server http.RoundTripper, dir, kubeconfig string, said *lines) {
	options := watchcmd.Options{Apply: applycmd.Options{
		RenderOptions: load.RenderOptions{Inputs: load.InputOptions{Paths: []string{dir}}, Access: kube.Access{Kubeconfig: kubeconfig}, Nothing: "nothing changed"},
		RunOptions:    session.DefaultRunOptions(), Limits: decide.Limits{MaxDelete: limits.DefaultMaxDelete()}, Wait: true, Yes: true,
	}}
	options.Apply.LockTimeout = 0
	getenv := func(string) string { return "" }
	e := &session.Engine{
		Stdin: strings.NewReader(""), Getenv: getenv, Version: "test", Transport: server,
		View: logView{ui.NewLog(tty.NewStream(tty.To(said), getenv, tty.ColorNever), false)},
	}
	_ = watchcmd.Run(ctx, e, &options) // the end of the context
}

// watching begins a watch of the inputs in a directory, which has its kubeconfig, too. stop ends
// the watch, and waits for that.
func watching(t *testing.T, managers *apiserver.Managers, dir string) (server *apiserver.Server, said *lines, stop func()) {
	t.Helper()
	server, said = apiserver.New(managers), &lines{}
	send(t, server, http.MethodPost, "/api/v1/namespaces", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watchUntil(ctx, server, dir, filepath.Join(dir, "kubeconfig"), said)
	}()
	return server, said, func() { cancel(); <-ended }
}

const memoryKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: memory, cluster: {server: "http://memory.example"}}]
users: [{name: memory}]
contexts: [{name: memory, context: {cluster: memory, user: memory}}]
current-context: memory
`

// foreign creates an object of another owner for each node.
func foreign(t *testing.T, server http.RoundTripper, nodes int) {
	t.Helper()
	for i := range nodes {
		body, _ := json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
				"name": fmt.Sprintf("t%03d", i), "labels": map[string]any{"app.kubernetes.io/managed-by": "Helm"},
				"annotations": map[string]any{"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "default"},
			},
		})
		send(t, server, http.MethodPost, "/api/v1/namespaces/default/configmaps", body)
	}
}

// send sends a request, and returns the answer.
func send(t *testing.T, server http.RoundTripper, method, path string, body []byte) map[string]any {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://memory.example"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	answer, err := server.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var out map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil || answer.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %v %v", method, path, answer.StatusCode, out, err)
	}
	return out
}
