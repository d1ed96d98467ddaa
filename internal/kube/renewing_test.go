package kube_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/internal/kube"
)

// tokens is a server that accepts one token.
type tokens struct {
	mu       sync.Mutex
	accepted string
	requests []string // "METHOD token body"
}

func (s *tokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	body := make([]byte, 1)
	n, _ := r.Body.Read(body)
	s.requests = append(s.requests, fmt.Sprintf("%s %s %d", r.Method, token, n))
	w.Header().Set("Content-Type", "application/json")
	if token != s.accepted {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}`)
		return
	}
	_, _ = fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","namespace":"shop","uid":"1"}}`)
}

// took returns the requests since the last call.
func (s *tokens) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(s.requests, ", ")
	s.requests = nil
	return text
}

// TestRenew replaces tokens in a kubeconfig. It wants the client to use a new token when the
// server refuses the old one, or when it is told to. It must never send one to another
// server, or change to another context.
func TestRenew(t *testing.T) {
	s, other := &tokens{accepted: "one"}, &tokens{accepted: "other"}
	server, elsewhere := httptest.NewTLSServer(s), httptest.NewTLSServer(other)
	defer server.Close()
	defer elsewhere.Close()
	path := filepath.Join(t.TempDir(), "config")
	write := func(context, server, token string) {
		t.Helper()
		const config = `{apiVersion: v1, kind: Config, current-context: %s, contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {cluster: c, user: v}}],
clusters: [{name: c, cluster: {server: "%s", insecure-skip-tls-verify: true}}], users: [{name: u, user: {token: %s}}, {name: v, user: {token: two}}]}`
		if err := os.WriteFile(path, fmt.Appendf(nil, config, context, server, token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", server.URL, "one")
	client, err := kube.Access{Kubeconfig: path}.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	maps := client.ConfigMaps()
	expect := func(what, want string, well bool) {
		t.Helper()
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "m"}})
		if got := s.took(); got != want || (err == nil) != well {
			t.Errorf("%s: %v after %q, want %q", what, err, got, want)
		}
	}
	expect("at first", "POST one 1", true)
	s.accepted = "three"
	expect("no new token", "POST one 1", false)
	write("a", server.URL, "three")
	expect("read again too soon", "POST one 1", false)
	client.Renew()
	expect("told to", "POST three 1", true)
	kube.Later(client)
	s.accepted = "four"
	write("b", server.URL, "four")
	expect("refused", "POST three 1, POST four 1", true)
	s.accepted = "five"
	for _, bad := range []func(){
		func() { write("a", elsewhere.URL, "five") },
		func() { _ = os.WriteFile(path, []byte("{"), 0o600) },
		func() { _ = os.Remove(path) },
	} {
		bad()
		kube.Later(client)
		expect("a kubeconfig that doesn't count", "POST four 1", false)
	}
	if got := other.took(); got != "" {
		t.Errorf("it asked another server: %s", got)
	}
}

// TestRenewRealServer wants the same of a real API server.
func TestRenewRealServer(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	env.Kubectl(t, "", "create", "configmap", "m")
	config, err := os.ReadFile(env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := strings.NewReplacer("token: ", "token: old", "client-key-data: ", "old: ", "client-certificate-data: ", "olds: ").Replace(string(config))
	if old == string(config) {
		t.Fatal("the kubeconfig has no credentials that the test knows")
	}
	write(old)
	client, err := kube.Access{Kubeconfig: path}.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Metadata(t.Context(), configMaps, env.Namespace, "m"); err == nil || !strings.Contains(err.Error(), "Unauthorized") && !strings.Contains(err.Error(), "cannot get") {
		t.Errorf("old credentials: %v", err)
	}
	write(string(config))
	kube.Later(client)
	client.Renew()
	if _, err := client.Metadata(t.Context(), configMaps, env.Namespace, "m"); err != nil {
		t.Errorf("new credentials: %v", err)
	}
}
