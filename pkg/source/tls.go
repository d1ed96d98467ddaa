package source

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/bounded"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// tlsConfig is how to encrypt a connection; nil is not at all.
func tlsConfig(c endpoint.Connection) (*tls.Config, error) {
	if c.CAFile != "" && tlsMode(c) != endpoint.TLSVerifyFull {
		return nil, &Error{
			Place: serverName(c),
			What:  fmt.Sprintf("a CA file is set, but TLS mode %q doesn't check the server", tlsMode(c)),
			Fix:   "set tls to verify-full, or leave the CA file out",
		}
	}
	switch tlsMode(c) {
	case endpoint.TLSDisable:
		return nil, nil
	case endpoint.TLSPrefer, endpoint.TLSRequire:
		// These modes guard against listeners only, as they do everywhere.
		return &tls.Config{InsecureSkipVerify: true, ServerName: c.Host, MinVersion: tls.VersionTLS12}, nil //nolint:gosec // documented above
	case endpoint.TLSVerifyFull:
		roots, err := rootCAs(c)
		return &tls.Config{RootCAs: roots, ServerName: c.Host, MinVersion: tls.VersionTLS12}, err
	}
	return nil, &Error{
		Place: serverName(c),
		What:  fmt.Sprintf("TLS mode %q is not known", c.TLS),
		Fix:   "use disable, prefer, require, or verify-full",
	}
}

// tlsMode is the connection's mode. The default one is verify-full where a
// password would leave this machine, for in the other modes the server's place
// can be taken by another, which then gets the password; and prefer elsewhere.
func tlsMode(c endpoint.Connection) endpoint.TLSMode {
	switch {
	case c.TLS != "":
		return c.TLS
	case c.CAFile != "" || exposed(c):
		return endpoint.TLSVerifyFull
	}
	return endpoint.TLSPrefer
}

// exposed tells whether a password goes over a network.
func exposed(c endpoint.Connection) bool {
	return c.Password != "" && !endpoint.Loopback(c.Host)
}

// Warning says of a connection that is not opened yet what its settings risk,
// and what to do; "" is nothing.
func Warning(c endpoint.Connection) string {
	if c.Type == endpoint.SourceHTTP {
		return httprows.Warning(c)
	}
	server := c.Type == endpoint.SourceMySQL || c.Type == endpoint.SourcePostgreSQL
	if !server || !exposed(c) || tlsMode(c) == endpoint.TLSVerifyFull {
		return ""
	}
	return fmt.Sprintf("%s: tls: %s doesn't check the server, and an impostor would get the password (set tls: verify-full, and caFile where the system does not trust the server's authority)",
		serverName(c), c.TLS)
}

// unverified is what to do where the default mode cannot be had.
const unverified = "set caFile to the authority of the server's certificate; or tls: prefer, which sends the password to any server that answers"

// withoutTLS is the error for a server that does not speak TLS.
func withoutTLS(c endpoint.Connection) error {
	e := &Error{Place: serverName(c), What: "the server doesn't support TLS", Fix: "set tls: disable where the network is safe, or set TLS up on the server"}
	if c.TLS == "" {
		e.What += ", and lynqctl sends a password to another machine only with TLS"
		e.Fix = "set TLS up on the server; or tls: prefer, which sends the password to any server that answers"
	}
	return e
}

// clearText is the error for a server that asks for the password as it is, where
// nothing tells which server it is.
func clearText(c endpoint.Connection) error {
	return &Error{
		Place: serverName(c),
		What:  fmt.Sprintf("the server asks for the password in clear text, and tls: %s doesn't check the server", c.TLS),
		Fix:   "set tls: verify-full, with caFile where the system does not trust the server's authority; or have the server use scram-sha-256; or set tls: prefer, which sends the password to any server that answers",
	}
}

// rootCAs are the authorities that may vouch for the server; nil is those that
// the system trusts.
func rootCAs(c endpoint.Connection) (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	if _, err := statFile(c.CAFile); err != nil {
		return nil, err
	}
	const most = 4 << 20
	pem, err := bounded.ReadFile(c.CAFile, most)
	if err != nil {
		return nil, fileError(c.CAFile, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, &Error{Place: c.CAFile, What: "it contains no PEM certificate", Fix: "pass the certificate of the authority that signed the server's certificate"}
	}
	return roots, nil
}
