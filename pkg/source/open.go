package source

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// connectTimeout limits how long a connection attempt may take.
const connectTimeout = 10 * time.Second

// reader is how a type of source is read.
type reader struct {
	open func(ctx context.Context, c endpoint.Connection, from given) (Source, error)
	// complete adds what a file or an API shows to a connection; nil adds nothing.
	complete func(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error)
	// said returns an error of the server without the values of rows that it quotes. It
	// returns nil for the error of another one. A source without SQL has none.
	said func(err error) error
}

// given is what sources read besides their connection.
type given struct {
	stdin   io.Reader
	answers *httprows.Answers
}

// readers returns the reader of each type in endpoint.Kinds.
func readers() map[endpoint.SourceType]reader {
	return map[endpoint.SourceType]reader{
		endpoint.SourceMySQL:      {open: openMySQL, said: saidMySQL},
		endpoint.SourcePostgreSQL: {open: openPostgreSQL, said: saidPostgreSQL},
		endpoint.SourceSQLite:     {open: openSQLite, complete: onlyTable, said: saidSQLite},
		endpoint.SourceCSV:        {open: openCSV, complete: separated},
		endpoint.SourceJSON:       {open: openJSON, complete: itemsOf},
		endpoint.SourceHTTP:       {open: openHTTP, complete: shapeOf},
	}
}

// Open opens the source that c describes. It connects to a server, reads an API, or opens
// a file. The path "-" reads stdin, which may be nil otherwise. If known has earlier
// answers of an API, the API sends only changes. Open fails for an unreachable server, a
// refused login and a missing file. Records finds missing tables and columns. Use a source
// in one goroutine, and close it.
func Open(ctx context.Context, c endpoint.Connection, stdin io.Reader, known *httprows.Answers) (Source, error) {
	open := readers()[c.Type].open
	if open == nil {
		return nil, unknownType(c.Type)
	}
	return open(ctx, c, given{stdin: stdin, answers: known})
}

func unknownType(t endpoint.SourceType) error {
	var names []string
	for _, known := range endpoint.Types() {
		names = append(names, string(known))
	}
	last := len(names) - 1
	return fmt.Errorf("source type %q is unknown (use %s, or %s)", t, strings.Join(names[:last], ", "), names[last])
}

// Complete adds to a connection the settings that its file or API shows: the only table of
// a SQLite file, the separator of CSV, the field with the rows, and that an API has one
// page. It reads nothing from standard input, and returns such a connection unchanged.
func Complete(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	complete := readers()[c.Type].complete
	if complete == nil || c.Path == "-" {
		return c, nil
	}
	return complete(ctx, c)
}

// serverName names a server's database in messages, without credentials, as in
// "mysql://db.example:3306/crm".
func serverName(c endpoint.Connection) string {
	if c.Socket() {
		return fmt.Sprintf("%s://(%s)/%s", c.Type, c.Host, c.Database)
	}
	return fmt.Sprintf("%s://%s/%s", c.Type, net.JoinHostPort(c.Host, strconv.Itoa(c.Port)), c.Database)
}

// checkServer fills in the default port and refuses incomplete connections.
func checkServer(c endpoint.Connection) (endpoint.Connection, error) {
	if c.Port == 0 {
		c.Port = c.Type.Kind().Port
	}
	switch {
	case c.Host == "":
		return c, &Error{Place: string(c.Type), What: "no host is set", Fix: "set host to the server's name or address"}
	case c.Socket() && (c.TLS == endpoint.TLSRequire || c.TLS == endpoint.TLSVerifyFull):
		return c, &Error{Place: serverName(c), What: fmt.Sprintf("TLS mode %s isn't available, because a Unix socket has no TLS", c.TLS), Fix: "remove tls"}
	case c.Port < 1 || c.Port > 65535:
		return c, &Error{Place: serverName(c), What: fmt.Sprintf("port %d is not a port", c.Port), Fix: "ports are 1 to 65535"}
	}
	return c, nil
}
