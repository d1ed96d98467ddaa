package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
)

// roleEnv makes this test binary act as the command, or as a person who starts it and then
// hangs.
const roleEnv = "CLUSTER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "command":
		main()
	case "starter":
		starter()
	default:
		os.Exit(m.Run())
	}
}

// self returns a command that runs this test binary as the cluster command.
func self(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(cmd.Environ(), roleEnv+"=command")
	cmd.Stderr = os.Stderr
	return cmd
}

// needPrograms skips a test if programs are missing, unless tests must not be skipped.
func needPrograms(t *testing.T) {
	t.Helper()
	required := os.Getenv("CI") == "true" || os.Getenv("LYNQCTL_TEST_CLUSTER") == "1"
	_, err := cli{stderr: os.Stderr}.programs(t.Context(), required)
	if missing := new(binaries.MissingError); errors.As(err, &missing) && !required {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// running is a cluster that a test started.
type running struct {
	ready
	cmd   *exec.Cmd
	stdin io.WriteCloser
	says  *json.Decoder
}

// runCluster starts cmd and waits until its cluster is ready.
func runCluster(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &running{cmd: cmd, stdin: stdin, says: json.NewDecoder(stdout)}
	if err := r.says.Decode(&r.ready); err != nil {
		t.Fatalf("not ready: %v, %v", err, cmd.Wait())
	}
	return r
}

// dir returns the directory with the cluster's files.
func (r *running) dir() string { return filepath.Dir(r.Kubeconfig) }

// kubectl runs kubectl on the cluster.
func (r *running) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), r.Kubectl, append([]string{"--kubeconfig", r.Kubeconfig}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// assertNothingLeft waits until the directory is gone, and no process has it in its command
// line.
func assertNothingLeft(t *testing.T, dir string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(3 * time.Minute); ; <-tick.C {
		left := processes(t, dir)
		_, err := os.Stat(dir)
		if left == "" && errors.Is(err, os.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after three minutes: directory %s: %v; processes:\n%s", dir, err, left)
		}
	}
}

// processes lists the processes that name dir.
func processes(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-A", "-o", "pid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, dir) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

// TestTwoSideBySide starts two clusters that share nothing. Everything that their command
// started must end with it, whether the command beside the cluster ends or someone kills it.
func TestTwoSideBySide(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	const beside = `test "$PWD" = / && cat "$LYNQCTL_TEST_SHARED" && read -r _; exit 3`
	var said bytes.Buffer
	share := self(t.Context(), t, "share", "-C", "/", "sh", "-c", beside)
	share.Stderr = &said
	one, two := runCluster(t, share), runCluster(t, self(t.Context(), t, "run"))
	one.kubectl(t, "create", "namespace", "only-in-one")
	if got := two.kubectl(t, "get", "namespaces", "-o", "name"); strings.Contains(got, "only-in-one") {
		t.Errorf("the second cluster shows the first one's objects:\n%s", got)
	}
	one.hasUsers(t)
	if processes(t, one.dir()) == "" {
		t.Error("the processes of a cluster are not found, so the other tests prove nothing")
	}
	if err := one.stdin.Close(); err != nil {
		t.Error(err)
	}
	if err := one.cmd.Wait(); err == nil || !strings.Contains(said.String(), "sh: exit status 3") {
		t.Errorf("the command's end: %v, and it said:\n%s", err, said.String())
	}
	assertNothingLeft(t, one.dir())
	kill(t, two)
}

// hasUsers checks that the users other than the administrator have no permissions.
func (r *running) hasUsers(t *testing.T) {
	t.Helper()
	for user, want := range map[string]string{"admin": "yes", "editor": "no", "viewer": "no", "restricted": "no"} {
		cmd := exec.CommandContext(t.Context(), r.Kubectl, "--kubeconfig", r.Kubeconfig, "--context", user, "auth", "can-i", "get", "pods")
		// kubectl exits 1 with "no".
		out, _ := cmd.Output()
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%s may get pods: %q, want %q", user, got, want)
		}
	}
}

// TestRestartAPIServer kills and restarts an API server, and wants another process with the
// same objects. The cluster keeps running. Any other request ends it, with a message about
// the valid ones.
func TestRestartAPIServer(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	cmd := self(t.Context(), t, "run")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	r := runCluster(t, cmd)
	r.kubectl(t, "create", "namespace", "kept")
	server := func() string {
		for line := range strings.Lines(processes(t, r.dir())) {
			if strings.Contains(line, "/kube-apiserver ") {
				return line
			}
		}
		return ""
	}
	before := server()
	for range 2 {
		if _, err := fmt.Fprintln(r.stdin, restartAPIServer); err != nil {
			t.Fatal(err)
		}
		var answer done
		if err := r.says.Decode(&answer); err != nil || answer.Done != restartAPIServer {
			t.Fatalf("got %+v, %v", answer, err)
		}
		if now := server(); before == "" || now == "" || now == before {
			t.Errorf("the API server is the process %q, and was %q", now, before)
		}
		r.kubectl(t, "get", "namespace", "kept")
	}
	if _, err := fmt.Fprintln(r.stdin, "restart all"); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err == nil || !strings.Contains(stderr.String(), `"restart all" was asked`) {
		t.Errorf("got %v, and it said:\n%s", err, stderr.String())
	}
	assertNothingLeft(t, r.dir())
}

// starter starts a cluster as a test harness does, passes its output on, and hangs until
// someone kills it.
func starter() {
	path, err := os.Executable()
	if err != nil {
		os.Exit(1)
	}
	cmd := exec.Command(path, "run")
	cmd.Env = append(os.Environ(), roleEnv+"=command")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	lifeline, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		os.Exit(1)
	}
	_ = cmd.Wait()
	_ = lifeline.Close()
}

