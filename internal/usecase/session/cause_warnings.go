package session

import (
	"context"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
)

// listAgain is how long a list of warnings counts. Objects that are unready together share
// one list of their namespace.
const listAgain = 10 * time.Second

// warnings keeps the warnings of namespaces. It is safe for concurrent use.
type warnings struct {
	list func(ctx context.Context, namespace string) ([]ready.Event, error)
	now  func() time.Time

	mu    sync.Mutex
	lists map[string]*warningList
}

// warningList has the warnings of a namespace.
type warningList struct {
	mu     sync.Mutex
	at     time.Time // when the last list ended, zero for never
	events []ready.Event
}

// of returns the warnings of a namespace. It returns none if lynqctl can't list them, and
// then lists again only later, because the server may be slow.
func (w *warnings) of(ctx context.Context, namespace string) []ready.Event {
	l := w.listOf(namespace)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() || w.now().Sub(l.at) >= listAgain {
		l.events, _ = w.list(ctx, namespace) // without events, the pods may show the cause
		l.at = w.now()
	}
	return l.events
}

func (w *warnings) listOf(namespace string) *warningList {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lists == nil {
		w.lists = map[string]*warningList{}
	}
	if w.lists[namespace] == nil {
		w.lists[namespace] = &warningList{}
	}
	return w.lists[namespace]
}
