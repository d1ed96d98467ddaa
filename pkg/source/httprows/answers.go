package httprows

import (
	"sync"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// Answers keeps the last answers of an API, so that the next reading can ask only for
// changes. A nil Answers keeps nothing.
type Answers struct {
	mu   sync.Mutex
	from endpoint.Connection
	rows *Rows
}

// take returns the last rows of a connection, or nil. The caller closes them.
func (a *Answers) take(c endpoint.Connection) *Rows {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rows == nil || a.from != c {
		return nil
	}
	return a.rows.share()
}

// keep stores rows and closes the previous ones.
func (a *Answers) keep(c endpoint.Connection, rows *Rows) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.rows
	a.from, a.rows = c, rows.share()
	return before.Close()
}

// Close implements io.Closer.
func (a *Answers) Close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	rows := a.rows
	a.rows = nil
	return rows.Close()
}
