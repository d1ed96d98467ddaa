package kube_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

func TestPassing(t *testing.T) {
	transport := func(err error) error { return &url.Error{Op: "Get", URL: "https://h/", Err: err} }
	answer := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "get", schema.GroupResource{Resource: "x"}, "n", "", 0, true)
	}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{transport(io.EOF), true},
		{transport(io.ErrUnexpectedEOF), true},
		{fmt.Errorf("while reading: %w", io.ErrUnexpectedEOF), true},
		{transport(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), true},
		{transport(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), true},
		{transport(&net.OpError{Op: "write", Err: syscall.EPIPE}), true},
		{transport(&net.DNSError{Name: "h", IsTimeout: true}), true},
		{transport(os.ErrDeadlineExceeded), true},
		{transport(errors.New("http2: client connection lost")), true},
		{transport(errors.New("stream error: stream ID 5; INTERNAL_ERROR; received from peer")), true},
		{transport(&net.DNSError{Name: "h", IsNotFound: true}), false},
		{transport(x509.UnknownAuthorityError{}), false},
		{context.Canceled, false},
		{answer(429), true}, {answer(500), true}, {answer(502), true}, {answer(503), true}, {answer(504), true},
		{answer(400), false}, {answer(401), false}, {answer(403), false}, {answer(404), false}, {answer(409), false},
		{answer(410), false}, {answer(422), false}, {answer(501), false},
		{apierrors.NewInternalError(errors.New("failed to create typed patch object (ns/a; /v1, Kind=Service): expected numeric")), false},
		{apierrors.NewInternalError(errors.New("failed to convert new object (/a; apps/v1, Kind=Deployment) to proper version: quantities must match the regular expression")), false},
		{apierrors.NewInternalError(errors.New("failed to convert new object (/a; x.io/v1, Kind=A) to proper version: conversion webhook for x.io/v2, Kind=A failed: connection refused")), true},
		{apierrors.NewInternalError(errors.New(`failed calling webhook "a.b.c": connection refused`)), true},
		{apierrors.NewInternalError(errors.New("etcdserver: leader changed")), true},
		{apierrors.NewInternalError(errors.New("etcdserver: request is too large")), false},
		{apierrors.NewInternalError(errors.New("request to convert CR to an invalid group/version: x.io/v1alpha1")), false},
		{apierrors.NewInternalError(errors.New("failed to allocate requested HealthCheck NodePort 31888: provided port is already allocated")), false},
	} {
		if got := kube.Passing(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestPause(t *testing.T) {
	asked := func(seconds int) error { return apierrors.NewTooManyRequests("busy", seconds) }
	for _, c := range []struct {
		n      int
		err    error
		jitter float64
		want   time.Duration
	}{
		{1, io.EOF, 0.5, 300 * time.Millisecond},
		{1, io.EOF, 0, 150 * time.Millisecond},
		{2, io.EOF, 0.5, 600 * time.Millisecond},
		{6, io.EOF, 0.5, 9600 * time.Millisecond},
		{1, asked(2), 0, 2 * time.Second},
		{1, asked(2), 0.5, 2250 * time.Millisecond},
		{6, asked(1), 0.5, 9600 * time.Millisecond},
		{1, asked(3600), 0, 30 * time.Second},
	} {
		if got := kube.Pause(c.n, c.err, c.jitter); got != c.want {
			t.Errorf("try %d, %v: %v, want %v", c.n, c.err, got, c.want)
		}
	}
}

// TestFaults compares how often the client retries after faults, and its errors.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		o        faultproxy.Options
		rule     faultproxy.Rule
		requests int
		want     string // the error
	}{
		{"busy", faultproxy.Options{}, faultproxy.Rule{Status: 429, RetryAfter: 1, Times: 3}, 4, ""},
		{"internal error", faultproxy.Options{}, faultproxy.Rule{Status: 500, Times: 1}, 2, ""},
		{"bad gateway", faultproxy.Options{}, faultproxy.Rule{Status: 502, Times: 1}, 2, ""},
		{"unavailable", faultproxy.Options{}, faultproxy.Rule{Status: 503, Times: 6}, 7, ""},
		{"cut before", faultproxy.Options{}, faultproxy.Rule{End: faultproxy.CutBefore, Times: 2}, 3, ""},
		{"cut after", faultproxy.Options{}, faultproxy.Rule{End: faultproxy.CutAfter, Times: 2}, 3, ""},
		{"cut before, HTTP/1", faultproxy.Options{HTTP1: true}, faultproxy.Rule{End: faultproxy.CutBefore, Times: 2}, 3, ""},
		{"cut after, HTTP/1", faultproxy.Options{HTTP1: true}, faultproxy.Rule{End: faultproxy.CutAfter, Times: 2}, 3, ""},
		{"for ever", faultproxy.Options{}, faultproxy.Rule{Status: 503}, 7, "get configmaps NAMESPACE/m: fault proxy: 503 for get configmaps (tried 7 times)"},
		{"cut for ever", faultproxy.Options{HTTP1: true}, faultproxy.Rule{End: faultproxy.CutBefore}, 7, "get configmaps NAMESPACE/m at URL: EOF (tried 7 times)"},
		{"bad request", faultproxy.Options{}, faultproxy.Rule{Status: 400}, 1, "get configmaps NAMESPACE/m: fault proxy: 400 for get configmaps"},
		{"conflict", faultproxy.Options{}, faultproxy.Rule{Status: 409}, 1, "get configmaps NAMESPACE/m: fault proxy: 409 for get configmaps"},
		{"not found", faultproxy.Options{}, faultproxy.Rule{Status: 404}, 1, "get configmaps NAMESPACE/m: fault proxy: 404 for get configmaps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newThrough(t, c.o)
			p.Kubectl(t, "", "create", "configmap", "m")
			c.rule.Verb, c.rule.Resource = "get", "configmaps"
			p.rules(c.rule)
			_, err := p.Metadata(t.Context(), configMaps, p.Namespace, "m")
			want := strings.NewReplacer("NAMESPACE", p.Namespace, "URL", p.proxy.URL).Replace(c.want)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if n := p.requests("get", "configmaps"); n != c.requests || len(p.pauses) != n-1 {
				t.Errorf("%d requests and pauses of %v, want %d requests", n, p.pauses, c.requests)
			}
			if status := (*apierrors.StatusError)(nil); c.rule.Status != 0 && err != nil && !errors.As(err, &status) {
				t.Errorf("%v wraps no status", err)
			}
		})
	}
}

