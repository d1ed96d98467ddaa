package redact

import "context"

type hideKey struct{}

// HideMessages is a context whose requests are about an object that no message may quote:
// their errors hide what the server says of its content.
func HideMessages(ctx context.Context) context.Context {
	return context.WithValue(ctx, hideKey{}, true)
}

// HidesMessages reports whether the requests of a context are about such an object.
func HidesMessages(ctx context.Context) bool { return ctx.Value(hideKey{}) != nil }
