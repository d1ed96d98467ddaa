package write

import "context"

type hastyKey struct{}

// Hasty is a context whose requests are not to be tried for long.
func Hasty(ctx context.Context) context.Context { return context.WithValue(ctx, hastyKey{}, true) }

// IsHasty tells whether a context is such a one.
func IsHasty(ctx context.Context) bool { return ctx.Value(hastyKey{}) != nil }
