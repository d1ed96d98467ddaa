package httprows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// get requests a URL, and repeats that while the server is busy. tag is the ETag of a
// known answer, or "". The answer has status 200, or 304 if the tag still matches.
func (r *reader) get(ctx context.Context, place string, u *url.URL, tag string) (*http.Response, error) {
	const most = 8
	for try := 0; ; try++ {
		resp, err := r.send(ctx, place, u, tag)
		if err != nil {
			return nil, err
		}
		busy := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable
		if !busy || try == most {
			return r.accept(place, resp, tag != "")
		}
		wait := pause(resp, try)
		_ = resp.Body.Close() // its content doesn't matter
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			return nil, &fault.Error{
				Place: place,
				What:  fmt.Sprintf("the server asks to come back in %s (%d), and all pages may take %s", wait.Round(time.Millisecond), resp.StatusCode, r.timeout),
				Fix:   "run again later, or raise timeout",
			}
		}
		tick := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			tick.Stop()
			return nil, r.stopped(ctx, place)
		case <-tick.C:
		}
	}
}

// pause returns the time until the next try. It is what a busy server asks for, but at
// least a time that grows with each try.
func pause(resp *http.Response, try int) time.Duration {
	const least, most = 250 * time.Millisecond, 30 * time.Second
	grown := min(least<<try, most)
	said := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(said); err == nil && seconds >= 0 {
		return max(time.Duration(min(seconds, 1<<30))*time.Second, grown)
	}
	if then, err := http.ParseTime(said); err == nil {
		now, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(then.Sub(now), grown)
	}
	return grown
}

// send sends one request.
func (r *reader) send(ctx context.Context, place string, u *url.URL, tag string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &fault.Error{Place: place, What: "the URL can't be asked"}
	}
	if _, err := http.ProxyFromEnvironment(req); err != nil { // the error quotes the proxy's URL
		return nil, &fault.Error{Place: place, What: "the proxy that the environment names has no valid URL", Fix: "check the variables HTTPS_PROXY and HTTP_PROXY"}
	}
	req.Header.Set("Accept", "application/json, application/x-ndjson, */*;q=0.1")
	if r.c.HTTP.Lines {
		req.Header.Set("Accept", "application/x-ndjson, application/jsonl, */*;q=0.1")
	}
	req.Header.Set("User-Agent", "lynqctl")
	req.Header.Set("Cache-Control", "no-cache") // a cache on the way may have an older page
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	switch r.c.HTTP.Auth {
	case endpoint.BasicAuth:
		req.SetBasicAuth(r.c.Username, string(r.c.Password))
	case endpoint.BearerAuth:
		req.Header.Set("Authorization", "Bearer "+string(r.c.Password))
	}
	resp, err := r.client.Do(req)
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil:
		return nil, r.stopped(ctx, place)
	}
	return nil, r.failed(place, err)
}

// stopped explains why the reader stopped.
func (r *reader) stopped(ctx context.Context, place string) error {
	if cause := context.Cause(ctx); !errors.Is(cause, errTime) {
		return &fault.Error{Place: place, What: "lynqctl stopped reading", Err: cause}
	}
	return &fault.Error{Place: place, What: fmt.Sprintf("the pages did not all come within %s", r.timeout), Fix: "lynqctl ignores these rows; raise timeout, or have the API send larger pages"}
}

// accept refuses all answers except those with rows and those that confirm known rows.
func (r *reader) accept(place string, resp *http.Response, asked bool) (*http.Response, error) {
	code := resp.StatusCode
	if code == http.StatusOK || code == http.StatusNotModified && asked {
		return resp, nil
	}
	_ = resp.Body.Close() // the body may quote anything
	e := &fault.Error{Place: place, What: "the server answered " + strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code))), Fix: "lynqctl takes rows only from an answer 200; see the server's log"}
	switch {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		e.Fix = "check the token, user and password, and what they may read"
		if r.c.HTTP.Auth == "" && r.c.Certificate == "" {
			e.Fix = "lynqctl sent no credentials: set username with passwordFrom or passwordRef, or tokenFrom, tokenRef, certificateFrom or certificateRef"
		}
	case code == http.StatusPartialContent:
		e.Fix = "lynqctl asks for the whole, and ignores a part; check the server and its caches"
	case code == http.StatusNoContent:
		e.Fix = "an API without rows answers 200 with an empty list"
	case code == http.StatusNotFound, code == http.StatusGone:
		e.Fix = "check url; if it is right, the page has gone meanwhile: run again"
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		e.Fix = "lynqctl asked several times; run again later"
	case code >= 300 && code < 400:
		e.Fix = "set url to where the rows are"
	}
	return nil, e
}

// body reads an answer, and remembers why it ended early.
type body struct {
	io.Reader
	pass *pass
	err  error
}

// errSize means that the answers are too large.
var errSize = errors.New("too many bytes")

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.pass.bytes > b.pass.most {
		b.err = errSize
		return 0, errSize
	}
	n, err := b.Reader.Read(p)
	b.pass.bytes += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
