package kube

import (
	"context"
	"io"
	"net/http"
)

// leaveKey is the context key of a write's permission: a func() error.
type leaveKey struct{}

// withLeave makes a write ask for permission when it is sent.
func withLeave(ctx context.Context, mayWrite func() error) context.Context {
	return context.WithValue(ctx, leaveKey{}, mayWrite)
}

// leaves is a transport that asks once more before it sends the content of a write, because
// connecting may take a while.
type leaves struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l leaves) RoundTrip(r *http.Request) (*http.Response, error) {
	mayWrite, asks := r.Context().Value(leaveKey{}).(func() error)
	if !asks || r.Body == nil {
		return l.next.RoundTrip(r)
	}
	asking := r.WithContext(r.Context())
	asking.Body = &leaveBody{r.Body, mayWrite}
	if again := r.GetBody; again != nil {
		asking.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return &leaveBody{body, mayWrite}, nil
		}
	}
	return l.next.RoundTrip(asking)
}

// leaveBody asks before each part of a body. A server does nothing without the whole body.
type leaveBody struct {
	io.ReadCloser
	mayWrite func() error
}

// Read implements io.Reader.
func (b *leaveBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if refused := b.mayWrite(); refused != nil {
		return 0, refused
	}
	return n, err
}
