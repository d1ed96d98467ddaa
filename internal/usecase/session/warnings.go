package session

import (
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// ServerWarnings are what the API server warns of. Once a run reports they are
// part of that: they must not break into what moves on a terminal.
type ServerWarnings struct {
	show   func(text string)
	mu     sync.Mutex
	report func(report.Event)
	// looking: all kinds are listed. That some are deprecated is not the user's
	// doing then.
	looking bool
}

func (w *ServerWarnings) warn(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.looking && strings.Contains(text, " is deprecated in ") {
		return
	}
	if w.report == nil {
		w.show(text)
		return
	}
	w.report(report.Event{Type: report.EventWarning, Message: text})
}

// Look says whether all kinds are being listed.
func (w *ServerWarnings) Look(looking bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = looking
}

// to says where warnings go from now on.
func (w *ServerWarnings) to(report func(report.Event)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report = report
}
