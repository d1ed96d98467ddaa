package write

import "context"

type hastyKey struct{}

// Hasty returns a context for requests that lynqctl should try only for a short time.
func Hasty(ctx context.Context) context.Context { return context.WithValue(ctx, hastyKey{}, true) }

// IsHasty reports whether a context comes from Hasty.
func IsHasty(ctx context.Context) bool { return ctx.Value(hastyKey{}) != nil }

type surveyKey struct{}

// Surveying returns a context for requests about many kinds. A kind whose objects the API
// server can't read must not hold up the others.
func Surveying(ctx context.Context) context.Context { return context.WithValue(ctx, surveyKey{}, true) }

// IsSurveying reports whether a context comes from Surveying.
func IsSurveying(ctx context.Context) bool { return ctx.Value(surveyKey{}) != nil }
