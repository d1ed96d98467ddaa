package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fullPipe returns the end of a pipe that nobody reads, and that takes nothing more.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() }) // nobody needs them
	if err := write.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = write.WriteString(strings.Repeat("x", 4096))
	}
	for err = nil; err == nil; {
		_, err = write.WriteString("x")
	}
	return write
}

// TestWatchUnread starts a watch whose log nobody reads. It wants the watch to follow rows,
// and SIGTERM to end it soon, with its Lease given back. apply must end too, although it
// waits for its reader.
func TestWatchUnread(t *testing.T) {
	t.Parallel()
	s := newWatchedShop(t, cluster.Env(t), 1)
	unread := fullPipe(t)
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(s.bin, args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig)
		cmd.Stdout, cmd.Stderr = unread, unread
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
		return cmd
	}
	holder := func() string {
		return s.Kubectl(t, "", "get", "leases", "-o", "jsonpath={.items[*].spec.holderIdentity}")
	}
	ends := func(cmd *exec.Cmd) {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatalf("%v doesn't end", cmd.Args[1:])
		}
		if code := cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("%v: exit code %d", cmd.Args[1:], code)
		}
		if holder := holder(); holder != "" {
			t.Errorf("%v: %s still has the Lease", cmd.Args[1:], holder)
		}
	}
	w := run("watch", "-f", s.dir, "-v=8")
	s.follows(t)
	s.rows["t001"] = "free"
	s.saveRows(t)
	s.follows(t)
	ends(w)

	s.rows["t002"] = "free"
	s.saveRows(t)
	a := run("apply", "-f", s.dir, "-o=json")
	eventually(t, func() []string {
		if holder() == "" {
			return []string{"apply took no Lease"}
		}
		return nil
	})
	ends(a)
}
