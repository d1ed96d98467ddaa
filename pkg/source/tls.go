package source

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// tlsConfig returns the TLS configuration of a connection, or nil for no encryption.
func tlsConfig(c endpoint.Connection) (*tls.Config, error) {
	if c.CAFile != "" && tlsMode(c) != endpoint.TLSVerifyFull {
		return nil, &Error{
			Place: serverName(c),
			What:  fmt.Sprintf("a CA file is set, but TLS mode %q doesn't check the server", tlsMode(c)),
			Fix:   "set tls to verify-full, or leave the CA file out",
		}
	}
	own, err := clientCertificate(c)
	if err != nil || c.Socket() {
		return nil, err
	}
	switch tlsMode(c) {
	case endpoint.TLSDisable:
		return nil, nil
	case endpoint.TLSPrefer, endpoint.TLSRequire:
		// These modes only prevent eavesdropping, as with every client.
		return &tls.Config{InsecureSkipVerify: true, ServerName: c.Host, MinVersion: tls.VersionTLS12, Certificates: own}, nil //nolint:gosec // see the comment above
	case endpoint.TLSVerifyFull:
		roots, err := rootCAs(c)
		return &tls.Config{RootCAs: roots, ServerName: c.Host, MinVersion: tls.VersionTLS12, Certificates: own}, err
	}
	return nil, &Error{
		Place: serverName(c),
		What:  fmt.Sprintf("TLS mode %q is not known", c.TLS),
		Fix:   "use disable, prefer, require, or verify-full",
	}
}

// clientCertificate returns the client's certificate, if the connection has one.
func clientCertificate(c endpoint.Connection) ([]tls.Certificate, error) {
	if c.Certificate == "" {
		return nil, nil
	}
	if mode := tlsMode(c); mode == endpoint.TLSDisable || c.Socket() {
		return nil, &Error{Place: serverName(c), What: "a client certificate is set, and the connection has no TLS", Fix: "remove the certificate, or set tls to verify-full"}
	}
	pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.Certificate))
	if err != nil {
		return nil, &Error{Place: serverName(c), What: "its client certificate can't be used", Fix: "give the certificate and its key, both as PEM", Err: err}
	}
	return []tls.Certificate{pair}, nil
}

// expiredCertificate reports whether the client's certificate has expired, and when, by this
// machine's clock.
func expiredCertificate(c endpoint.Connection) (until time.Time, expired bool) {
	own, err := clientCertificate(c)
	if err != nil || len(own) == 0 {
		return until, false
	}
	until = own[0].Leaf.NotAfter
	return until, time.Now().After(until)
}

// tlsMode returns the connection's mode. If a password would leave this machine, the
// default is verify-full. In other modes, an impostor could take the server's place and
// get the password. Otherwise the default is prefer.
func tlsMode(c endpoint.Connection) endpoint.TLSMode {
	switch {
	case c.TLS != "":
		return c.TLS
	case c.CAFile != "" || exposed(c) || c.Certificate != "":
		return endpoint.TLSVerifyFull
	}
	return endpoint.TLSPrefer
}

// exposed reports whether a password goes over a network.
func exposed(c endpoint.Connection) bool {
	return c.Password != "" && !endpoint.Loopback(c.Host) && !c.Socket()
}

// Warning returns the risk of a connection's settings with a fix, or "".
func Warning(c endpoint.Connection) string {
	if c.Type == endpoint.SourceHTTP {
		return httprows.Warning(c)
	}
	if !c.Type.HasServer() || !exposed(c) || tlsMode(c) == endpoint.TLSVerifyFull {
		return ""
	}
	return fmt.Sprintf("%s: tls: %s doesn't check the server, and an impostor would get the password (set tls: verify-full, and caFile where the system does not trust the server's authority)",
		serverName(c), c.TLS)
}

// unverified is the fix if the default mode doesn't work.
const unverified = "set caFile to the authority of the server's certificate; or tls: prefer, which sends the password to any server that answers"

// withoutTLS returns the error for a server without TLS.
func withoutTLS(c endpoint.Connection) error {
	e := &Error{Place: serverName(c), What: "the server doesn't support TLS", Fix: "set tls: disable where the network is safe, or set TLS up on the server"}
	if c.TLS == "" {
		e.What += ", and lynqctl sends a password to another machine only with TLS"
		e.Fix = "set TLS up on the server; or tls: prefer, which sends the password to any server that answers"
	}
	return e
}

// clearText returns the error for an unverified server that asks for the password in clear
// text.
func clearText(c endpoint.Connection) error {
	return &Error{
		Place: serverName(c),
		What:  fmt.Sprintf("the server asks for the password in clear text, and tls: %s doesn't check the server", c.TLS),
		Fix:   "set tls: verify-full, with caFile if the system doesn't trust the server's authority. Or let the server use scram-sha-256. Or set tls: prefer, which sends the password to any server that answers",
	}
}

// rootCAs returns the authorities that lynqctl trusts, or nil for those of the system.
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
