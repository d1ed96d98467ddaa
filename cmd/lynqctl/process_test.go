package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/test/dbtest"
)

// oneForm is a hub whose rows come from PATH, and a form with one resource.
const oneForm = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: shop}
spec:
  source: {type: csv, csv: {path: "PATH"}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: shop
  configMaps:
    - id: text
      nameTemplate: "{{ .uid }}"
      spec: {apiVersion: v1, kind: ConfigMap}
`

// csvRows returns n active rows with a header.
func csvRows(n int) string {
	var b strings.Builder
	b.WriteString("id,active\n")
	for i := range n {
		fmt.Fprintf(&b, "tenant-%d,1\n", i)
	}
	return b.String()
}

// write writes a file for one test, and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// renderProcess returns a lynqctl that hasn't started, and its standard error.
func renderProcess(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("lynqctl", append([]string{"render"}, args...)...) // the test binary: see TestMain
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// wantEnd waits for the end of a command, and checks its exit code and message.
func wantEnd(t *testing.T, cmd *exec.Cmd, stderr *bytes.Buffer, code int, message string) {
	t.Helper()
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != code {
		t.Errorf("got %v, want exit code %d", err, code)
	}
	if diff := cmp.Diff(message, stderr.String()); diff != "" {
		t.Errorf("stderr: %s", diff)
	}
}

// TestInterrupt interrupts a run that reads endless rows. It wants the run to end without
// any output.
func TestInterrupt(t *testing.T) {
	for _, flags := range [][]string{nil, {"--stream"}} {
		cmd, stderr := renderProcess(t, append(flags, "-f", write(t, "in.yaml", strings.Replace(oneForm, "PATH", "-", 1)))...)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// This is more than a pipe holds, so lynqctl is reading once it is written.
		if _, err := io.WriteString(stdin, csvRows(100_000)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, cmd, stderr, exitInterrupted, "error: interrupted\n")
		if stdout.Len() > 0 {
			t.Errorf("%v: %d bytes were written", flags, stdout.Len())
		}
	}
}

// TestInterruptUnread interrupts a run whose reader hangs.
func TestInterruptUnread(t *testing.T) {
	cmd, stderr := renderProcess(t, "-f", write(t, "in.yaml", strings.Replace(oneForm, "PATH", write(t, "rows.csv", csvRows(5000)), 1)))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The output is more than a pipe holds, so lynqctl hangs after its first byte.
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.Process.Wait(); err != nil { // cmd.Wait would read the pipe
		t.Fatal(err)
	}
	_ = cmd.Wait() // copies standard error
	if diff := cmp.Diff("error: interrupted\n", stderr.String()); diff != "" {
		t.Errorf("stderr: %s", diff)
	}
}

// TestTimeout wants --timeout to end a run that waits for rows.
func TestTimeout(t *testing.T) {
	cmd, stderr := renderProcess(t, "--timeout", "10ms", "-f", write(t, "in.yaml", strings.Replace(oneForm, "PATH", "-", 1)))
	if _, err := cmd.StdinPipe(); err != nil { // nobody ever writes to it
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, cmd, stderr, exitBadInput, "error: gave up after 10ms (--timeout)\nnothing was written\n")
}

// TestInterruptInputs interrupts a run that still reads its inputs.
func TestInterruptInputs(t *testing.T) {
	cmd, stderr := renderProcess(t, "-f", "-")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// This is more than a pipe holds, so lynqctl is reading once it is written.
	if _, err := io.WriteString(stdin, strings.Repeat("# a comment\n", 100_000)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, cmd, stderr, exitInterrupted, "error: interrupted\n")
}

// TestLongTemplates wants --timeout to end slow templates, even if each is within its
// budget.
func TestLongTemplates(t *testing.T) {
	form := strings.Replace(oneForm, "PATH", write(t, "rows.csv", csvRows(20_000)), 1)
	form = strings.Replace(form, "kind: ConfigMap}", "kind: ConfigMap, data: {x: '{{ range until 10000 }}{{ end }}'}}", 1)
	cmd, stderr := renderProcess(t, "--timeout", "100ms", "-f", write(t, "in.yaml", form))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, cmd, stderr, exitBadInput, "error: gave up after 100ms (--timeout)\nnothing was written\n")
}

// TestInterruptStream interrupts a stream. It wants whole documents only, and an exit code
// that says that the output is incomplete.
func TestInterruptStream(t *testing.T) {
	rows := write(t, "rows.csv", csvRows(100_000))
	cmd, stderr := renderProcess(t, "--stream", "-f", write(t, "in.yaml", strings.Replace(oneForm, "PATH", rows, 1)))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 1, 1<<20)
	if _, err := io.ReadFull(stdout, out); err != nil {
		t.Fatal(err)
	}
	// lynqctl writes now, and will soon wait for us, because the rest fills the pipe.
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stdout)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, rest...)
	wantEnd(t, cmd, stderr, exitInterrupted, "error: interrupted\n")
	if !bytes.HasSuffix(out, []byte("    lynq.sh/resource-id: text\n")) {
		t.Errorf("the stream ends with %q", out[max(0, len(out)-100):])
	}
}

// TestFullDisk wants an error if lynqctl can't write.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		dbtest.Missing(t, "/dev/full, which Linux has")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }() // it has no data
	rows := write(t, "rows.csv", csvRows(1000))
	in := write(t, "in.yaml", strings.Replace(oneForm, "PATH", rows, 1))
	for flag, want := range map[string]string{
		"--stream=false": "error: write the manifests: write /dev/stdout: no space left on device\n",
		"--stream":       "error: write the manifests: write /dev/stdout: no space left on device\nthe output is incomplete\n",
	} {
		t.Run(flag, func(t *testing.T) {
			cmd, stderr := renderProcess(t, flag, "-f", in)
			cmd.Stdout = full
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wantEnd(t, cmd, stderr, exitFailed, want)
		})
	}
}
