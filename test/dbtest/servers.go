package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// startLimit limits the time until a server answers.
const startLimit = 3 * time.Minute

// Servers are the servers of one test binary. The zero value is ready.
type Servers struct {
	mariadb, plainMariaDB, postgres lazy
}

// MariaDB returns the MariaDB server, which the first call starts. If its programs are
// missing, it skips or fails the test.
func (s *Servers) MariaDB(t testing.TB) *Server {
	t.Helper()
	return s.mariadb.get(t, startMariaDB)
}

// MariaDBWithoutTLS returns another MariaDB server, without TLS.
func (s *Servers) MariaDBWithoutTLS(t testing.TB) *Server {
	t.Helper()
	return s.plainMariaDB.get(t, startMariaDBWithoutTLS)
}

// PostgreSQL returns the PostgreSQL server, which the first call starts. If its programs
// are missing, it skips or fails the test.
func (s *Servers) PostgreSQL(t testing.TB) *Server {
	t.Helper()
	return s.postgres.get(t, startPostgres)
}

// Stop stops the started servers. TestMain calls it after the tests.
func (s *Servers) Stop() error {
	return errors.Join(s.mariadb.stop(), s.plainMariaDB.stop(), s.postgres.stop())
}

// Server is a running server.
type Server struct {
	Type     endpoint.SourceType
	Port     int
	Database string

	// These users share the Password. Admin may do everything. Reader may read Admin's
	// tables in Database. TLSOnly is like Reader, but must use TLS.
	Admin, Reader, TLSOnly string
	// ClearText is like Reader, but the server asks for its password in clear text. Only
	// PostgreSQL has it.
	ClearText string
	Password  endpoint.Secret

	// CAFile vouches for the server, under the name localhost only. OtherCAFile doesn't.
	CAFile, OtherCAFile string

	// CertUser is like Reader, but needs the client certificate in CertFile, and no password.
	CertUser, CertFile, KeyFile string
	// ExpiredCertFile is CertUser's earlier certificate, which has expired.
	ExpiredCertFile, ExpiredKeyFile string
	// Socket is the server's Unix socket: a file, and for PostgreSQL a directory.
	Socket string

	dir     string
	process *process
	exec    func(ctx context.Context, statements []string) error
}

// Connection returns Reader's connection to a table.
func (s *Server) Connection(table string) endpoint.Connection {
	return endpoint.Connection{
		Type: s.Type, Host: "127.0.0.1", Port: s.Port,
		Username: s.Reader, Password: s.Password, Database: s.Database, Table: table,
	}
}

// Exec runs statements as Admin.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	if err := s.exec(context.Background(), statements); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) stop() error {
	return errors.Join(s.process.stop(), os.RemoveAll(s.dir))
}

// missingError says which program is not installed.
type missingError struct{ program, pack string }

func (e *missingError) Error() string {
	return fmt.Sprintf("%s is not installed (apt install %s)", e.program, e.pack)
}

// lazy is a server that starts once, at the first use.
type lazy struct {
	once   sync.Once
	server *Server
	err    error
}

func (l *lazy) get(t testing.TB, start func(dir string) (*Server, error)) *Server {
	t.Helper()
	l.once.Do(func() { l.server, l.err = prepare(start) })
	var missing *missingError
	if errors.As(l.err, &missing) {
		Missing(t, missing.Error())
	}
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.server
}

func (l *lazy) stop() error {
	if l.server == nil {
		return nil
	}
	return l.server.stop()
}

// prepare starts a server in its own directory.
func prepare(start func(dir string) (*Server, error)) (*Server, error) {
	dir, err := os.MkdirTemp("", "lynqdb-")
	if err != nil {
		return nil, err
	}
	server, err := start(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return server, nil
}

// Missing skips a test that lacks something. With CI=true, it fails the test, because
// nothing may be missing there.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// freePort returns a port on which nobody listens.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := int(netip.MustParseAddrPort(listener.Addr().String()).Port())
	return port, listener.Close()
}

// await calls ready until it succeeds. It gives up when the process ends, or after
// startLimit.
func await(p *process, ready func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended: %w; its output:\n%s", p.name, err, p.output())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not answer: %w; its output:\n%s", p.name, err, p.output()), p.stop())
		case <-ticker.C:
		}
	}
}
