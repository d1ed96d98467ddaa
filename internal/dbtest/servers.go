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

// startLimit bounds how long a server may take until it answers.
const startLimit = 3 * time.Minute

// Servers are the servers of one test binary. The zero value is ready.
type Servers struct {
	mariadb, plainMariaDB, postgres lazy
}

// MariaDB is the MariaDB server, started by the first call. Without its programs
// the test ends here.
func (s *Servers) MariaDB(t testing.TB) *Server {
	t.Helper()
	return s.mariadb.get(t, startMariaDB)
}

// MariaDBWithoutTLS is another MariaDB server, which does not speak TLS.
func (s *Servers) MariaDBWithoutTLS(t testing.TB) *Server {
	t.Helper()
	return s.plainMariaDB.get(t, startMariaDBWithoutTLS)
}

// PostgreSQL is the PostgreSQL server, likewise.
func (s *Servers) PostgreSQL(t testing.TB) *Server {
	t.Helper()
	return s.postgres.get(t, startPostgres)
}

// Stop ends what has been started. TestMain calls it when the tests are done.
func (s *Servers) Stop() error {
	return errors.Join(s.mariadb.stop(), s.plainMariaDB.stop(), s.postgres.stop())
}

// Server is a running server.
type Server struct {
	Type     endpoint.SourceType
	Port     int
	Database string

	// Users, all with the same Password. Admin may do everything, Reader may
	// read what Admin makes in Database, TLSOnly is Reader but must encrypt.
	Admin, Reader, TLSOnly string
	// ClearText is Reader where the server asks for the password as it is;
	// PostgreSQL only.
	ClearText string
	Password  endpoint.Secret

	// CAFile vouches for the server under the name localhost, and no other;
	// OtherCAFile does not.
	CAFile, OtherCAFile string

	dir     string
	process *process
	exec    func(ctx context.Context, statements []string) error
}

// Connection is how Reader reads table.
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

// lazy is a server that is started once, when it is wanted.
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

// prepare starts a server in a directory of its own.
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

// Missing skips a test that lacks something, and fails it where CI=true: there
// nothing may be missing.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// freePort is a port on which no one listens.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := int(netip.MustParseAddrPort(listener.Addr().String()).Port())
	return port, listener.Close()
}

// await calls ready until it succeeds. It gives up when the process has ended
// or the time is over.
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
