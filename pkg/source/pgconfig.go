package source

import (
	"errors"
	"fmt"
	"os"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgresConfig is how to connect to c, and to nothing but c: what the
// environment, password files and service files say of PostgreSQL does not
// count, for a hub is to mean the same everywhere.
func postgresConfig(c endpoint.Connection, dial pgconn.DialFunc) (*pgconn.Config, error) {
	encryption, err := tlsConfig(c)
	if err != nil {
		return nil, err
	}
	config, err := neutralConfig()
	if err != nil {
		return nil, &Error{Place: serverName(c), What: "the driver cannot be set up", Fix: "unset PostgreSQL's environment variables (PG...)", Err: err}
	}
	config.Host, config.Port = c.Host, uint16(c.Port) //nolint:gosec // checkServer has seen it
	config.User, config.Password, config.Database = c.Username, string(c.Password), c.Database
	config.TLSConfig = encryption
	config.Fallbacks = nil
	if encryption != nil && tlsMode(c) == endpoint.TLSPrefer {
		config.Fallbacks = []*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port}}
	}
	if mode := tlsMode(c); exposed(c) && (mode == endpoint.TLSRequire || mode == endpoint.TLSDisable) {
		config.RequireAuth = "!password" // clear text, which the server may ask for
	}
	config.ConnectTimeout = connectTimeout
	config.DialFunc = dial
	config.RuntimeParams = map[string]string{"application_name": "lynqctl", "client_encoding": "UTF8"}
	config.KerberosSrvName, config.KerberosSpn = "", ""
	config.ValidateConnect = nil
	return config, nil
}

// neutralConfig is a configuration that the driver made from nothing: it takes
// none that was not made by parsing, and parsing looks at the environment. Each
// setting given here keeps a variable from being read; the caller replaces the
// rest.
func neutralConfig() (*pgconn.Config, error) {
	const settings = `host=localhost port=5432 dbname=none user=none password=none passfile=''
 sslmode=disable sslrootcert='' sslcert='' sslkey='' sslpassword='' sslsni=1 sslnegotiation=postgres sslcertmode=allow target_session_attrs=any connect_timeout=10
 min_protocol_version=3.0 max_protocol_version=3.0 channel_binding=prefer require_auth=''`
	if os.Getenv("PGSERVICE") == "" {
		return pgconn.ParseConfig(settings)
	}
	// A service that the environment names can only be overruled by another.
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
