package source

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// connectTimeout limits how long a connection attempt may take.
const connectTimeout = 10 * time.Second

// Open opens the source that c describes. It connects to a server, reads an API, or opens
// a file. The path "-" reads stdin, which may be nil otherwise. If known has earlier
// answers of an API, the API sends only changes. Open fails for an unreachable server, a
// refused login and a missing file. Records finds missing tables and columns. Use a source
// in one goroutine, and close it.
func Open(ctx context.Context, c endpoint.Connection, stdin io.Reader, known *httprows.Answers) (Source, error) {
	switch c.Type {
	case endpoint.SourceMySQL:
		return openMySQL(ctx, c)
	case endpoint.SourcePostgreSQL:
		return openPostgreSQL(ctx, c)
	case endpoint.SourceSQLite:
		return openSQLite(c)
	case endpoint.SourceCSV:
		return openCSV(ctx, c, stdin)
	case endpoint.SourceJSON:
		return openJSON(ctx, c, stdin)
	case endpoint.SourceHTTP:
		return openHTTP(ctx, c, known)
	}
	return nil, fmt.Errorf("source type %q is unknown (use mysql, postgresql, sqlite, csv, json, or http)", c.Type)
}

// openHTTP reads all rows of an API into a file, and opens it as JSON.
func openHTTP(ctx context.Context, c endpoint.Connection, known *httprows.Answers) (Source, error) {
	roots, err := rootCAs(c)
	if err != nil {
		return nil, err
	}
	rows, err := httprows.Read(ctx, c, roots, known)
	if err != nil {
		return nil, err
	}
	return &jsonSource{file: &dataFile{file: rows.File, name: rows.Name(), shared: rows}}, nil
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
