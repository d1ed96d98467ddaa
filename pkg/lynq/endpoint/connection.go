package endpoint

import (
	"fmt"
	"strings"
	"time"
)

// TLSMode says how a database connection is protected.
type TLSMode string

// TLS modes, in the sense PostgreSQL gives these words. Prefer and require
// encrypt without checking who answers; verify-full checks chain and host name.
const (
	TLSDisable    TLSMode = "disable"
	TLSPrefer     TLSMode = "prefer"
	TLSRequire    TLSMode = "require"
	TLSVerifyFull TLSMode = "verify-full"
)

// PasswordVariable is the environment variable that goes before everything a hub says
// about its password, for hubs of one server. With "_" and the name of a hub behind it, it
// counts for that hub.
const PasswordVariable = "LYNQCTL_SOURCE_PASSWORD" //nolint:gosec // the name of a variable

// Connection says where a hub's rows are. Which fields count depends on Type.
type Connection struct {
	Type SourceType

	// Databases with a server.
	Host     string
	Port     int
	Username string
	Password Secret
	Database string
	TLS      TLSMode // "" is verify-full where a password leaves the machine or CAFile is set, else prefer
	CAFile   string  // PEM; "" is the system's roots
	// Certificate is a client's certificate with its key, as PEM; "" is none. Over HTTP, it
	// counts too.
	Certificate Secret
	// CertFile and KeyFile are files with both, which a URL names. They win over the hub's.
	CertFile, KeyFile string
	// Silence is how long the server may send nothing while rows are waited for, and how
	// long another program may lock a SQLite file; 0 is five minutes, and ten seconds.
	Silence time.Duration

	// Table or view; "schema.table" is allowed for servers.
	Table string
	// Where limits the rows of a database's table.
	Where Where

	// Path of a file, for SQLite, CSV and JSON; "-" is standard input (CSV and
	// JSON only).
	Path string

	// File says how rows are written in a file.
	File FileRows

	// HTTP is where and how rows are read over HTTP; Username, Password, TLS and CAFile
	// count there too.
	HTTP HTTPRows
}

// FileRows says how rows are written in a file.
type FileRows struct {
	// Separator stands between the values of CSV; "" is a comma.
	Separator string
	// Items is the field of a JSON or YAML object that has the rows. A dot leads into an
	// inner object. "" is that the file has the rows without such an object.
	Items string
}

// Separators returns the characters that can separate the values of CSV. The first one is
// the default.
func Separators() []string { return []string{",", ";", "\t", "|"} }

// Secret is a string that no formatting prints.
type Secret string

// Redacted replaces the value of a Secret where it is printed.
const Redacted = "REDACTED"

// Format implements fmt.Formatter: every verb prints Redacted.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Redacted)) }

// MarshalText implements encoding.TextMarshaler likewise.
func (Secret) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// Socket reports whether the host is a Unix socket: a path, or a name after @.
func (c *Connection) Socket() bool {
	return strings.HasPrefix(c.Host, "/") || strings.HasPrefix(c.Host, "@")
}
