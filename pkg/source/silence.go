package source

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// defaultSilence is how long a server may send nothing while it is asked for
// something: as long as it may take to sort a large table, or to work out a view.
const defaultSilence = 5 * time.Minute

// silence gives a connection up on which nothing comes for too long. Time in which
// nothing is read does not count: rows may be slow to be used.
type silence struct {
	limit   time.Duration
	reached atomic.Bool
}

func newSilence(limit time.Duration) *silence {
	return &silence{limit: cmp.Or(limit, defaultSilence)}
}

// dial connects, as drivers ask for it.
func (s *silence) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &listening{Conn: conn, silence: s}, nil
}

// listening is a connection whose reads end when the other side is silent.
type listening struct {
	net.Conn
	silence *silence
}

// Read implements net.Conn. The connection is closed, for deadlines are the driver's.
func (c *listening) Read(p []byte) (int, error) {
	limit := time.AfterFunc(c.silence.limit, func() {
		c.silence.reached.Store(true)
		_ = c.Close() // the read tells
	})
	defer limit.Stop()
	return c.Conn.Read(p)
}

// silentError is the error for a server that sent so many rows, and then nothing.
func (s server) silentError(rows int) error {
	e := &Error{
		Place: s.name,
		What:  fmt.Sprintf("the server sent nothing for %s while table %s was read", s.silence.limit, s.target.Table),
		Fix:   "check for locks and long queries on the server, and check the network; turn a slow view into a table",
	}
	if rows > 0 {
		e.What = fmt.Sprintf("the server sent nothing for %s after %d rows of table %s", s.silence.limit, rows, s.target.Table)
		e.Fix = "lynqctl ignores these rows; check the server and the network, and run again"
	}
	return e
}
