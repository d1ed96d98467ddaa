package session

import (
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// ServerWarnings shows the warnings of the API server. During a run, they go through its
// Reporter, so that they don't disturb moving lines on a terminal.
type ServerWarnings struct {
	show   func(text string)
	mu     sync.Mutex
	report func(report.Event)
	// looking is set while lynqctl lists all kinds. It hides warnings about deprecated
	// kinds, because the user didn't ask for those.
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
	w.report(report.Event{Type: report.EventWarning, Details: report.Details{Message: text}})
}

// Look says whether lynqctl lists all kinds now.
func (w *ServerWarnings) Look(looking bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = looking
}

// to sets the receiver of later warnings.
func (w *ServerWarnings) to(report func(report.Event)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report = report
}
