package apitest

import (
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Host is the name of the API's server.
const Host = "crm.example.com"

// API serves files.
type API struct {
	// Env has environment variables by which a program finds and trusts the API.
	Env []string
}

// Start serves the files in dir: /api/tenants is api/tenants.json, and its page 2 is
// api/tenants-2.json. With a token, it answers 401 to requests without it.
func Start(t testing.TB, dir, token string) *API {
	t.Helper()
	s := httptest.NewTLSServer(files(dir, token))
	t.Cleanup(s.Close)
	proxy := httptest.NewServer(tunnel(s.Listener.Addr().String()))
	t.Cleanup(proxy.Close)
	roots := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(roots, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return &API{Env: []string{"HTTPS_PROXY=" + proxy.URL, "SSL_CERT_FILE=" + roots}}
}

// files answers with the files of a folder.
func files(dir, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if page := r.URL.Query().Get("page"); page != "" && page != "1" {
			name += "-" + page
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)+".json"))
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text)))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
}

// tunnel returns a proxy that always connects to one address.
func tunnel(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", to)
		if err != nil || r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer func() { _ = server.Close() }() // both ends notice that
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = client.Close() }()
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		}()
		_, _ = io.Copy(client, server)
	})
}
