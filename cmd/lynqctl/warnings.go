package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
)

// connect makes a client of the cluster that the flags mean, and has what the
// server warns of told.
func (a *app) connect(access *kube.Access) (*kube.Client, *serverWarnings, error) {
	warnings := &serverWarnings{stderr: a.stderr}
	client, err := access.Client(kube.Options{Warn: warnings.warn})
	if err != nil {
		return nil, nil, badUsage(err)
	}
	return client, warnings, nil
}

// connectToLook is connect for commands that only look at what there is.
func (a *app) connectToLook(access *kube.Access) (*kube.Client, error) {
	client, warnings, err := a.connect(access)
	if err != nil {
		return nil, err
	}
	warnings.look(true)
	return client, nil
}

// serverWarnings are what the API server warns of. Once a run reports they are
// part of that: they must not break into what moves on a terminal.
type serverWarnings struct {
	stderr io.Writer
	mu     sync.Mutex
	report func(apply.Event)
	// looking: all kinds are listed. That some are deprecated is not the user's
	// doing then.
	looking bool
}

func (w *serverWarnings) warn(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.looking && strings.Contains(text, " is deprecated in ") {
		return
	}
	if w.report == nil {
		_, _ = fmt.Fprintln(w.stderr, "warning:", text)
		return
	}
	w.report(apply.Event{Type: apply.EventWarning, Message: text})
}

// look says whether all kinds are being listed.
func (w *serverWarnings) look(looking bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = looking
}

// to says where warnings go from now on.
func (w *serverWarnings) to(report func(apply.Event)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report = report
}
