package serve

import (
	"net"
	"net/http"
	"sync"
)

// connections limits the connections of a server. If there are too many, it closes the one
// that has been without a request for longest, so that new clients still get answers.
type connections struct {
	most int

	mu    sync.Mutex
	turns int
	// known has each open connection. Those without a request have the turn in which they
	// became so, and the others have 0.
	known map[net.Conn]int
}

func newConnections(most int) *connections {
	return &connections{most: most, known: map[net.Conn]int{}}
}

// change notes the state of a connection. It implements http.Server.ConnState.
func (c *connections) change(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.known, conn)
	case http.StateActive:
		c.known[conn] = 0
	default:
		c.turns++
		c.known[conn] = c.turns
	}
	if len(c.known) > c.most {
		c.drop()
	}
}

// drop closes the connection that has been without a request for longest. The caller holds
// the lock.
func (c *connections) drop() {
	var oldest net.Conn
	for conn, turn := range c.known {
		if turn > 0 && (oldest == nil || turn < c.known[oldest]) {
			oldest = conn
		}
	}
	if oldest != nil {
		delete(c.known, oldest)
		_ = oldest.Close() // its client is idle
	}
}