// TestHasty wants only two tries of a request that failed for many others.
func TestHasty(t *testing.T) {
	t.Parallel()
	p := newThrough(t, faultproxy.Options{})
	p.rules(faultproxy.Rule{Verb: "get", Resource: "configmaps", Status: 500})
	_, err := p.Metadata(write.Hasty(t.Context()), configMaps, p.Namespace, "m")
	if want := "get configmaps " + p.Namespace + "/m: fault proxy: 500 for get configmaps (tried 2 times)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if n := p.requests("get", "configmaps"); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// TestRetryAfter wants longer pauses if the server asks for them.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	c.rules(faultproxy.Rule{Status: 429, RetryAfter: 4, Times: 1}, faultproxy.Rule{Status: 503, Times: 1})
	if _, err := c.ConfigMaps().Get(t.Context(), c.Namespace, "m"); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	if diff := cmp.Diff([]time.Duration{4500 * time.Millisecond, 600 * time.Millisecond}, c.pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

// TestRetryAfterEnds wants the pauses to end, however long each is that the server asks for.
func TestRetryAfterEnds(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	c.rules(faultproxy.Rule{Status: 429, RetryAfter: 30})
	if _, err := c.ConfigMaps().Get(t.Context(), c.Namespace, "m"); !apierrors.IsTooManyRequests(err) {
		t.Error(err)
	}
	if diff := cmp.Diff([]time.Duration{33750 * time.Millisecond}, c.pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

// TestContextEndsTries wants the end of a context to end the pauses. The error gives the
// cause, and the last failure.
func TestContextEndsTries(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	cause := errors.New("out of patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	client := c.WithSleep(func(context.Context, time.Duration) error {
		cancel(cause)
		return context.Canceled
	})
	c.rules(faultproxy.Rule{Status: 503})
	_, err := client.Metadata(ctx, configMaps, c.Namespace, "m")
	want := "out of patience, while trying again: get configmaps " + c.Namespace + "/m: fault proxy: 503 for get configmaps"
	if !errors.Is(err, cause) || !apierrors.IsServiceUnavailable(err) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	c.rules()
	if _, err := c.Metadata(ctx, configMaps, c.Namespace, "m"); !errors.Is(err, cause) || c.requests("get", "configmaps") != 0 {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestContextEndsInTry ends a context during a try, and wants the failure before it in the
// error.
func TestContextEndsInTry(t *testing.T) {
	cause := errors.New("out of patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	tries := 0
	err := kube.Try(ctx, func() error {
		if tries++; tries == 1 {
			return io.ErrUnexpectedEOF
		}
		cancel(cause)
		return fmt.Errorf("get configmaps: %w", ctx.Err())
	})
	if !errors.Is(err, cause) || !errors.Is(err, io.ErrUnexpectedEOF) || tries != 2 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	if err := kube.Try(ctx, ctx.Err); !errors.Is(err, cause) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a context that had ended: %v", err)
	}
}

// TestSleepEndsWithContext wants real pauses to end with the context.
func TestSleepEndsWithContext(t *testing.T) {
	t.Parallel()
	env, proxy := cluster.Env(t).Proxy(t, faultproxy.Options{})
	proxy.SetRules(faultproxy.Rule{Status: 503, RetryAfter: 30})
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	if _, err := newClient(t, env.Kubeconfig).Metadata(ctx, configMaps, env.Namespace, "m"); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	proxy.SetRules(faultproxy.Rule{Status: 503, Times: 1})
	if _, err := newClient(t, env.Kubeconfig).Metadata(t.Context(), configMaps, env.Namespace, "m"); !apierrors.IsNotFound(err) {
		t.Errorf("after a pause: %v", err)
	}
}

// TestHastyPatience wants no long wait for a kind that a server can't load, and none after a
// slow answer. A survey of all kinds waits as long as others for an outage.
func TestHastyPatience(t *testing.T) {
	loading := apierrors.NewTooManyRequests("storage is (re)initializing", 30)
	conversion := apierrors.NewInternalError(errors.New("conversion webhook for x.io/v1, Kind=A failed: EOF"))
	for name, c := range map[string]struct {
		err           error
		slow          time.Duration
		hasty, survey int // the tries
	}{
		"another try soon":          {errors.New("stream error: x"), 0, 2, kube.MaxTries},
		"a pause that is asked for": {apierrors.NewTooManyRequests("busy", 1), 0, 2, kube.MaxTries},
		"a long one":                {loading, 0, 1, 1},
		"a slow answer":             {conversion, 30 * time.Second, 1, 1},
		"a quick answer":            {conversion, 0, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			for ctx, want := range map[context.Context]int{write.Hasty(t.Context()): c.hasty, write.Surveying(t.Context()): c.survey} {
				tries, now := 0, time.Unix(0, 0)
				err := kube.TryAt(ctx, func() time.Time { return now }, func() error {
					tries++
					now = now.Add(c.slow)
					return c.err
				})
				if tries != want || !errors.Is(err, c.err) || want == 1 && err.Error() != c.err.Error() {
					t.Errorf("%d tries, want %d: %v", tries, want, err)
				}
			}
		})
	}
}
