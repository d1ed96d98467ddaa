package faultproxy

import (
	"io"
	"net/http"
	"net/http/httptest"
)

// Within is a proxy for clients in this process, without connections to them. It forwards
// requests to a transport, and treats them like a Proxy.
type Within struct {
	*Proxy
	Next http.RoundTripper
}

// NewWithin returns a Within.
func NewWithin(next http.RoundTripper) *Within {
	return &Within{&Proxy{schedule: newSchedule(nil)}, next}
}

// RoundTrip implements http.RoundTripper.
func (p *Within) RoundTrip(r *http.Request) (*http.Response, error) {
	x := newExchange(r)
	settle := p.begin(x)
	if x.rule.Delay == 0 && x.rule.Before == nil {
		defer settle()
		return p.carry(x, r)
	}
	answered := make(chan func() (*http.Response, error), 1)
	go func() {
		defer settle()
		resp, err := p.waited(x, r) //nolint:bodyclose // the client closes it
		answered <- func() (*http.Response, error) { return resp, err }
	}()
	select {
	case answer := <-answered:
		return answer()
	case <-r.Context().Done(): // the client gives up meanwhile
		return nil, r.Context().Err()
	}
}

// waited waits as the rule says, and then carries the request.
func (p *Within) waited(x *exchange, r *http.Request) (*http.Response, error) {
	if !pause(r.Context(), x.rule.Delay) {
		return nil, r.Context().Err()
	}
	if x.rule.Before != nil {
		x.rule.Before()
	}
	return p.carry(x, r)
}

// carry returns the answer of the server, or of the rule.
func (p *Within) carry(x *exchange, r *http.Request) (*http.Response, error) {
	switch {
	case x.rule.End == CutBefore:
		return nil, io.ErrUnexpectedEOF
	case x.rule.Status != 0:
		x.status = x.rule.Status
		w := httptest.NewRecorder()
		_ = answer(w, x.rule, x.request) // a recorder accepts everything
		resp := w.Result()
		resp.Request = r
		return resp, nil
	}
	if x.rule.Header != nil {
		r = r.Clone(r.Context())
		for name, value := range x.rule.Header {
			r.Header.Set(name, value)
		}
	}
	resp, err := p.Next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if x.modify(resp) != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return resp, nil
}
