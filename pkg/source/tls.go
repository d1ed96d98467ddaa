package source

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// tlsConfig is how to encrypt a connection; nil is not at all.
func tlsConfig(c lynq.Connection) (*tls.Config, error) {
	if c.CAFile != "" && c.TLS != lynq.TLSVerifyFull {
		return nil, &Error{
			Place: serverName(c),
			What:  fmt.Sprintf("a CA file is given, but TLS mode %q checks no server", tlsMode(c)),
			Fix:   "set tls to verify-full, or leave the CA file out",
		}
	}
	switch tlsMode(c) {
	case lynq.TLSDisable:
		return nil, nil
	case lynq.TLSPrefer, lynq.TLSRequire:
		// These modes guard against listeners only, as they do everywhere.
		return &tls.Config{InsecureSkipVerify: true, ServerName: c.Host, MinVersion: tls.VersionTLS12}, nil //nolint:gosec // documented above
	case lynq.TLSVerifyFull:
		roots, err := rootCAs(c)
		return &tls.Config{RootCAs: roots, ServerName: c.Host, MinVersion: tls.VersionTLS12}, err
	}
	return nil, &Error{
		Place: serverName(c),
		What:  fmt.Sprintf("TLS mode %q is not known", c.TLS),
		Fix:   "there are disable, prefer, require and verify-full",
	}
}

// tlsMode is the connection's mode, or the default one.
func tlsMode(c lynq.Connection) lynq.TLSMode {
	if c.TLS == "" {
		return lynq.TLSPrefer
	}
	return c.TLS
}

// rootCAs are the authorities that may vouch for the server; nil is those that
// the system trusts.
func rootCAs(c lynq.Connection) (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	if _, err := statFile(c.CAFile); err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fileError(c.CAFile, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, &Error{Place: c.CAFile, What: "it holds no certificate in PEM form", Fix: "give the certificate of the authority that signed the server's"}
	}
	return roots, nil
}
