package command

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// refusals knows since when the API server and the sources have refused a watch.
type refusals struct {
	now func() time.Time

	mu     sync.Mutex
	hubs   []watchcmd.Watched
	server time.Time // zero if the last request had an answer
	unread map[lynq.HubKey]time.Time
}

// keeps sets the hubs of the watch.
func (r *refusals) keeps(hubs []watchcmd.Watched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hubs = hubs
}

// read notes whether the rows of a hub could be read, or needn't be.
func (r *refusals) read(hub lynq.HubKey, well bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case well:
		delete(r.unread, hub)
	case r.unread[hub].IsZero():
		if r.unread == nil {
			r.unread = map[lynq.HubKey]time.Time{}
		}
		r.unread[hub] = r.now()
	}
}

// answered notes the status of an answer of the API server, 0 without an answer.
func (r *refusals) answered(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case status != 0 && status != http.StatusUnauthorized && status < http.StatusInternalServerError:
		r.server = time.Time{}
	case r.server.IsZero():
		r.server = r.now()
	}
}

// problem names the API server or a source that has refused for longer than a sync
// interval, or returns nil. Its text has no words of a server.
func (r *refusals) problem() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	longest := time.Duration(0)
	for _, h := range r.hubs {
		longest = max(longest, h.SyncInterval)
		if since := r.unread[h.HubKey]; !since.IsZero() && now.Sub(since) > h.SyncInterval {
			return fmt.Errorf("hub %s: its rows can't be read since %s (read the log)", h.HubKey, clock(since))
		}
	}
	if !r.server.IsZero() && now.Sub(r.server) > longest {
		return fmt.Errorf("the API server has refused all requests, or not answered, since %s (read the log)", clock(r.server))
	}
	return nil
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
