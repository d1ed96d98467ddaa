package registry

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"oras.land/oras-go/v2/registry/remote/retry"
)

// These limit how long a server may take for a part of a request.
const (
	dialWithin   = 5 * time.Second
	answerWithin = 15 * time.Second
	maxRedirects = 5
)

// client returns the HTTP client for registries, their token services and their stores.
func (s *Settings) client() *http.Client {
	return &http.Client{
		Transport: &retry.Transport{Policy: s.attempts, Base: secure{&http.Transport{
			Proxy: s.Proxy, DialContext: (&net.Dialer{Timeout: dialWithin}).DialContext, ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{RootCAs: s.Roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: dialWithin,
			ResponseHeaderTimeout: answerWithin, IdleConnTimeout: answerWithin,
		}}},
		CheckRedirect: redirect,
	}
}

// errTooMany and errDowngrade end requests that are sent elsewhere.
var (
	errTooMany   = fmt.Errorf("more than %d redirects", maxRedirects)
	errDowngrade = errors.New("a redirect from https to http")
)

// redirect decides whether a request follows a redirect.
func redirect(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) > maxRedirects:
		return errTooMany
	case before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https":
		return errDowngrade
	}
	return nil
}

// secure sends requests without TLS to this machine only.
type secure struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s secure) RoundTrip(r *http.Request) (*http.Response, error) {
	if plain := r.URL.Scheme == "http" && loopback(r.URL); r.URL.Scheme != "https" && !plain {
		return nil, fmt.Errorf("%s wants a connection without TLS", r.URL.Host)
	}
	return s.base.RoundTrip(r)
}

// loopback reports whether a URL names this machine.
func loopback(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && address.Unmap().IsLoopback()
}

// baseOf returns the URL of a registry. As for docker, those of this machine have no TLS.
func baseOf(host string) *url.URL {
	if host == "docker.io" || host == "index.docker.io" {
		host = dockerHub
	}
	u := &url.URL{Scheme: "https", Host: host}
	if loopback(u) {
		u.Scheme = "http"
	}
	return u
}

// dockerHub is the registry of docker.io.
const dockerHub = "registry-1.docker.io"