func TestKilledStarterLeavesNothing(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	cmd := self(t.Context(), t)
	cmd.Env = append(cmd.Environ(), roleEnv+"=starter")
	kill(t, runCluster(t, cmd))
}

// kill ends the process that the test started with SIGKILL, and checks what it left.
func kill(t *testing.T, r *running) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := r.cmd.Wait(); !errors.As(err, &exit) {
		t.Fatalf("the killed process ended with %v", err)
	}
	assertNothingLeft(t, r.dir())
}

// TestFailedStart wants a failed start to name the component, with the end of its log.
func TestFailedStart(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	assets := t.TempDir()
	script := "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do echo line $i; done\nexit 7\n"
	if err := os.WriteFile(filepath.Join(assets, "kube-scheduler"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "cluster")
	cmd := self(t.Context(), t, "run", "-in", dir)
	cmd.Env = append(cmd.Environ(), assetsEnv+"="+assets)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("ended with %v, want exit code 1", err)
	}
	said := stderr.String()
	for _, want := range []string{"kube-scheduler ended: exit status 7", "kube-scheduler.log", "line 2\n", "line 21\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in:\n%s", want, said)
		}
	}
	if strings.Contains(said, "line 1\n") {
		t.Errorf("more than the last 20 lines:\n%s", said)
	}
	if left := processes(t, dir); left != "" {
		t.Errorf("left running:\n%s", left)
	}
}

// TestComponentEnds wants a component that ends later to end the cluster.
func TestComponentEnds(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	cmd := self(t.Context(), t, "run")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	r := runCluster(t, cmd)
	for line := range strings.Lines(processes(t, r.dir())) {
		if strings.Contains(line, "etcd") && strings.Contains(line, "--data-dir") {
			killLine(t, line)
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Errorf("ended with %v, want an error", err)
	}
	if !strings.Contains(stderr.String(), "etcd ended: signal: killed") {
		t.Errorf("the message does not name etcd:\n%s", stderr.String())
	}
	assertNothingLeft(t, r.dir())
}

func TestUpDown(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	command := func(args ...string) string {
		t.Helper()
		cmd := self(context.Background(), t, args...) // it is also for clean-up
		// HOME is for systems without XDG_CACHE_HOME.
		cmd.Env = append(cmd.Environ(), "XDG_CACHE_HOME="+home, "HOME="+home, assetsEnv+"="+cache)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", args[0], err)
		}
		return string(out)
	}
	line := command("up", "-name", "it")
	t.Cleanup(func() { command("down", "-name", "it") }) // down may run twice
	path, hasStart := strings.CutPrefix(line, "export KUBECONFIG='")
	path, hasEnd := strings.CutSuffix(path, "'\n")
	if !hasStart || !hasEnd {
		t.Fatalf("up printed %q", line)
	}
	r := &running{ready: ready{Kubeconfig: path, Kubectl: filepath.Join(cache, binaries.Kubectl)}}
	r.kubectl(t, "get", "nodes")
	if again := command("up", "-name", "it"); again != line {
		t.Errorf("up a second time printed %q, want %q", again, line)
	}
	r.kubectl(t, "get", "nodes")
	command("down", "-name", "it")
	if left := processes(t, r.dir()); left != "" {
		t.Errorf("after down there runs:\n%s", left)
	}
	if _, err := os.Stat(r.dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after down there is %s: %v", r.dir(), err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"nonsense"}, {"up", "-name", "../x"}, {"down", "-name", ""}, {"run", "-nonsense"}, {"share"}} {
		if err := (cli{stderr: io.Discard}).command(t.Context(), args); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

// killLine kills the process in one line of ps.
func killLine(t *testing.T, line string) {
	t.Helper()
	var pid int
	if _, err := fmt.Sscan(line, &pid); err != nil || pid <= 1 {
		t.Fatalf("no process id in %q: %v", line, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
