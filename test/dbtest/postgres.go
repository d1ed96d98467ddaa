package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"

	"github.com/jackc/pgx/v5/pgconn"
)

func startPostgres(dir string) (*Server, error) {
	const folders = "/usr/lib/postgresql/*/bin/"
	initdb, err := find("initdb", folders+"initdb", "postgresql")
	if err != nil {
		return nil, err
	}
	daemon, err := find("postgres", folders+"postgres", "postgresql")
	if err != nil {
		return nil, err
	}
	certs, err := makeCertificates(dir)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &Server{
		Type: endpoint.SourcePostgreSQL, Port: port, Database: "crm",
		Admin: "boss", Reader: "reader", TLSOnly: "tlsonly", ClearText: "cleartext", Password: "pa:ss/w#rd?@1",
		CAFile: certs.ca, OtherCAFile: certs.otherCA, dir: dir,
		CertUser: certUser, CertFile: certs.clientCert, KeyFile: certs.clientKey, ExpiredCertFile: certs.expiredCert, ExpiredKeyFile: certs.expiredKey, Socket: dir,
	}
	attr := attributes()
	data := filepath.Join(dir, "data")
	if err := s.postgresData(initdb, data, certs, attr); err != nil {
		return nil, err
	}
	cmd := exec.Command(daemon, "-D", data, "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir)
	cmd.Dir, cmd.SysProcAttr = dir, attr
	if s.process, err = startProcess(cmd, dir, os.Interrupt); err != nil {
		return nil, err
	}
	s.exec = func(ctx context.Context, statements []string) error {
		return s.postgresExec(ctx, s.Database, statements)
	}
	err = await(s.process, func(ctx context.Context) error {
		return s.postgresExec(ctx, "postgres", []string{"SELECT 1"})
	})
	if err != nil {
		return nil, err
	}
	if err := s.postgresUsers(context.Background()); err != nil {
		return nil, errors.Join(err, s.process.stop())
	}
	return s, nil
}

// postgresData creates the server's data directory. It sets attr to the user that runs the
// server.
func (s *Server) postgresData(initdb, data string, certs certificates, attr *syscall.SysProcAttr) error {
	password := filepath.Join(s.dir, "password")
	if err := os.WriteFile(password, []byte(s.Password), 0o600); err != nil {
		return err
	}
	if err := unprivileged(attr, s.dir, password, certs.ca, certs.cert, certs.key); err != nil {
		return err
	}
	prepare := exec.Command(initdb, "-D", data, "-U", s.Admin, "--pwfile="+password,
		"--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync")
	prepare.Dir, prepare.SysProcAttr = s.dir, attr
	if err := run(prepare); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(s.postgresAccess()), 0o600); err != nil {
		return err
	}
	// In the file, not in arguments, so that tests can change settings.
	settings := fmt.Sprintf("ssl = on\nssl_ca_file = '%s'\nssl_cert_file = '%s'\nssl_key_file = '%s'\nfsync = off\nshared_buffers = 32MB\nmax_connections = 30\n", certs.ca, certs.cert, certs.key)
	return os.WriteFile(filepath.Join(data, "postgresql.conf"), []byte(settings), 0o600)
}

// postgresAccess returns the server's table of allowed clients.
func (s *Server) postgresAccess() string {
	return fmt.Sprintf(`hostnossl all %s 127.0.0.1/32 reject
host all %s 127.0.0.1/32 password
hostssl all %s 127.0.0.1/32 cert
host all all 127.0.0.1/32 scram-sha-256
local all all scram-sha-256
`, s.TLSOnly, s.ClearText, s.CertUser)
}

// postgresUsers creates the database and the users.
func (s *Server) postgresUsers(ctx context.Context) error {
	if err := s.postgresExec(ctx, "postgres", []string{
		"CREATE DATABASE " + s.Database,
		fmt.Sprintf("CREATE USER %s PASSWORD '%s'", s.Reader, string(s.Password)),
		fmt.Sprintf("CREATE USER %s PASSWORD '%s'", s.TLSOnly, string(s.Password)),
		fmt.Sprintf("CREATE USER %s PASSWORD '%s'", s.ClearText, string(s.Password)),
		"CREATE USER " + s.CertUser,
	}); err != nil {
		return err
	}
	return s.postgresExec(ctx, s.Database, []string{
		fmt.Sprintf("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO %s, %s, %s, %s", s.Reader, s.TLSOnly, s.ClearText, s.CertUser),
	})
}

func (s *Server) postgresExec(ctx context.Context, database string, statements []string) error {
	config, err := pgconn.ParseConfig(fmt.Sprintf("host=127.0.0.1 port=%d sslmode=disable", s.Port))
	if err != nil {
		return err
	}
	config.User, config.Password, config.Database = s.Admin, string(s.Password), database
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement).ReadAll(); err != nil {
			return fmt.Errorf("%.200s: %w", statement, err)
		}
	}
	return nil
}
