package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestPKIVerifies(t *testing.T) {
	keys, err := newPKI(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(keys.serverCert, keys.serverKey)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(keys.caCert)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: host}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "example.com"}); err == nil {
		t.Error("the certificate is good for example.com")
	}
}

func TestTokens(t *testing.T) {
	users, others := newUsers(), newUsers()
	seen := map[string]bool{}
	for _, u := range append(users, others...) {
		if seen[u.Token] || len(u.Token) < 20 {
			t.Errorf("user %s has a token that is short or used twice", u.Name)
		}
		seen[u.Token] = true
	}
	lines := strings.Split(strings.TrimSpace(string(tokenFile(users))), "\n")
	if len(lines) != len(users) || !strings.HasSuffix(lines[0], `,admin,admin,"system:masters"`) {
		t.Errorf("%d lines for %d users, or the first is not the administrator's", len(lines), len(users))
	}
	if strings.Count(string(tokenFile(users)), "system:masters") != 1 {
		t.Error("more than one user may do everything")
	}
}

func TestComponentsStayOnLoopback(t *testing.T) {
	l := layout{dir: "/dir", ports: ports{etcdClient: 1001, etcdPeer: 1002, apiServer: 1003}}
	all := append([]component{storage(l), apiServer(l)}, controllers(l)...)
	if len(all) != 5 {
		t.Errorf("%d components", len(all))
	}
	for _, part := range all {
		args := strings.Join(part.args, " ")
		if strings.Contains(args, "=0.0.0.0") {
			t.Errorf("%s listens everywhere: %s", part.name, args)
		}
		if !strings.Contains(args, "/dir/") {
			t.Errorf("%s can't be found by its directory: %s", part.name, args)
		}
	}
}

func TestSeedExists(t *testing.T) {
	for _, s := range seed() {
		if _, err := manifests.ReadFile(s.file); err != nil {
			t.Error(err)
		}
	}
}

// TestReserve wants a reserved port for nobody except a program that shares ports.
func TestReserve(t *testing.T) {
	r, free, err := reserve(3)
	if err != nil {
		t.Fatal(err)
	}
	if len(free) != 3 || free[0] == free[1] || free[1] == free[2] || free[0] == free[2] {
		t.Errorf("ports %v", free)
	}
	address := net.JoinHostPort(loopback, strconv.Itoa(free[0]))
	if l, err := net.Listen("tcp", address); err == nil {
		t.Errorf("a stranger listens on the reserved port: %v", l.Close())
	}
	sharing := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var setErr error
		err := c.Control(func(fd uintptr) {
			setErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if err != nil {
			return err
		}
		return setErr
	}}
	listener, err := sharing.Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatalf("a program that shares ports: %v", err)
	}
	defer listener.Close() //nolint:errcheck // the test is over
	// Every connection reaches the listener, and none the reservation.
	for range 20 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if accepted.RemoteAddr().String() != conn.LocalAddr().String() {
			t.Error("accepted another connection")
		}
		if accepted.Close() != nil || conn.Close() != nil {
			t.Error("closing failed")
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}
