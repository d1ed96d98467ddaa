package registry

import (
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/net/http/httpproxy"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// Settings say what this machine has.
type Settings struct {
	// CacheDir keeps what was downloaded. Without it, a process downloads each chart once.
	CacheDir string
	// Configs are files with credentials, the most important one first. They may not exist.
	Configs []string
	// Proxy returns the proxy for a request, or nil. Roots are trusted certificates, or nil for
	// those of the system.
	Proxy func(*http.Request) (*url.URL, error)
	Roots *x509.CertPool
	// RootsErr is set if variables name certificates that can't be read.
	RootsErr error
	// Backoff is the first time between two attempts, and Limit that for all of a chart.
	Backoff, Limit time.Duration
}

// FromEnvironment returns the settings that the variables of this process give. The caller may
// remove the variables then.
func FromEnvironment() Settings {
	s := Settings{Configs: configs(), Proxy: proxy(httpproxy.FromEnvironment()), Backoff: 200 * time.Millisecond, Limit: time.Minute}
	if dir, err := os.UserCacheDir(); err == nil { // a machine without one has no cache
		s.CacheDir = filepath.Join(dir, "lynqctl", "charts")
	}
	if os.Getenv("SSL_CERT_FILE") == "" && os.Getenv("SSL_CERT_DIR") == "" {
		return s // the system's certificates are read for the first connection
	}
	s.Roots, s.RootsErr = x509.SystemCertPool()
	return s
}

// configs returns the files in which Helm and docker keep credentials.
func configs() []string {
	var all []string
	if file := os.Getenv("HELM_REGISTRY_CONFIG"); file != "" {
		all = append(all, file)
	} else if dir := helmConfig(); dir != "" {
		all = append(all, filepath.Join(dir, "registry", "config.json"))
	}
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return append(all, filepath.Join(dir, "config.json"))
	}
	if home, err := os.UserHomeDir(); err == nil { // nothing is there without a home
		all = append(all, filepath.Join(home, ".docker", "config.json"))
	}
	return all
}

// helmConfig returns Helm's directory for settings, or "".
func helmConfig() string {
	if dir := os.Getenv("HELM_CONFIG_HOME"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "helm")
	}
	home, err := os.UserHomeDir()
	switch {
	case runtime.GOOS == "windows":
		return filepath.Join(os.Getenv("APPDATA"), "helm")
	case err != nil:
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Preferences", "helm")
	}
	return filepath.Join(home, ".config", "helm")
}

// proxy returns what finds the proxy of a request.
func proxy(c *httpproxy.Config) func(*http.Request) (*url.URL, error) {
	of := c.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return of(r.URL) }
}

// attempts says after which answers and errors a request is sent again, and when.
func (s *Settings) attempts() retry.Policy {
	const more, longest = 2, 3 * time.Second
	return &retry.GenericPolicy{
		Retryable: retry.DefaultPredicate,
		Backoff:   retry.ExponentialBackoff(s.Backoff, 2, 0.1),
		MinWait:   s.Backoff, MaxWait: longest, MaxRetry: more,
	}
}
