package registry

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

const (
	user, password, token = "robot", "s3cret-word", "t0ken-of-the-service"
	signature             = "s1gned"
)

// server is a registry with one chart, its service for tokens, and its store, which has
// another address.
type server struct {
	*httptest.Server
	store *httptest.Server
	open  bool // anonymous users may read the chart
	// tokens is the URL of the service for tokens, or "" for that of the registry.
	tokens string
	// answers are other answers than the right ones, by the last part of the path before the
	// digest, such as manifests.
	answers map[string]http.HandlerFunc

	mu       sync.Mutex
	blobs    map[string][]byte
	requests []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{blobs: map[string][]byte{}, answers: map[string]http.HandlerFunc{}}
	s.Server, s.store = httptest.NewServer(s), httptest.NewServer(http.HandlerFunc(s.stored))
	t.Cleanup(s.Close)
	t.Cleanup(s.store.Close)
	return s
}

// push adds bytes, and returns their digest.
func (s *server) push(data []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := digestOf(data)
	s.blobs[digest] = data
	return digest
}

// pushChart adds a chart, and replaces some texts of its manifest.
func (s *server) pushChart(archive string, replace ...string) lynq.ChartRef {
	text := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":2},"layers":[{"mediaType":%q,"digest":%q,"size":%d}]}`,
		typeManifest, typeHelmConfig, s.push([]byte("{}")), typeChart, s.push([]byte(archive)), len(archive))
	return lynq.ChartRef{
		Registry: strings.TrimPrefix(s.URL, "http://"), Repository: "acme/web", Tag: "1.2.0",
		Digest: s.push([]byte(strings.NewReplacer(replace...).Replace(text))),
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	kind, digest := parts[max(0, len(parts)-2)], parts[len(parts)-1]
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.Path)
	data, known := s.blobs[digest]
	s.mu.Unlock()
	if r.URL.Path == "/token" {
		kind = "token"
	}
	name, word, basic := r.BasicAuth()
	known = known && strings.HasPrefix(r.URL.Path, "/v2/acme/web/")
	switch other := s.answers[kind]; {
	case kind != "token" && r.Header.Get("Authorization") != "Bearer "+token:
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="registry",scope="repository:acme/web:pull"`, cmp.Or(s.tokens, s.URL)))
		w.WriteHeader(http.StatusUnauthorized)
	case other != nil:
		other(w, r)
	case kind == "token" && (s.open && !basic || name == user && word == password) && r.URL.Query().Get("scope") == "repository:acme/web:pull":
		_, _ = fmt.Fprintf(w, `{"token":%q}`, token)
	case kind == "token":
		http.Error(w, "wrong "+word, http.StatusUnauthorized)
	case known && kind == "blobs":
		http.Redirect(w, r, s.store.URL+"/"+digest+"?signature="+signature, http.StatusTemporaryRedirect)
	case known:
		w.Header().Set("Content-Type", typeManifest)
		_, _ = w.Write(data)
	default:
		http.NotFound(w, r)
	}
}

// stored answers for the store, which refuses credentials of the registry.
func (s *server) stored(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	data := s.blobs[strings.TrimPrefix(r.URL.Path, "/")]
	s.mu.Unlock()
	if r.Header.Get("Authorization") != "" || r.URL.Query().Get("signature") != signature {
		http.Error(w, "signatures and credentials", http.StatusBadRequest)
		return
	}
	_, _ = w.Write(data)
}

// count returns how often clients asked for something.
func (s *server) count(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, path := range s.requests {
		if strings.Contains(path, kind) {
			n++
		}
	}
	return n
}

// settings have a cache of their own, and no credentials.
func settings(t *testing.T) Settings {
	t.Helper()
	return Settings{
		CacheDir: t.TempDir(), Backoff: time.Millisecond, Limit: time.Minute,
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, password+token, code) }
}
