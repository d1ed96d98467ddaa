package serve_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/serve"
)

// served starts Serve, and returns the URL and a function that ends it and returns its
// error.
func served(t *testing.T, o serve.Options) (url string, end func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve.Serve(ctx, listener, o) }()
	t.Cleanup(cancel)
	return "http://" + listener.Addr().String(), func() error { cancel(); return <-ended }
}

func ask(t *testing.T, method, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestServe(t *testing.T) {
	var unready atomic.Pointer[error]
	why := errors.New("hub shop/crm: its rows were not read yet")
	unready.Store(&why)
	url, end := served(t, serve.Options{
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "rows 3\n") }),
		Ready:   func() error { return *unready.Load() },
	})
	check := func(method, path string, status int, text string) {
		t.Helper()
		if got, body := ask(t, method, url+path); got != status || !strings.Contains(body, text) {
			t.Errorf("%s %s: %d %q, want %d %q", method, path, got, body, status, text)
		}
	}
	check(http.MethodGet, "/healthz", http.StatusOK, "ok\n")
	check(http.MethodGet, "/readyz", http.StatusServiceUnavailable, why.Error())
	var none error
	unready.Store(&none)
	check(http.MethodGet, "/readyz", http.StatusOK, "ok\n")
	check(http.MethodHead, "/healthz", http.StatusOK, "")
	check(http.MethodGet, "/metrics", http.StatusOK, "rows 3\n")
	check(http.MethodGet, "/", http.StatusNotFound, "")
	check(http.MethodGet, "/debug/pprof/", http.StatusNotFound, "")
	check(http.MethodPost, "/healthz", http.StatusMethodNotAllowed, "")
	if err := end(); err != nil {
		t.Errorf("the context's end: %v", err)
	}
}

// TestServeWithout wants a ready process without Ready, and no metrics without Metrics.
func TestServeWithout(t *testing.T) {
	url, end := served(t, serve.Options{})
	if status, _ := ask(t, http.MethodGet, url+"/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d", status)
	}
	if status, _ := ask(t, http.MethodGet, url+"/metrics"); status != http.StatusNotFound {
		t.Errorf("/metrics: %d", status)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestServeStops wants Serve to finish answers in progress when the context ends, and to
// accept no others.
func TestServeStops(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	url, end := served(t, serve.Options{Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-goOn
		_, _ = io.WriteString(w, "late\n")
	})})
	got := make(chan string, 1)
	go func() {
		_, body := ask(t, http.MethodGet, url+"/metrics")
		got <- body
	}()
	<-asked
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	for refused := false; !refused; { // Serve closes the listener first
		c, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second)
		if refused = err != nil; !refused {
			_ = c.Close()
		}
	}
	close(goOn)
	if body := <-got; body != "late\n" {
		t.Errorf("the answer is %q", body)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestServeFails wants an error from a broken listener, even though nobody stopped it.
func TestServeFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if err := serve.Serve(t.Context(), listener, serve.Options{}); err == nil {
		t.Error("no error")
	}
}

// TestIdleConnections wants answers for new clients, however many connections are idle.
func TestIdleConnections(t *testing.T) {
	url, end := served(t, serve.Options{})
	var idle []net.Conn
	for range 120 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: lynqctl\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 64)); err != nil {
			t.Fatal(err)
		}
		idle = append(idle, conn)
	}
	if status, body := ask(t, http.MethodGet, url+"/healthz"); status != http.StatusOK || body != "ok\n" {
		t.Errorf("%d %q", status, body)
	}
	closed := 0
	for _, conn := range idle[:80] { // the first ones
		if _, err := io.Copy(io.Discard, conn); err == nil {
			closed++
		}
	}
	if closed != 80 {
		t.Errorf("%d of the first 80 idle connections are closed", closed)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}
