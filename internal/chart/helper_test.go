package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// TestAnswers wants each of many requests at a time to get its own answer.
func TestAnswers(t *testing.T) {
	h := helperAs(t, "good")
	large := bytes.Repeat([]byte("x"), 1<<20)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			base := fmt.Sprintf("base%d", i)
			built, err := h.Build(t.Context(), wire.Build{Base: base, Texts: map[string][]byte{base: large}})
			if err != nil || built.Objects[0].Text != base || !bytes.Equal(built.Texts[base], large) {
				t.Errorf("%s: %v, %v", base, built, err)
			}
		})
	}
	all.Wait()
}

// TestCharts wants Render to name the chart as the process knows it.
func TestCharts(t *testing.T) {
	h := helperAs(t, "good")
	opened, err := h.Open(t.Context(), wire.Open{Path: "web"})
	if err != nil || opened.Name != "web" {
		t.Fatalf("%v, %v", opened, err)
	}
	rendered, err := h.Render(t.Context(), wire.Render{Chart: opened.Chart, ReleaseName: "acme"})
	if err != nil || rendered.Objects[0].Text != "41 acme" {
		t.Errorf("%v, %v", rendered, err)
	}
	if _, err := h.Render(t.Context(), wire.Render{Chart: opened.Chart + 1}); err == nil {
		t.Error("a chart that nobody opened was rendered")
	}
}

// TestProblems wants errors of authors, and panics of libraries, to leave the process as it is.
func TestProblems(t *testing.T) {
	h := helperAs(t, "good")
	for base, want := range map[string]string{
		"bad":   "bad/kustomization.yaml: it is bad (improve it)\nand worse",
		"panic": "a library of lynqctl-chart failed unexpectedly: a bug (report it, with the files that cause it)",
	} {
		t.Run(base, func(t *testing.T) {
			_, err := h.Build(t.Context(), wire.Build{Base: base})
			if _, ok := errors.AsType[*ProblemsError](err); !ok || err.Error() != want {
				t.Errorf("%s: %v", base, err)
			}
		})
	}
	before := h.current
	if _, err := h.Build(t.Context(), wire.Build{Base: "good"}); err != nil || h.current != before {
		t.Errorf("after problems: %v", err)
	}
}

// TestFailures wants an error that says what happened, and never a wait without end.
func TestFailures(t *testing.T) {
	for name, want := range map[string]string{
		"old":          "is from release v99.0.0, which doesn't fit this lynqctl. Install both programs from the same release",
		"other":        "is not the program lynqctl-chart of lynqctl: unknown argument serve. Install both programs",
		"dies":         "stopped: exit status 7: first; out of memory",
		"panics":       "stopped: exit status 2: panic: no such thing",
		"garbage":      "read the answer of",
		"other answer": "gave no answer to the question",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := helperAs(t, name).Build(t.Context(), wire.Build{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %s", err, want)
			}
			if strings.Contains(fmt.Sprint(err), "main.main") {
				t.Errorf("the error has a stack: %v", err)
			}
		})
	}
}

// TestAllWaiting wants all requests that wait for a process to get its error.
func TestAllWaiting(t *testing.T) {
	h := helperAs(t, "dies of two")
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := h.Build(t.Context(), wire.Build{}); err == nil || !strings.Contains(err.Error(), "exit status 1") {
				t.Errorf("error %v", err)
			}
		})
	}
	all.Wait()
}

