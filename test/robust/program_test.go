package robust_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/lynqctl/lynqctl/internal/command"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	lynqform "github.com/lynqctl/lynqctl/pkg/form"
)

// program is lynqctl, in whatever way it runs.
type program interface {
	// start prepares a run. end starts it, and returns the exit code and standard error.
	// The exit code is negative if the run was killed.
	start(ctx context.Context, args []string) running
}

// running is one run. kill ends it at once, so that it sends no more requests. stop asks it
// to end.
type running struct {
	kill, stop func()
	end        func() (exit int, said string)
}

// process runs an executable, with a kubeconfig.
type process struct{ bin, kubeconfig string }

func (p process) start(ctx context.Context, args []string) running {
	cmd := exec.CommandContext(ctx, p.bin, args...)
	var said bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), "KUBECONFIG="+p.kubeconfig), &said
	return running{
		kill: func() { _ = cmd.Process.Kill() },               // it fails if the process has ended
		stop: func() { _ = cmd.Process.Signal(os.Interrupt) }, // the same
		end: func() (int, string) {
			_ = cmd.Run() // the exit code shows the result
			return cmd.ProcessState.ExitCode(), said.String()
		},
	}
}

// inProcess runs lynqctl in this process.
type inProcess struct {
	cluster    http.RoundTripper
	kubeconfig string
	memory     *lynqform.Memory
}

func (p inProcess) start(ctx context.Context, args []string) running {
	life, kill := context.WithCancel(ctx)
	within, stop := context.WithCancel(life)
	return running{kill, stop, func() (exit int, _ string) {
		var said bytes.Buffer
		cluster := lifeline{p.cluster, life}
		if args[0] == "watch" {
			exit = p.watch(within, cluster, args, &said)
		} else {
			exit = command.Run(within, command.World{
				Stdin: strings.NewReader(""), Stdout: tty.To(io.Discard), Stderr: tty.To(&said), Program: "lynqctl",
				Getenv: func(string) string { return "" }, Transport: cluster, Memory: p.memory,
			}, append(args, "--kubeconfig="+p.kubeconfig))
		}
		if life.Err() != nil {
			exit = -1
		}
		kill()
		return exit, said.String()
	}}
}

// lifeline carries the requests of a run while it lives.
type lifeline struct {
	next http.RoundTripper
	life context.Context
}

// RoundTrip implements http.RoundTripper.
func (l lifeline) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := l.life.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(l.life, cancel)
	resp, err := l.next.RoundTrip(r.WithContext(ctx))
	if err != nil || !r.URL.Query().Has("watch") { // all of the answer is there
		stop()
		cancel()
	}
	return resp, err
}

// memoryKubeconfig writes a kubeconfig for a cluster in memory.
func memoryKubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	const text = `{apiVersion: v1, kind: Config, current-context: memory, contexts: [{name: memory, context: {cluster: memory, namespace: near}}], clusters: [{name: memory, cluster: {server: "http://memory"}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var built executable

// heapGrows is the growth of the heap, in percent, at which histories collect garbage. They
// leave little behind, so a rare collection is cheap.
const heapGrows = 800

func TestMain(m *testing.M) {
	debug.SetGCPercent(heapGrows)
	runtime.MemProfileRate = 0      // sampling takes time, and nobody needs it
	utilruntime.ErrorHandlers = nil // one of them has a clock, and each history in memory another
	code := m.Run()
	_ = os.RemoveAll(built.dir) // a temporary directory
	os.Exit(code)
}

// executable is lynqctl of this tree.
type executable struct {
	once sync.Once
	dir  string
	err  error
}

// path returns the path of the program, which the first call builds.
func (p *executable) path(t *testing.T) string {
	t.Helper()
	p.once.Do(func() { p.err = p.build() })
	if p.err != nil {
		t.Fatalf("building lynqctl: %v", p.err)
	}
	return filepath.Join(p.dir, "lynqctl")
}

func (p *executable) build() error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "lynqctl-robust-*"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(p.dir, "lynqctl"), "./cmd/lynqctl")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
