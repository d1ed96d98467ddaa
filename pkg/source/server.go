package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// server has the fields of all sources with a server.
type server struct {
	target  endpoint.Connection
	name    string // the name in messages
	silence *silence
}

func newServer(c endpoint.Connection) server {
	return server{target: c, name: serverName(c), silence: newSilence(c.Silence)}
}

// place names row n of the result.
func (s server) place(n int) string {
	return fmt.Sprintf("row %d of table %s in %s", n, s.target.Table, s.name)
}

// tablePlace names the table.
func (s server) tablePlace() string {
	return fmt.Sprintf("table %s in %s", s.target.Table, s.name)
}

// splitTable splits "schema.table" at the first dot. The schema may be "".
func splitTable(name string) (schema, table string) {
	if before, after, ok := strings.Cut(name, "."); ok {
		return before, after
	}
	return "", name
}

// loginError returns the error for a wrong user or password.
func (s server) loginError(message string) error {
	e := &Error{
		Place: s.name,
		What:  fmt.Sprintf("the server refuses user %q: %s", s.target.Username, phrase.Shown(message)),
		Fix:   "check username, password, tls, and from where this user may connect",
	}
	switch {
	case s.target.Password != "":
	case s.target.Certificate != "":
		e.Fix = "check username, which client certificates the server takes for it, and from where this user may connect"
	default:
		e.Fix = fmt.Sprintf("no password was sent: set %s, or give the hub passwordFrom, passwordRef or certificateFrom; if that is right, check username, tls, and from where this user may connect", endpoint.PasswordVariable)
	}
	return e
}

// databaseError returns the error for a database that doesn't exist.
func (s server) databaseError() error {
	return &Error{
		Place: s.name,
		What:  fmt.Sprintf("database %q does not exist, or user %q may not see it", s.target.Database, s.target.Username),
		Fix:   "check database",
	}
}

// missingSchema returns the error for a schema that the user doesn't see. dotted is the
// full name of a table whose own name has the dot. denial is the server's answer if it
// doesn't say that the schema is missing.
func (s server) missingSchema(schema string, schemas, dotted []string, denial error) error {
	e := &Error{
		Place: s.name,
		What:  fmt.Sprintf("table %q does not exist, because user %q sees no schema %q", s.target.Table, s.target.Username, schema),
		Fix:   strings.TrimSuffix("table takes TABLE or SCHEMA.TABLE; "+suggest.Fix(schema, schemas), "; "),
	}
	if denial != nil {
		e.What = fmt.Sprintf("user %q may not read table %s, and sees no schema %q", s.target.Username, s.target.Table, schema)
		e.Fix += "; if the table exists, grant this user SELECT on it"
	}
	if len(dotted) > 0 {
		e.Fix = fmt.Sprintf("a table whose name has a dot needs its schema: set table to %q", dotted[0])
	}
	return e
}

// deniedError returns the error for missing permissions.
func (s server) deniedError(message, grant string) error {
	return &Error{
		Place: s.name,
		What:  fmt.Sprintf("user %q may not read table %s: %s", s.target.Username, s.target.Table, phrase.Shown(message)),
		Fix:   "check table, and " + grant,
	}
}

// hiddenError returns the error for rows that the server would hide from the user.
func (s server) hiddenError(message string) error {
	return &Error{
		Place: s.name,
		What:  fmt.Sprintf("row level security would hide rows of table %s from user %q: %s", s.target.Table, s.target.Username, phrase.Shown(message)),
		Fix:   "read a view of the table's owner that selects the rows, or give this user BYPASSRLS",
	}
}

// networkError explains why no connection opened, if the server sent no message.
func (s server) networkError(ctx context.Context, err error) error {
	if s.silence.reached.Load() && ctx.Err() == nil {
		return s.silentError(0)
	}
	e := &Error{
		Place: s.name,
		What:  "no connection",
		Fix:   "check the host, the port, and the network, and whether the server is running",
		Err:   errors.New(strings.Join(strings.Fields(said(err).Error()), " ")), // drivers write several lines
	}
	var (
		dns    *net.DNSError
		dial   *net.OpError
		verify *tls.CertificateVerificationError
	)
	switch {
	case ctx.Err() != nil:
		return &Error{Place: s.name, What: "lynqctl stopped connecting", Err: context.Cause(ctx)}
	case errors.As(err, &verify):
		e.What, e.Err = fmt.Sprintf("TLS mode %s isn't available", tlsMode(s.target)), verify
		e.Fix = "check host, the server's certificate, and the CA file"
		if s.target.TLS == "" {
			e.Fix = unverified
		}
	case isTLSError(err):
		e.What = fmt.Sprintf("TLS mode %s isn't available", tlsMode(s.target))
		e.Fix = "check whether the server supports TLS, and which versions"
	case errors.Is(err, context.DeadlineExceeded):
		e.What, e.Err = fmt.Sprintf("the server did not answer within %s", connectTimeout), context.DeadlineExceeded
	case errors.As(err, &dns):
		e.What, e.Fix, e.Err = fmt.Sprintf("host %q can't be found", s.target.Host), s.hostFix(), dns
	case errors.As(err, &dial) && dial.Op == "dial":
		e.What, e.Err = "the server can't be reached", dial.Err
	case s.target.Certificate != "": // with TLS 1.3, the server checks it after the handshake
		e.What, e.Fix = "the server ended the connection", "check which client certificates and TLS versions the server takes"
		if until, expired := expiredCertificate(s.target); expired {
			// Drivers have several texts for it, and watch reports each new one.
			e.What, e.Fix, e.Err = "its client certificate expired on "+until.UTC().Format(time.RFC3339), "renew the certificate", nil
		}
	}
	return e
}

// brokeOff returns the error for an incomplete result.
func (s server) brokeOff(ctx context.Context, rows int, err error) error {
	if s.silence.reached.Load() && ctx.Err() == nil {
		return s.silentError(rows)
	}
	return brokeOff(ctx, s.name, rows, said(err))
}

// hostFix returns the fix for a host that can't be found. The name of a Service works only
// inside its cluster.
func (s server) hostFix() string {
	before, _, inside := strings.Cut(s.target.Host+".", ".svc.")
	names := strings.Split(before, ".")
	if !inside || len(names) < 2 {
		return "check host"
	}
	service, namespace := names[len(names)-2], names[len(names)-1]
	return fmt.Sprintf("only the cluster's own pods can find a Service by that name; from elsewhere run kubectl port-forward -n %s service/%s %d, and pass --source %s://127.0.0.1:%d",
		namespace, service, s.target.Port, s.target.Type, s.target.Port)
}

// isTLSError reports whether err comes from the TLS handshake.
func isTLSError(err error) bool {
	var (
		record tls.RecordHeaderError
		alert  tls.AlertError
	)
	return errors.As(err, &record) || errors.As(err, &alert)
}
