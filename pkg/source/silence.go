package source

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// defaultSilence limits how long a server may send nothing after a request. It allows time
// to sort a large table or to compute a view.
const defaultSilence = 5 * time.Minute

// silence closes a connection on which nothing arrives for too long. It counts only time
// in which the driver reads, because rows may take long to process.
type silence struct {
	limit   time.Duration
	reached atomic.Bool
}

func newSilence(limit time.Duration) *silence {
	return &silence{limit: cmp.Or(limit, defaultSilence)}
}

// dial is the dial function for drivers.
func (s *silence) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &listening{Conn: conn, silence: s}, nil
}

// listening is a connection whose reads end if the server is silent.
type listening struct {
	net.Conn
	silence *silence
}

// Read implements net.Conn. It closes the connection, because the driver sets the
// deadlines itself.
func (c *listening) Read(p []byte) (int, error) {
	limit := time.AfterFunc(c.silence.limit, func() {
		c.silence.reached.Store(true)
		_ = c.Close() // the pending read returns the error
	})
	defer limit.Stop()
	return c.Conn.Read(p)
}

// silentError returns the error for a server that went silent after so many rows.
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
