package serve

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Limits for a client, and for answers in progress when the server stops.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 30 * time.Second
	stopTimeout   = 5 * time.Second
	maxHeader     = 16 << 10
	// mostConnections limits the connections, which share the process's files with sources
	// of rows.
	mostConnections = 32
)

// Options are the answers.
type Options struct {
	// Metrics answers /metrics, nil for none.
	Metrics http.Handler
	// Ready says why the process isn't ready, or returns nil. It must be quick and safe for
	// concurrent use. Anybody can read the answer, so it must contain no secret.
	Ready func() error
	// Log receives errors of connections, nil for none.
	Log io.Writer
}

// Start answers at an address until the caller calls stop, or serving fails. Later requests
// then fail. at is the address, with the system's port instead of 0.
func Start(ctx context.Context, address string, o Options) (at string, stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = Serve(ctx, listener, o)
	}()
	return listener.Addr().String(), func() { cancel(); <-ended }, nil
}

// Serve answers until the context ends. It then finishes answers in progress for some
// seconds. It closes the listener. The end of the context isn't an error.
func Serve(ctx context.Context, listener net.Listener, o Options) error {
	if o.Log == nil {
		o.Log = io.Discard
	}
	server := &http.Server{
		Handler: o.handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ConnState: newConnections(mostConnections).change, ErrorLog: log.New(o.Log, "", 0), //nolint:forbidigo // the writer is what the caller wants
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err := server.Shutdown(last)
		if err != nil {
			err = errors.Join(err, server.Close())
		}
		stopped <- err
	})
	err := server.Serve(listener)
	if stop() { // it ended by itself
		return err
	}
	return <-stopped
}

func (o *Options) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		var err error
		if o.Ready != nil {
			err = o.Ready()
		}
		answer(w, err)
	})
	if o.Metrics != nil {
		mux.Handle("GET /metrics", o.Metrics)
	}
	return mux
}

// answer answers ok, or says what is wrong.
func answer(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	text := "ok\n"
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = err.Error() + "\n"
	}
	_, _ = io.WriteString(w, text) // the client is gone
}
