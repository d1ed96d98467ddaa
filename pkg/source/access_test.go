package source_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/test/dbtest"
)

// pemOf reads the files of a client certificate.
func pemOf(t *testing.T, paths ...string) endpoint.Secret {
	t.Helper()
	var all endpoint.Secret
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += endpoint.Secret(text) + "\n"
	}
	return all
}

// TestClientCertificate logs in with a certificate instead of a password.
func TestClientCertificate(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "certified", 2)
		c := s.Connection("certified")
		c.Username, c.Password, c.Host, c.CAFile = s.CertUser, "", "localhost", s.CAFile
		if _, err := read(t, c, "id"); err == nil {
			t.Error("the server takes the user without a certificate")
		} else {
			wantError(t, err, s.CertUser)
		}
		c.Certificate = pemOf(t, s.CertFile, s.KeyFile)
		for _, mode := range []endpoint.TLSMode{"", endpoint.TLSVerifyFull} {
			c.TLS = mode
			rows, err := read(t, c, "id")
			if err != nil || !cmp.Equal(values(rows), []string{"t000001", "t000002"}) {
				t.Errorf("tls %q: rows %q, %v", mode, values(rows), err)
			}
		}
		c.TLS, c.CAFile = endpoint.TLSRequire, ""
		if _, err := read(t, c, "id"); err != nil {
			t.Errorf("tls require: %v", err)
		}
		c.TLS = endpoint.TLSDisable
		_, err := read(t, c, "id")
		wantError(t, err, "a client certificate is set, and the connection has no TLS")
		c.TLS, c.Certificate = endpoint.TLSRequire, "hunter2"
		_, err = read(t, c, "id")
		wantError(t, err, "its client certificate can't be used")
	})
}

// TestUnixSocket reads rows through a Unix socket, which needs no TLS for a password.
func TestUnixSocket(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "local", 2)
		c := s.Connection("local")
		c.Host = s.Socket
		rows, err := read(t, c, "id")
		if err != nil || len(rows) != 2 {
			t.Errorf("rows %v, %v", rows, err)
		}
		c.TLS = endpoint.TLSVerifyFull
		_, err = read(t, c, "id")
		wantError(t, err, s.Socket, "a Unix socket has no TLS")
		c.TLS = ""
		for _, host := range []string{s.Socket + "-missing", "@missing"} {
			c.Host = host
			_, err = read(t, c, "id")
			wantError(t, err, host, "the server can't be reached")
		}
		c.Host, c.Password = s.Socket, "hunter2"
		_, err = read(t, c, "id")
		wantError(t, err, "the server refuses user")
	})
}
