package httprows

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// reader sends requests to an API.
type reader struct {
	c       endpoint.Connection
	base    *url.URL
	name    string // for messages
	client  *http.Client
	timeout time.Duration
	most    int64 // limit for the bytes of all answers
}

// errTime means that the pages took too long.
var errTime = errors.New("too slow")

// newReader returns a reader that has sent no request yet.
func newReader(c endpoint.Connection, roots *x509.CertPool) (*reader, error) {
	if what, fix := endpoint.CheckHTTPURL(c.HTTP.URL, c.TLS); what != "" {
		return nil, &fault.Error{Place: "url", What: "it " + what, Fix: fix}
	}
	base, err := url.Parse(c.HTTP.URL)
	if err != nil {
		return nil, &fault.Error{Place: "url", What: "it can't be parsed"}
	}
	base.Fragment, base.RawFragment = "", ""
	r := &reader{
		c: c, base: base, name: endpoint.ShownURL(base),
		timeout: cmp.Or(c.HTTP.Timeout, endpoint.DefaultHTTPTimeout), most: cmp.Or(c.HTTP.MaxBytes, endpoint.DefaultHTTPBytes),
	}
	if strings.ContainsFunc(string(c.Password), func(ch rune) bool { return ch < ' ' || ch == 0x7f }) {
		return nil, &fault.Error{Place: r.name, What: "its password or token holds a control character", Fix: "store it without a line break at its end"}
	}
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if c.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.Certificate))
		if err != nil {
			return nil, &fault.Error{Place: r.name, What: "its client certificate can't be used", Fix: "give the certificate and its key, both as PEM", Err: err}
		}
		config.Certificates = []tls.Certificate{pair}
	}
	r.client = &http.Client{CheckRedirect: r.follow, Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: 1 << 20,
		MaxIdleConnsPerHost:    1,
	}}
	return r, nil
}

// connectTimeout limits how long a connection attempt may take.
const connectTimeout = 10 * time.Second

// redirectError names a redirect that the reader doesn't follow, and the reason.
type redirectError struct{ what, fix string }

func (e *redirectError) Error() string { return e.what }

// follow decides whether to follow a redirect, because credentials are for one origin.
func (r *reader) follow(req *http.Request, via []*http.Request) error {
	const most = 5
	switch {
	case endpoint.Origin(req.URL) != endpoint.Origin(r.base):
		return &redirectError{"the server redirects to another place: " + endpoint.Origin(req.URL), "if you trust that place, set url to where the rows are"}
	case req.URL.User != nil:
		return &redirectError{"the server redirects to a URL with a user", "set url to where the rows are"}
	case len(via) > most:
		return &redirectError{fmt.Sprintf("the server redirects more than %d times", most), "set url to where the rows are"}
	}
	return nil
}

// failed explains why no answer arrived.
func (r *reader) failed(place string, err error) error {
	e := &fault.Error{Place: place, What: "no answer", Fix: "check url and the network, and whether the server is running"}
	var (
		redirect *redirectError
		wrapped  *url.Error
		dns      *net.DNSError
		dial     *net.OpError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    tls.AlertError
	)
	if errors.As(err, &wrapped) { // its text quotes the URL
		err = wrapped.Err
	}
	switch {
	case errors.As(err, &redirect):
		e.What, e.Fix = redirect.what, redirect.fix
	case errors.As(err, &verify):
		e.What, e.Fix, e.Err = "the server's certificate can't be verified", "set caFile to the authority of the server's certificate, or check url", verify
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		e.What, e.Fix = "the server doesn't support TLS", "set TLS up on the server, or write http:// with tls: disable where the network is safe"
	case errors.As(err, &alert):
		e.What, e.Fix, e.Err = "the server refuses the TLS connection", "check which client certificates and TLS versions it takes", alert
	case errors.As(err, &dns):
		e.What, e.Fix, e.Err = fmt.Sprintf("host %q can't be found", r.base.Hostname()), "check url; a Service's name means something only to pods of its cluster", errors.New(dns.Err)
	case errors.As(err, &dial) && dial.Op == "dial":
		e.What, e.Err = "the server can't be reached", dial.Err
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		e.What, e.Fix, e.Err = "the proxy can't be reached", "check the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY", dial.Err
	default:
		text, _, _ := strings.Cut(err.Error(), `"`) // the rest may come from the server
		e.Err = errors.New(strings.TrimSpace(text))
	}
	return e
}

// Warning returns the risk of a connection's settings with a fix, or "".
func Warning(c endpoint.Connection) string {
	u, err := url.Parse(c.HTTP.URL)
	if err != nil || u.Scheme != "http" || endpoint.Loopback(u.Hostname()) || c.HTTP.Auth == "" || c.Password == "" {
		return ""
	}
	return endpoint.ShownURL(u) + ": tls: disable sends the password or token in clear text, and anyone on the way can read it (write https://)"
}
