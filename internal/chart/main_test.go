package chart

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/answer"
	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// role is the variable by which the test binary acts as a helper.
const role = "LYNQCTL_TEST_HELPER"

func TestMain(m *testing.M) {
	switch name := os.Getenv(role); name {
	case "":
		os.Exit(m.Run())
	default:
		os.Exit(act(name))
	}
}

// helperAs returns a Helper whose program acts in a role.
func helperAs(t *testing.T, name string) *Helper {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := New(func() (*exec.Cmd, error) {
		cmd := exec.Command(self)
		cmd.Env = []string{role + "=" + name, "GORACE=atexit_sleep_ms=0"} // else each process sleeps for a second
		return cmd, nil
	})
	t.Cleanup(h.Close)
	return h
}

// act is a helper, most often one that fails.
func act(name string) int {
	switch name {
	case "good":
		if err := answer.Run(os.Stdin, os.Stdout, "v1", echo()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	case "old":
		fmt.Println(`{"version":99,"release":"v99.0.0"}`)
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "other":
		fmt.Fprintln(os.Stderr, "unknown argument serve")
		fmt.Println("usage: something else")
		return 1
	case "silent": // it neither says hello nor reads
		forever()
	case "deaf": // it says hello, and reads nothing
		hello()
		forever()
	case "dies": // it reads a request, and dies
		hello()
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Fprintln(os.Stderr, "first\nout of memory")
		return 7
	case "dies of two": // it dies once two requests wait
		hello()
		in := bufio.NewReader(os.Stdin)
		_, _ = in.ReadString('\n')
		_, _ = in.ReadString('\n')
		return 1
	case "panics":
		hello()
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Fprintln(os.Stderr, "panic: no such thing\n\ngoroutine 1 [running]:\n"+strings.Repeat("main.main()\n", 4000))
		return 2
	case "garbage":
		hello()
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Println("{")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "other answer":
		hello()
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Println(`{"id":1}`)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	return 0
}

// forever waits for what nobody writes. Go ends a program in which all goroutines are blocked.
func forever() {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer func() { _ = w.Close() }()
	_, _ = r.Read(make([]byte, 1))
}

func hello() { _ = json.NewEncoder(os.Stdout).Encode(wire.Hello{Version: wire.Version}) }

// echo returns functions that answer with what lynqctl asked.
func echo() answer.Functions {
	return answer.Functions{
		Build: func(b wire.Build) (*wire.Built, []wire.Problem) {
			switch b.Base {
			case "bad":
				return nil, []wire.Problem{{File: "bad/kustomization.yaml", What: "it is bad", Fix: "improve it"}, {What: "and worse"}}
			case "panic":
				panic("a bug") //nolint:forbidigo // as a library may
			case "exit":
				os.Exit(3)
			}
			return &wire.Built{Objects: []wire.Object{{Text: b.Base}}, Texts: b.Texts}, nil
		},
		Open: func(o wire.Open) (*wire.Opened, []wire.Problem) {
			digest := "same"
			if o.Path == "changes" {
				digest = strconv.Itoa(os.Getpid())
			}
			return &wire.Opened{Chart: 41, Name: o.Path, Digest: digest}, nil
		},
		Render: func(r wire.Render) (*wire.Rendered, []wire.Problem) {
			return &wire.Rendered{Objects: []wire.Object{{Text: fmt.Sprintf("%d %s", r.Chart, r.ReleaseName)}}}, nil
		},
	}
}
