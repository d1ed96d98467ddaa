package ownprocess

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
)

func TestSelf(t *testing.T) {
	p := Self("")
	if p.Host == "" || p.PID != os.Getpid() || p.Start == 0 || p.Container != "" {
		t.Fatalf("got %+v", p)
	}
	if again := Self(""); again != p {
		t.Errorf("got %+v, and then %+v", p, again)
	}
	if !Runs(p.PID, p.Start) {
		t.Error("this process does not run")
	}
	if Runs(p.PID, p.Start+1) {
		t.Error("an earlier process of this number runs")
	}
	if in := Self("uid of a pod"); in != p && os.Getpid() != 1 {
		t.Errorf("a process that is not the first one names its container: %+v", in)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(boot)), "-") {
		if len(part) >= 8 && strings.Contains(p.Host, part) {
			t.Errorf("%s has a part of the boot's id", p.Host)
		}
	}
}

// TestSelfUnknown wants no name for a process that can't be identified for sure.
func TestSelfUnknown(t *testing.T) {
	if p := self(t.TempDir(), ""); p != (lease.Process{}) {
		t.Errorf("without /proc: %+v", p)
	}
	// /proc of another namespace has this process under another number.
	proc := t.TempDir()
	if err := os.Symlink("4711", filepath.Join(proc, "self")); err != nil {
		t.Fatal(err)
	}
	if p := self(proc, ""); p != (lease.Process{}) {
		t.Errorf("with /proc of others: %+v", p)
	}
}

// TestRunsOthers wants a process to run until someone kills it, even if nobody asked for
// its exit code.
func TestRunsOthers(t *testing.T) {
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	pid := child.Process.Pid
	s, err := statOf("/proc", pid)
	if err != nil {
		t.Fatal(err)
	}
	if !Runs(pid, s.start) {
		t.Error("it does not run")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for Runs(pid, s.start) { // the kernel takes a moment
	}
	_ = child.Wait() // the error is our signal
	if Runs(pid, s.start) {
		t.Error("it runs after its end")
	}
}

func TestParseStat(t *testing.T) {
	line := func(name, state, threads, start string) string {
		return "7 (" + name + ") " + state + " 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 " + threads + " 0 " + start + " 0 0\n"
	}
	for name, tt := range map[string]struct {
		text string
		want stat
		bad  bool
	}{
		"it runs":                      {line("lynqctl", "S", "9", "4711"), stat{start: 4711}, false},
		"it is stopped":                {line("lynqctl", "T", "1", "4711"), stat{start: 4711}, false},
		"a hostile name":               {line("x) Z 1 (y", "S", "9", "4711"), stat{start: 4711}, false},
		"it ended":                     {line("lynqctl", "Z", "1", "4711"), stat{start: 4711, ended: true}, false},
		"only its first thread did":    {line("lynqctl", "Z", "8", "4711"), stat{start: 4711}, false},
		"nothing":                      {"", stat{}, true},
		"too short":                    {"7 (lynqctl) S 1 7", stat{}, true},
		"a start that is not a number": {line("lynqctl", "S", "9", "soon"), stat{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat(tt.text)
			if got != tt.want || (err != nil) != tt.bad {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