// TestStartsAgain wants another process after one that ended. It reads charts again, unless they
// have changed.
func TestStartsAgain(t *testing.T) {
	h := helperAs(t, "good")
	opened, err := h.Open(t.Context(), wire.Open{Path: "web"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Build(t.Context(), wire.Build{Base: "exit"}); err == nil {
		t.Fatal("a process that ended answered")
	}
	rendered, err := h.Render(t.Context(), wire.Render{Chart: opened.Chart, ReleaseName: "acme"})
	if err != nil || rendered.Objects[0].Text != "41 acme" {
		t.Errorf("a chart of a process that ended: %v, %v", rendered, err)
	}
	changing, err := h.Open(t.Context(), wire.Open{Path: "changes"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Build(t.Context(), wire.Build{Base: "exit"}); err == nil {
		t.Fatal("a process that ended answered")
	}
	if _, err := h.Render(t.Context(), wire.Render{Chart: changing.Chart}); !errors.Is(err, errChanged) {
		t.Errorf("a chart that changed: %v", err)
	}
	again, err := h.Open(t.Context(), wire.Open{Path: "web"})
	if err != nil || again.Chart == opened.Chart {
		t.Errorf("%v, %v", again, err)
	}
}

// TestCanceled wants requests to end with their context, whatever the process does.
func TestCanceled(t *testing.T) {
	for _, name := range []string{"silent", "deaf"} {
		t.Run(name, func(t *testing.T) {
			h := helperAs(t, name)
			why := errors.New("the user stopped it")
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error)
			go func() {
				_, err := h.Build(ctx, wire.Build{Texts: map[string][]byte{"large": make([]byte, 1<<20)}})
				done <- err
			}()
			cancel(why)
			if err := <-done; !errors.Is(err, why) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestClosed wants Close to answer requests that wait, and to end the process.
func TestClosed(t *testing.T) {
	h := helperAs(t, "deaf")
	p, err := h.running()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := h.Build(t.Context(), wire.Build{Texts: map[string][]byte{"large": make([]byte, 1<<20)}})
		done <- err
	}()
	<-p.hello
	h.Close()
	if err := <-done; !errors.Is(err, errClosed) {
		t.Errorf("a request that waits: %v", err)
	}
	if p.cmd.ProcessState == nil {
		t.Error("the process still runs")
	}
	if _, err := h.Build(t.Context(), wire.Build{}); !errors.Is(err, errClosed) {
		t.Errorf("a request after Close: %v", err)
	}
}

// TestTooLarge wants an error for a request that no helper would read.
func TestTooLarge(t *testing.T) {
	_, err := helperAs(t, "good").Build(t.Context(), wire.Build{Texts: map[string][]byte{"a": make([]byte, wire.MaxLine)}})
	if err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("error %v", err)
	}
}

// TestFind wants the helper beside lynqctl, or else in PATH, or else an error that helps.
func TestFind(t *testing.T) {
	beside, empty := t.TempDir(), t.TempDir()
	program := filepath.Join(beside, Name)
	if err := os.WriteFile(program, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inPath := func(string) (string, error) { return "/path/" + Name, nil }
	nowhere := func(string) (string, error) { return "", exec.ErrNotFound }
	if got, err := find(beside, inPath); got != program || err != nil {
		t.Errorf("beside: %s, %v", got, err)
	}
	if got, err := find(empty, inPath); got != "/path/"+Name || err != nil {
		t.Errorf("in PATH: %s, %v", got, err)
	}
	_, err := find(empty, nowhere)
	for _, want := range []string{empty, "nor in PATH", "same release", "go install github.com/lynqctl/lynqctl/cmd/...@latest"} {
		t.Run(want, func(t *testing.T) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("nowhere: %v, want %s", err, want)
			}
		})
	}
	env := environment(func(name string) string { return "of " + name })
	if strings.Contains(strings.Join(env, " "), "PATH=") || !slices.Contains(env, "DOCKER_CONFIG=of DOCKER_CONFIG") {
		t.Errorf("environment %v", env)
	}
}

// TestNoHelper wants the error of a program that can't be started.
func TestNoHelper(t *testing.T) {
	h := New(func() (*exec.Cmd, error) { return exec.Command(filepath.Join(t.TempDir(), "none")), nil })
	if _, err := h.Build(t.Context(), wire.Build{}); err == nil || !strings.Contains(err.Error(), "check that lynqctl may run it") {
		t.Errorf("error %v", err)
	}
	h.Close()
}
