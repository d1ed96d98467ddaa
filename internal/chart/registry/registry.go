package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"

	"golang.org/x/sync/singleflight"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Client downloads charts. Several goroutines may use it.
type Client struct {
	settings Settings
	http     *http.Client
	cache    cache
	running  singleflight.Group // by address
}

// New returns a Client.
func New(s Settings) *Client {
	return &Client{settings: s, http: s.client(), cache: cache{dir: s.CacheDir}}
}

const (
	fixLater = "run lynqctl again later, or run helm pull, and name the archive in path"
	fixReach = "check the address, the network and the proxy"
)

// Chart returns the archive of a chart, from the cache or, unless kept is set, from its
// registry. Its error is a *lynq.ChartError.
func (c *Client) Chart(ctx context.Context, r lynq.ChartRef, kept bool) ([]byte, error) {
	data, err, _ := c.running.Do(fmt.Sprint(r, kept), func() (any, error) {
		ctx, cancel := context.WithTimeout(ctx, c.settings.Limit)
		defer cancel()
		d := &download{client: c, ref: r, kept: kept}
		return d.chart(ctx)
	})
	if err != nil {
		return nil, err
	}
	archive, _ := data.([]byte)
	return archive, nil
}

// download is one download of a chart.
type download struct {
	client *Client
	ref    lynq.ChartRef
	kept   bool // only the cache is asked
	login  login
	auth   *auth.Client // nil until the first request
}

// chart returns the archive of the chart.
func (d *download) chart(ctx context.Context) ([]byte, error) {
	text, err := d.blob(ctx, "manifests", d.ref.Digest, ".json", maxManifest)
	if err != nil {
		return nil, err
	}
	l, err := chartIn(text)
	if err != nil {
		return nil, err
	}
	archive, err := d.blob(ctx, "blobs", l.Digest, ".tgz", maxArchive)
	if err == nil && int64(len(archive)) != l.Size {
		err = &lynq.ChartError{What: fmt.Sprintf("the chart has %d bytes, and its manifest says %d", len(archive), l.Size), Fix: "push the chart again with helm push"}
	}
	return archive, err
}

// blob returns the bytes that have a digest.
func (d *download) blob(ctx context.Context, kind, digest, extension string, limit int64) ([]byte, error) {
	if data := d.client.cache.get(digest, extension, limit); data != nil {
		return data, nil
	}
	if d.kept {
		return nil, &lynq.ChartError{What: "the cache doesn't have the chart", Fix: "run lynqctl render with a form that names it"}
	}
	data, err := d.get(ctx, kind, digest, limit)
	if err != nil {
		return nil, d.explain(err)
	}
	if digestOf(data) != digest {
		return nil, &lynq.ChartError{What: fmt.Sprintf("%s sent other bytes than the digest %s names", d.ref.Registry, digest), Fix: "ask who runs the registry or the proxy"}
	}
	d.client.cache.put(digest, extension, data)
	return data, nil
}

// get sends a request, with credentials if the registry asks for them.
func (d *download) get(ctx context.Context, kind, digest string, limit int64) ([]byte, error) {
	if err := d.prepare(); err != nil {
		return nil, err
	}
	base := baseOf(d.ref.Registry)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base.String()+"/v2/"+d.ref.Repository+"/"+kind+"/"+digest, nil)
	if err != nil {
		return nil, err
	}
	if kind == "manifests" {
		r.Header.Set("Accept", accepted())
	}
	answer, err := d.auth.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	if answer.StatusCode != http.StatusOK {
		return nil, &errcode.ErrorResponse{StatusCode: answer.StatusCode, URL: r.URL}
	}
	data, err := bounded.ReadAll(answer.Body, limit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCut, err)
	}
	return data, nil
}

// errCut says that an answer began, and didn't end.
var errCut = errors.New("the answer is cut off")

// prepare reads credentials before the first request.
func (d *download) prepare() error {
	s := &d.client.settings
	switch {
	case d.auth != nil:
		return nil
	case s.RootsErr != nil:
		return &lynq.ChartError{What: "read the certificates that SSL_CERT_FILE and SSL_CERT_DIR name: " + s.RootsErr.Error(), Fix: "correct the variables"}
	}
	var err error
	if d.login, err = loginOf(s.Configs, d.ref.Registry); err != nil {
		return &lynq.ChartError{What: err.Error(), Fix: "correct the file, or remove it if the chart is public"}
	}
	d.auth = &auth.Client{
		Client: d.client.http, Cache: auth.NewCache(), ClientID: "lynqctl",
		Credential: auth.StaticCredential(baseOf(d.ref.Registry).Host, d.login.Credential),
	}
	d.auth.SetUserAgent("lynqctl")
	return nil
}

// explain returns what a person must know of an error. It has no URL, which may have a
// signature, and no text of the server.
func (d *download) explain(err error) error {
	host := d.ref.Registry
	if answer, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return d.refused(answer.StatusCode)
	}
	if known, ok := errors.AsType[*lynq.ChartError](err); ok {
		return known
	}
	if large, ok := errors.AsType[*bounded.SizeError](err); ok {
		return &lynq.ChartError{What: fmt.Sprintf("%s sent too much: %v", host, large), Fix: "ask who runs the registry or the proxy"}
	}
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return d.refused(http.StatusUnauthorized)
	case errors.Is(err, context.DeadlineExceeded) || ok && timeout.Timeout():
		return &lynq.ChartError{What: host + " doesn't answer in time", Fix: fixReach}
	case errors.Is(err, errCut):
		return &lynq.ChartError{What: host + " ended the answer too early", Fix: fixLater}
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return &lynq.ChartError{What: fmt.Sprintf("can't reach %s: %s", host, withoutQuotes(sent.Err)), Fix: fixReach}
	}
	return &lynq.ChartError{What: host + " names a service for tokens that lynqctl can't use", Fix: "ask who runs the registry"}
}

// withoutQuotes returns an error of the HTTP client, which quotes parts of answers.
func withoutQuotes(err error) string {
	text := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).ReplaceAllString(err.Error(), "…")
	return phrase.Shown(phrase.OneLine(text))
}

// refused explains the status of an answer.
func (d *download) refused(status int) error {
	host := d.ref.Registry
	answered := fmt.Sprintf("%s answers %d %s", host, status, http.StatusText(status))
	switch {
	case status == http.StatusNotFound:
		return &lynq.ChartError{What: answered + ", so it has no chart with this digest", Fix: "check the address with helm pull"}
	case status != http.StatusUnauthorized && status != http.StatusForbidden:
		return &lynq.ChartError{What: answered, Fix: fixLater}
	case d.login.from != "":
		return &lynq.ChartError{What: answered + " to the credentials in " + d.login.from, Fix: "check the address, and run: helm registry login " + host}
	case d.login.helper != "":
		return &lynq.ChartError{
			What: fmt.Sprintf("%s. %s leaves credentials to the program docker-credential-%s, which lynqctl doesn't run", answered, d.login.asked, phrase.OneLine(d.login.helper)),
			Fix:  "run helm pull, and name the archive in path, or write USER:PASSWORD in base64 into auths of that file",
		}
	}
	return &lynq.ChartError{What: answered + ". lynqctl found no credentials for it", Fix: "check the address, and run: helm registry login " + host}
}
