package faultproxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Proxy forwards to one API server. It is safe for concurrent use.
type Proxy struct {
	forward *httputil.ReverseProxy

	mu       sync.Mutex
	schedule *schedule
	records  []*Record
}

// New returns a proxy to the server at target. The transport must trust that server. It may
// add credentials to requests without any.
func New(target *url.URL, transport http.RoundTripper) *Proxy {
	p := &Proxy{schedule: newSchedule(nil)}
	p.forward = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      transport,
		FlushInterval:  -1, // events of a watch must not wait
		ModifyResponse: modify,
		ErrorHandler:   fail,
		ErrorLog:       log.New(io.Discard, "", 0), // the client reports cut connections
	}
	return p
}

// SetRules replaces all rules, and starts to count their matches again.
func (p *Proxy) SetRules(rules ...Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.schedule = newSchedule(slices.Clone(rules))
}

// Records returns the requests since the start or the last Reset.
func (p *Proxy) Records() []Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	records := make([]Record, len(p.records))
	for i, r := range p.records {
		records[i] = *r
	}
	return records
}

// Idle tells whether all requests have been answered.
func (p *Proxy) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(p.records, func(r *Record) bool { return r.Answered.IsZero() })
}

// Reset forgets the requests so far.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.records = nil
}

// exchange is a request in progress, with its rule.
type exchange struct {
	request Request
	rule    Rule
	status  int // for the client
	// answered is the time of the API server's answer, zero if none came.
	answered time.Time
}

type exchangeKey struct{}

// newExchange parses a request. Afterwards, others can still read its body.
func newExchange(r *http.Request) *exchange {
	x := &exchange{request: Parse(r.Method, r.URL)}
	if x.request.Verb == "update" && x.request.Resource == leases {
		x.request.Renews = renews(received(r))
	}
	return x
}

// received waits for a request's whole body, and returns it. If we can't read it, the API
// server can't either.
func received(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
	return body
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(r)
	settle := p.begin(x)
	defer settle()
	if !pause(r.Context(), x.rule.Delay) {
		return
	}
	if x.rule.Before != nil {
		received(r) // Before may stop the client
		x.rule.Before()
	}
	switch {
	case x.rule.End == CutBefore:
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's way to break a connection
	case x.rule.Status != 0:
		x.status = x.rule.Status
		// A client that went away needs no answer.
		_ = answer(w, x.rule, x.request)
	default:
		if x.rule.End != "" {
			w = promptWriter{w}
		}
		p.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
	}
}

// begin records a request and picks its rule. The returned function records the result.
func (p *Proxy) begin(x *exchange) (settle func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.rule = p.schedule.next(x.request)
	record := &Record{Request: x.request, Faulted: x.rule.final(), Began: time.Now()}
	p.records = append(p.records, record)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		record.Status, record.Answered = x.status, x.answered
		if x.answered.IsZero() {
			record.Answered = time.Now()
		}
	}
}

// pause waits. It returns false if the client went away meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// errCut makes fail break the connection.
var errCut = errors.New("cut by a rule")

// modify gets the API server's answer before the client.
func modify(resp *http.Response) error {
	x, ok := resp.Request.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil
	}
	return x.modify(resp)
}

// modify changes an answer as the rule says.
func (x *exchange) modify(resp *http.Response) error {
	x.answered = time.Now()
	isWatch := x.request.Verb == "watch" && resp.StatusCode == http.StatusOK
	switch {
	case x.rule.End != "" && isWatch:
		resp.Body = newWatchBody(resp.Body, resp.Header.Get("Content-Type"), x.rule)
	case x.rule.End == CutAfter:
		// Only a whole answer proves that the request took effect.
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		return errCut
	}
	x.status = resp.StatusCode
	return nil
}

// fail runs if no answer comes, because the rule cut it, or the API server broke off.
// Either way, the client gets a broken connection.
func fail(http.ResponseWriter, *http.Request, error) {
	panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's way to break a connection
}
