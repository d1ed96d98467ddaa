package dbtest_test

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/lynqctl/lynqctl/test/dbtest"
)

func TestCutProxy(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.CopyN(conn, conn, 3)
			_, _ = conn.Write(bytes.Repeat([]byte("x"), 1000))
			_ = conn.Close()
		}
	}()
	for after, want := range map[int64]int{1: 1, 10: 10, 5000: 1003} {
		port := dbtest.CutProxy(t, int(netip.MustParseAddrPort(listener.Addr().String()).Port()), after)
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(conn) // a cut may appear as an error
		if len(got) != want {
			t.Errorf("cut after %d bytes: %d bytes came, want %d", after, len(got), want)
		}
		_ = conn.Close()
	}
}

// TestMissing runs the helper in a process of its own, because the helper ends a test.
func TestMissing(t *testing.T) {
	if os.Getenv("DBTEST_CHILD") != "" {
		dbtest.Missing(t, "thing is not installed")
		return
	}
	for _, c := range []struct {
		ci, want string
		fails    bool
	}{{"false", "--- SKIP", false}, {"true", "--- FAIL", true}} {
		t.Run(c.ci, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestMissing$", "-test.v")
			cmd.Env = append(os.Environ(), "DBTEST_CHILD=1", "CI="+c.ci)
			out, err := cmd.CombinedOutput()
			if (err != nil) != c.fails || !bytes.Contains(out, []byte(c.want)) || !bytes.Contains(out, []byte("thing is not installed")) {
				t.Errorf("CI=%s: %v\n%s", c.ci, err, out)
			}
		})
	}
}

func TestMissingPrograms(t *testing.T) {
	if os.Getenv("DBTEST_CHILD") != "" {
		new(dbtest.Servers).MariaDB(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMissingPrograms$", "-test.v")
	cmd.Env = append(os.Environ(), "DBTEST_CHILD=1", "CI=", "PATH=/nowhere")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- SKIP")) || !bytes.Contains(out, []byte("mariadb-install-db is not installed")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestServers(t *testing.T) {
	var servers dbtest.Servers
	defer func() {
		if err := servers.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range []*dbtest.Server{servers.PostgreSQL(t), servers.MariaDB(t)} {
		s.Exec(t, "CREATE TABLE t (id int)", "INSERT INTO t VALUES (1)")
		if c := s.Connection("t"); c.Port != s.Port || c.Type != s.Type || c.Password == "" {
			t.Errorf("connection %v", c)
		}
	}
}
