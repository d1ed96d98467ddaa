package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
)

// Limits of retries: the pauses double, and add up to about 19 seconds. A server that asks
// for longer ones can double that.
const (
	maxTries   = 7
	hastyTries = 2 // for a request that failed for many others
	firstPause = 300 * time.Millisecond
	// hastyPause and hastyTime limit the pauses that a server may ask for in such a request,
	// and the time after which no other try begins.
	hastyPause = 5 * time.Second
	hastyTime  = 5 * time.Second
	// longestAsked limits the pause that a server may ask for.
	longestAsked = 30 * time.Second
	// longestPauses limits all pauses of a request together, whatever the server asks for.
	longestPauses = 40 * time.Second
)

// retrier retries requests. Tests replace its parts.
type retrier struct {
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
	jitter func() float64 // in [0, 1)
	// tell, if not nil, receives the errors of requests that failed twice.
	tell func(error)
}

func newPatience(warn func(string)) retrier {
	p := retrier{now: time.Now, sleep: sleep, jitter: rand.Float64}
	if warn != nil {
		var once sync.Once
		p.tell = func(err error) {
			once.Do(func() {
				warn(unavailable(err) + "; retrying for up to 40 seconds: " + trouble(err))
			})
		}
	}
	return p
}

// unavailable says which part of the cluster gives no answer.
func unavailable(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		message := status.Status().Message
		if name := write.WebhookDown(message); name != "" {
			return "admission webhook " + name + " gives no answer"
		}
		if kind := write.ConversionDown(message); kind != "" {
			return "the conversion webhook of " + kind + " gives no answer"
		}
		if write.Unloaded(message) {
			return "the API server can't load the objects of a kind"
		}
	}
	return "the API server is unavailable"
}

// trouble says what is wrong with a server. Of an answer, it shows only the status, because
// the answer may quote the request.
func trouble(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s := status.Status()
		if cause := write.PlainCause(s.Message); cause != "" {
			return cause
		}
		return fmt.Sprintf("status %d %s", s.Code, s.Reason)
	}
	// The URL of a request has parameters that don't help in a message.
	failed := &url.Error{}
	if errors.As(err, &failed) {
		if u, bad := url.Parse(failed.URL); bad == nil && u.Host != "" {
			return fmt.Sprintf("%s://%s: %v", u.Scheme, u.Host, failed.Err)
		}
	}
	return err.Error()
}

// try calls f until it succeeds, fails for good, or has failed too often.
func (p retrier) try(ctx context.Context, f func() error) error {
	var before error // the error of the last try
	var paused time.Duration
	began := p.now()
	for n := 1; ; n++ {
		err := f()
		most, longest := limits(ctx, err)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && (passing(err) || endedBy(ctx, err)):
			if endedBy(ctx, err) && before != nil {
				err = before // it says why another try came
			}
			return interrupted(ctx, err)
		case !passing(err):
			return err
		case n == most, most == hastyTries && p.now().Sub(began) >= hastyTime:
			return &triedError{tries: n, err: err}
		}
		wait := pause(n, err, p.jitter())
		if paused += wait; paused > longest {
			return &triedError{tries: n, err: err}
		}
		if before = err; n == 2 && p.tell != nil {
			p.tell(err)
		}
		if p.sleep(ctx, wait) != nil {
			return interrupted(ctx, err)
		}
	}
}

// limits returns the most tries of a request, and the longest pauses together.
func limits(ctx context.Context, err error) (most int, longest time.Duration) {
	if write.IsHasty(ctx) || write.IsSurveying(ctx) && ofKind(err) {
		return hastyTries, hastyPause
	}
	return maxTries, longestPauses
}

// ofKind reports whether a server fails to read the objects of one kind alone.
func ofKind(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	message := answer.Status().Message
	return write.Unloaded(message) || write.ConversionDown(message) != ""
}

// endedBy reports whether an error is the end of the context.
func endedBy(ctx context.Context, err error) bool {
	return errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))
}

// interrupted returns the error for the end of a context.
func interrupted(ctx context.Context, last error) error {
	cause := context.Cause(ctx)
	if endedBy(ctx, last) {
		return cause
	}
	return &interruptedError{cause: cause, last: last}
}

// pause returns the pause after the nth try. The jitter, in [0, 1), spreads clients that
// fail together.
func pause(n int, err error, jitter float64) time.Duration {
	wait := firstPause << (n - 1)
	wait = wait/2 + time.Duration(jitter*float64(wait))
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		asked := min(time.Duration(seconds)*time.Second, longestAsked)
		wait = max(wait, asked+time.Duration(jitter*float64(asked)/4))
	}
	return wait
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// passing reports whether the same request may succeed a little later.
func passing(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		switch status.Status().Code {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		case http.StatusInternalServerError:
			return !write.Permanent(status.Status().Message)
		}
		return false
	}
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsTimeout(err) ||
		utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || brokeOff(err)
}

// brokeOff recognizes errors that net/http and http2 don't export.
func brokeOff(err error) bool {
	text := err.Error()
	for _, sign := range []string{"stream error: ", "http: server closed idle connection", "http2: server sent GOAWAY"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// triedError is the last error of several tries.
type triedError struct {
	tries int
	err   error
}

// Error implements error.
func (e *triedError) Error() string {
	if e.tries == 1 {
		return e.err.Error()
	}
	return fmt.Sprintf("%v (tried %d times)", e.err, e.tries)
}

// Unwrap returns the last error.
func (e *triedError) Unwrap() error { return e.err }

// interruptedError is a context's end between two tries, or in a later try.
type interruptedError struct{ cause, last error }

// Error implements error.
func (e *interruptedError) Error() string {
	return fmt.Sprintf("%v, while trying again: %v", e.cause, e.last)
}

// Unwrap returns the context's cause and the last try's error.
func (e *interruptedError) Unwrap() []error { return []error{e.cause, e.last} }
