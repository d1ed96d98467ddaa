package registry

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http/httpproxy"
)

// withTLS serves the chart as https://example.com through a proxy, and returns settings that
// use the proxy, and the certificate.
func withTLS(t *testing.T, s *server) (Settings, *x509.Certificate) {
	t.Helper()
	secured := httptest.NewTLSServer(s)
	t.Cleanup(secured.Close)
	tunnels := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		there, err := net.Dial("tcp", secured.Listener.Addr().String())
		if err != nil || r.Method != http.MethodConnect || r.Host != "example.com:443" {
			http.Error(w, "no tunnel", http.StatusForbidden)
			return
		}
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		var both sync.WaitGroup
		both.Go(func() { _, _ = io.Copy(there, here); _ = there.Close() })
		both.Go(func() { _, _ = io.Copy(here, there); _ = here.Close() })
		both.Wait()
	}))
	t.Cleanup(tunnels.Close)
	given := settings(t)
	given.Proxy = proxy(&httpproxy.Config{HTTPSProxy: tunnels.URL})
	given.Roots = x509.NewCertPool()
	given.Roots.AddCert(secured.Certificate())
	return given, secured.Certificate()
}

// TestTLS downloads through TLS and a proxy, and refuses to leave TLS.
func TestTLS(t *testing.T) {
	s := newServer(t)
	ref := s.pushChart("the archive")
	ref.Registry = "example.com"
	s.answers["blobs"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the archive")) }
	s.tokens = "https://example.com"
	given, certificate := withTLS(t, s)
	given.Configs = configFile(t, loginFor("example.com")).Configs
	get(t, New(given), ref, []byte("the archive"))

	if runtime.GOOS == "linux" { // other systems have certificates elsewhere
		file := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SSL_CERT_FILE", file)
		own := FromEnvironment()
		t.Setenv("SSL_CERT_FILE", "")
		own.CacheDir, own.Proxy, own.Configs = t.TempDir(), given.Proxy, given.Configs
		get(t, New(own), ref, []byte("the archive"))
	}

	away := func(change func(s *Settings)) Settings {
		next := given
		next.CacheDir = t.TempDir()
		change(&next)
		return next
	}
	fails(t, New(away(func(s *Settings) { s.Roots = x509.NewCertPool() })), ref, "can't reach example.com: tls: failed to verify certificate")
	s.answers["manifests"] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.store.URL+"/x", http.StatusFound) }
	fails(t, New(away(func(*Settings) {})), ref, "a redirect from https to http")
	// Nobody gets the password without TLS, or at an address of this machine.
	for _, realm := range []string{s.URL, "http://example.org"} {
		t.Run(realm, func(t *testing.T) {
			s.tokens = realm
			before := s.count("/token")
			fails(t, New(away(func(*Settings) {})), ref, "example.com names a service for tokens that lynqctl can't use")
			if s.count("/token") != before {
				t.Errorf("%s got the password", realm)
			}
		})
	}
}

// TestPlain wants TLS for all registries except those of this machine.
func TestPlain(t *testing.T) {
	for host, want := range map[string]string{
		"localhost:5000": "http://localhost:5000", "127.0.0.2": "http://127.0.0.2", "[::1]:5000": "http://[::1]:5000",
		"docker.io": "https://registry-1.docker.io", "ghcr.io": "https://ghcr.io", "localhost.example": "https://localhost.example", "10.0.0.1": "https://10.0.0.1",
	} {
		t.Run(host, func(t *testing.T) {
			if got := baseOf(host).String(); got != want {
				t.Errorf("%s: %s", host, got)
			}
		})
	}
	r := httptest.NewRequest(http.MethodGet, "http://example.com/v2/", nil)
	answer, err := (secure{}).RoundTrip(r)
	if err == nil {
		_ = answer.Body.Close() // a test that fails
	}
	if err == nil || !strings.Contains(err.Error(), "example.com wants a connection without TLS") {
		t.Errorf("%v", err)
	}
}
