package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/cluster/internal/process"
)

// reaperEnv turns this test binary into a reaper.
const reaperEnv = "PROCESS_TEST_REAPER"

func TestMain(m *testing.M) {
	if os.Getenv(reaperEnv) == "" {
		os.Exit(m.Run())
	}
	if err := process.Reap(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// shell starts a shell script as a child.
func shell(t *testing.T, script string) *process.Process {
	t.Helper()
	p, err := process.Start("script", "/bin/sh", []string{"-c", script}, nil, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0) })
	return p
}

func TestFailureShowsTheLog(t *testing.T) {
	p := shell(t, "echo first; echo last >&2; exit 3")
	<-p.Done()
	got := p.Failure().Error()
	for _, want := range []string{"script ended: exit status 3", "first\nlast"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestFailureOfSuccess(t *testing.T) {
	p := shell(t, "exit 0")
	<-p.Done()
	if got := p.Failure().Error(); !strings.Contains(got, "script ended: exit status 0") {
		t.Errorf("got %q", got)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := process.Start("x", filepath.Join(dir, "absent"), nil, nil, filepath.Join(dir, "log")); err == nil {
		t.Error("an absent program is no error")
	}
	if _, err := process.Start("x", "/bin/sh", nil, nil, filepath.Join(dir, "absent", "log")); err == nil {
		t.Error("a log that cannot be written is no error")
	}
}

func TestStop(t *testing.T) {
	t.Run("in good order", func(t *testing.T) {
		p := shell(t, "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
		waitFor(t, func() bool { return strings.Contains(p.LogTail(), "ready") })
		p.Stop(time.Minute)
		if got := p.LogTail(); !strings.Contains(got, "bye") {
			t.Errorf("the child was not asked: %s", got)
		}
	})
	t.Run("by force", func(t *testing.T) {
		p := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
		waitFor(t, func() bool { return strings.Contains(p.LogTail(), "ready") })
		p.Stop(time.Millisecond)
		if got := p.Failure().Error(); !strings.Contains(got, "signal: killed") {
			t.Errorf("ended with %s", got)
		}
	})
}

func TestReaperKillsWhatIsLeft(t *testing.T) {
	t.Setenv(reaperEnv, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	reaper, err := process.StartReaper(self)
	if err != nil {
		t.Fatal(err)
	}
	left, done := shell(t, "exec sleep 600"), shell(t, "exit 0")
	<-done.Done()
	if err := errors.Join(reaper.Watch(left), reaper.Watch(done), reaper.Remove(dir)); err != nil {
		t.Fatal(err)
	}
	if err := reaper.Close(); err != nil {
		t.Fatal(err)
	}
	<-left.Done()
	if got := left.Failure().Error(); !strings.Contains(got, "signal: killed") {
		t.Errorf("ended with %s", got)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory exists: %v", err)
	}
}

func TestReapForgets(t *testing.T) {
	p := shell(t, "exec sleep 600")
	orders := fmt.Sprintf("watch %d\nforget %d\n", p.PID(), p.PID())
	if err := process.Reap(strings.NewReader(orders)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(p.PID(), 0); err != nil {
		t.Errorf("the forgotten process: %v", err)
	}
}

func TestReapRefusesGroups(t *testing.T) {
	for _, pid := range []string{"0", "-1", "1", "x", ""} {
		if err := process.Reap(bytes.NewBufferString("watch " + pid + "\n")); err == nil {
			t.Errorf("process %q is no error", pid)
		}
	}
}

// waitFor polls until ok returns true.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(3 * time.Minute); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("waited for three minutes")
		}
	}
}
