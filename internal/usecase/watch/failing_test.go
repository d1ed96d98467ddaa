package watch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/ui/views"
	usecase "github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/watch"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// logView is a View that writes a log.
type logView struct{ *views.Log }

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
// drift apart.
type slowServer struct {
	*apiserver.Server
	mu     sync.Mutex
	writes int
}

func (s *slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		s.mu.Lock()
		s.writes++
		late := time.Duration(s.writes*37%191) * 10 * time.Millisecond
		s.mu.Unlock()
		<-time.After(late)
	}
	return s.Server.RoundTrip(r)
}

// TestFailingForLong lets 250 nodes fail for 20 minutes of a clock that doesn't wait, on a
// server in memory. The log tells the cause once, and each node has one event.
func TestFailingForLong(t *testing.T) {
	const nodes, most, mostEvents = 250, 200, 300
	dir, said := t.TempDir(), &lines{}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows := &strings.Builder{}
	rows.WriteString("id,active\n")
	for i := range nodes {
		fmt.Fprintf(rows, "t%03d,1\n", i)
	}
	write("rows.csv", rows.String())
	write("inputs.yaml", inputs)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(memoryKubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	events, retries := 0, 0
	synctest.Test(t, func(t *testing.T) {
		server := &slowServer{Server: apiserver.New(managers)}
		foreign(t, server, nodes)
		options := watch.Options{Apply: usecase.Options{
			RenderOptions: load.RenderOptions{Inputs: load.InputOptions{Paths: []string{dir}}, Access: kube.Access{Kubeconfig: kubeconfig}, Nothing: "nothing changed"},
			RunOptions:    session.DefaultRunOptions(), Limits: decide.Limits{MaxDelete: toll.DefaultMaxDelete()}, Wait: true, Yes: true,
		}}
		options.Apply.LockTimeout = 0
		getenv := func(string) string { return "" }
		e := &session.Engine{
			Stdin: strings.NewReader(""), Getenv: getenv, Version: "test", Transport: server,
			View: logView{views.NewLog(tty.NewStream(tty.To(said), getenv, tty.ColorNever), false)},
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Minute)
		defer stop()
		_ = watch.Run(ctx, e, &options) // the end of the context
		items, _ := send(t, server, http.MethodGet, "/api/v1/namespaces/default/events", nil)["items"].([]any)
		events = len(items)
		for _, item := range items {
			count, _ := item.(map[string]any)["count"].(float64)
			retries += int(count)
		}
	})
	text := said.String()
	if got := strings.Count(text, "\n"); got > most || got < 3 {
		t.Errorf("%d lines:\n%s", got, text)
	}
	if events > mostEvents || events < nodes || retries < 4*nodes {
		t.Errorf("%d events, which count %d retries", events, retries)
	}
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
	send(t, server, http.MethodPost, "/api/v1/namespaces", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`))
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
