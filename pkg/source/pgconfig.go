package source

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgresConfig returns the configuration for c alone. It ignores environment variables,
// password files and service files of PostgreSQL, so that a hub means the same everywhere.
func postgresConfig(c endpoint.Connection, dial pgconn.DialFunc) (*pgconn.Config, error) {
	encryption, err := tlsConfig(c)
	if err != nil {
		return nil, err
	}
	config, err := neutralConfig()
	if err != nil {
		return nil, &Error{Place: serverName(c), What: "the driver cannot be set up", Fix: "unset PostgreSQL's environment variables (PG...)", Err: err}
	}
	config.Host, config.Port = c.Host, uint16(c.Port) //nolint:gosec // checkServer checked the range
	config.User, config.Password, config.Database = c.Username, string(c.Password), c.Database
	config.TLSConfig = encryption
	config.Fallbacks = nil
	if encryption != nil && tlsMode(c) == endpoint.TLSPrefer {
		config.Fallbacks = []*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port}}
	}
	if mode := tlsMode(c); exposed(c) && (mode == endpoint.TLSRequire || mode == endpoint.TLSDisable) {
		config.RequireAuth = "!password" // the server may not ask for a password in clear text
	}
	config.ConnectTimeout = connectTimeout
	config.DialFunc = dial
	if c.Socket() {
		// The directory of the sockets, as for all clients of PostgreSQL. The driver knows no
		// names after @.
		socket := fmt.Sprintf("%s/.s.PGSQL.%d", strings.TrimSuffix(c.Host, "/"), c.Port)
		config.Host, config.LookupFunc = "localhost", func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
		config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, "unix", socket) }
	}
	config.RuntimeParams = map[string]string{"application_name": "lynqctl", "client_encoding": "UTF8"}
	config.KerberosSrvName, config.KerberosSpn = "", ""
	config.ValidateConnect = nil
	return config, nil
}

// neutralConfig returns a configuration that depends on nothing outside. The driver
// accepts only parsed configurations, and its parser reads the environment. Each setting
// here overrides a variable, and the caller replaces the rest.
func neutralConfig() (*pgconn.Config, error) {
	const settings = `host=localhost port=5432 dbname=none user=none password=none passfile=''
 sslmode=disable sslrootcert='' sslcert='' sslkey='' sslpassword='' sslsni=1 sslnegotiation=postgres sslcertmode=allow target_session_attrs=any connect_timeout=10
 min_protocol_version=3.0 max_protocol_version=3.0 channel_binding=prefer require_auth=''`
	if os.Getenv("PGSERVICE") == "" {
		return pgconn.ParseConfig(settings)
	}
	// Only another service overrides a service that the environment names.
	file, err := os.CreateTemp("", "lynqctl-service-")
	if err != nil {
		return nil, err
	}
	_, writeErr := file.WriteString("[lynqctl]\n")
	err = errors.Join(writeErr, file.Close())
	var config *pgconn.Config
	if err == nil {
		config, err = pgconn.ParseConfig(settings + fmt.Sprintf(" service=lynqctl servicefile='%s'", file.Name()))
	}
	return config, errors.Join(err, os.Remove(file.Name()))
}
