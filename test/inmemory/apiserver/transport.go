package apiserver

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// Transport carries requests to a handler in this process, without a network. A handler
// that panics with http.ErrAbortHandler breaks the connection.
type Transport struct{ Handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	asked := r.Clone(ctx)
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	reader, writer := io.Pipe()
	context.AfterFunc(ctx, func() { _ = reader.CloseWithError(context.Canceled) }) // it never fails
	a := &answer{header: http.Header{}, begun: make(chan struct{}), body: writer}
	go t.serve(a, asked)
	select {
	case <-a.begun:
	case <-ctx.Done():
		cancel()
		return nil, ctx.Err()
	}
	if a.status == 0 {
		cancel()
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: &body{reader, cancel}, ContentLength: -1, Request: r,
	}, nil
}

func (t Transport) serve(a *answer, r *http.Request) {
	defer func() {
		failure := recover()
		if failure != nil {
			_ = a.body.CloseWithError(io.ErrUnexpectedEOF) // it never fails
			a.begin(0)
			return
		}
		a.begin(http.StatusOK)
		_ = a.body.Close() // it never fails
	}()
	t.Handler.ServeHTTP(a, r)
}

// body ends the request when the client closes it.
type body struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// answer is a http.ResponseWriter whose body is a pipe.
type answer struct {
	header http.Header
	sent   http.Header // as the client has it
	status int
	once   sync.Once
	begun  chan struct{}
	body   *io.PipeWriter
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.begin(status) }

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.body.Write(b)
}

// Flush implements http.Flusher: nothing is held back.
func (a *answer) Flush() { a.begin(http.StatusOK) }

// begin has the client see the answer.
func (a *answer) begin(status int) {
	a.once.Do(func() {
		a.status = status
		a.sent = a.header.Clone()
		close(a.begun)
	})
}
