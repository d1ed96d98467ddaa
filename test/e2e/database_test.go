package e2e_test

import (
	"errors"
	"net/url"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/test/dbtest"
)

// databases start when a script asks for them, and TestMain stops them.
var databases dbtest.Servers

// database TYPE STATEMENT... runs statements on a real server, and puts the parts of its
// URL and the files of a client certificate into variables.
func (s *script) database(ts *testscript.TestScript, args []string) error {
	var server *dbtest.Server
	switch {
	case len(args) < 2:
		return errors.New("usage: database mysql|postgresql STATEMENT...")
	case args[0] == "mysql":
		server = databases.MariaDB(s.t)
	default:
		server = databases.PostgreSQL(s.t)
	}
	server.Exec(s.t, args[1:]...)
	for name, value := range map[string]string{
		"URL":  string(server.Type) + "://" + server.CertUser + "@localhost:" + strconv.Itoa(server.Port) + "/" + server.Database + "?ca=" + url.QueryEscape(server.CAFile),
		"CERT": server.CertFile, "KEY": server.KeyFile, "EXPIRED": server.ExpiredCertFile, "EXPIRED_KEY": server.ExpiredKeyFile,
	} {
		ts.Setenv(name, value)
	}
	return nil
}
