package dbtest

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"

	"github.com/go-sql-driver/mysql"
)

func startMariaDB(dir string) (*Server, error) { return startMaria(dir, true) }

func startMariaDBWithoutTLS(dir string) (*Server, error) { return startMaria(dir, false) }

func startMaria(dir string, withTLS bool) (*Server, error) {
	install, err := find("mariadb-install-db", "", "mariadb-server")
	if err != nil {
		return nil, err
	}
	daemon, err := find("mariadbd", "/usr/sbin/mariadbd", "mariadb-server")
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
		Type: endpoint.SourceMySQL, Port: port, Database: "crm",
		Admin: "boss", Reader: "reader", TLSOnly: "tlsonly", Password: "pa:ss/w#rd?@1",
		CAFile: certs.ca, OtherCAFile: certs.otherCA, dir: dir,
		CertUser: certUser, CertFile: certs.clientCert, KeyFile: certs.clientKey, ExpiredCertFile: certs.expiredCert, ExpiredKeyFile: certs.expiredKey,
	}
	data := filepath.Join(dir, "data")
	s.Socket = filepath.Join(data, "socket")
	// A machine that starts many servers at once may have no slots left for native AIO.
	common := []string{"--no-defaults", "--datadir=" + data, "--innodb-use-native-aio=0"}
	if os.Geteuid() == 0 {
		common = append(common, "--user=root")
	}
	if err := run(exec.Command(install, append(common, "--auth-root-authentication-method=normal", "--skip-test-db")...)); err != nil {
		return nil, err
	}
	users := filepath.Join(dir, "users.sql")
	if err := os.WriteFile(users, []byte(s.mariaUsers()), 0o600); err != nil {
		return nil, err
	}
	arguments := slices.Concat(common, []string{
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port), "--skip-name-resolve",
		// Relative to the data directory, because paths of sockets must be short.
		"--socket=socket", "--pid-file=pid", "--init-file=" + users,
		"--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0",
	})
	if withTLS {
		arguments = append(arguments, "--ssl-ca="+certs.ca, "--ssl-cert="+certs.cert, "--ssl-key="+certs.key)
	}
	cmd := exec.Command(daemon, arguments...)
	cmd.SysProcAttr = attributes()
	if s.process, err = startProcess(cmd, dir, syscall.SIGTERM); err != nil {
		return nil, err
	}
	s.exec = s.mariaExec
	if err := await(s.process, func(ctx context.Context) error {
		return s.mariaExec(ctx, []string{"SELECT 1"})
	}); err != nil {
		return nil, err
	}
	return s, nil
}

// mariaUsers returns the statements that create the database and the users. The server's
// own root can't log in over the network.
func (s *Server) mariaUsers() string {
	return fmt.Sprintf(`ALTER USER root@localhost IDENTIFIED VIA unix_socket;
CREATE DATABASE %[1]s;
CREATE USER %[2]s@'%%' IDENTIFIED BY '%[5]s';
CREATE USER %[3]s@'%%' IDENTIFIED BY '%[5]s';
CREATE USER %[4]s@'%%' IDENTIFIED BY '%[5]s' REQUIRE SSL;
CREATE USER %[6]s@'%%' REQUIRE X509;
GRANT ALL ON *.* TO %[2]s@'%%' WITH GRANT OPTION;
GRANT SELECT, SHOW VIEW ON %[1]s.* TO %[3]s@'%%', %[4]s@'%%', %[6]s@'%%';
`, s.Database, s.Admin, s.Reader, s.TLSOnly, string(s.Password), s.CertUser)
}

func (s *Server) mariaExec(ctx context.Context, statements []string) error {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port))
	config.User, config.Passwd, config.DBName = s.Admin, string(s.Password), s.Database
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "SET NAMES utf8mb4"); err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.200s: %w", statement, err)
		}
	}
	return nil
}
