package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// kubectls runs kubectl's commands in one process of test/cluster/kubectl, which ends with
// this one.
type kubectls struct {
	start sync.Once
	err   error // why there is no process

	mu      sync.Mutex
	asks    *json.Encoder
	pipe    io.Closer // keeps it from the garbage collector
	waiting map[int]chan<- kubectlAnswer
	last    int
	ended   error // why there are no more answers
}

// kubectlRequest and kubectlAnswer are what test/cluster/kubectl reads and writes.
type kubectlRequest struct {
	ID   int
	Args []string
	Dir  string
}

type kubectlAnswer struct {
	ID             int
	Stdout, Stderr string
	Code           int
}

// Do runs a command line of kubectl as the kubeconfig's user, with files relative to dir. It
// doesn't know command lines that read other files than those of -f, nor other verbs than
// those that tests have often: then known is false, and nothing happened.
func (c *Cluster) Do(ctx context.Context, kubeconfig, dir string, args ...string) (a Answer, known bool, err error) {
	if !mayShare(args) {
		return Answer{}, false, nil
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return Answer{}, false, err
	}
	k := &c.kubectls
	k.start.Do(func() { k.err = k.run() })
	if k.err != nil {
		return Answer{}, false, fmt.Errorf("test/cluster/kubectl: %w", k.err)
	}
	// Nobody keeps what kubectl would remember of the server.
	args = append([]string{"--kubeconfig=" + kubeconfig, "--cache-dir=/dev/null/none"}, args...)
	answered, err := k.ask(kubectlRequest{Args: args, Dir: dir})
	if err != nil {
		return Answer{}, true, err
	}
	select {
	case answer, ok := <-answered:
		if !ok {
			return Answer{}, true, fmt.Errorf("test/cluster/kubectl: %w", k.ended)
		}
		return Answer{Stdout: answer.Stdout, Stderr: answer.Stderr, Failed: answer.Code != 0}, true, nil
	case <-ctx.Done():
		return Answer{}, true, context.Cause(ctx)
	}
}

// mayShare tells whether a command line works in a process that is not its own, where only
// the paths of -f are known to be paths.
func mayShare(args []string) bool {
	verbs := []string{"annotate", "apply", "create", "delete", "get", "label", "patch", "replace", "rollout", "scale", "wait"}
	if len(args) == 0 || !slices.Contains(verbs, args[0]) {
		return false
	}
	return !slices.ContainsFunc(args, func(arg string) bool {
		for _, other := range []string{"-k", "--kustomize", "--filename", "--from-env-file", "--from-file", "--patch-file"} {
			if strings.HasPrefix(arg, other) {
				return true
			}
		}
		return arg == "-" || strings.HasPrefix(arg, "-f") && arg != "-f"
	})
}

// run starts the process.
func (k *kubectls) run() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "-C", filepath.Join(root, "test", "cluster"), "run", "./kubectl")
	// As make cluster-build compiles the packages that it has in common with the control plane.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "KUBERC=off", "GOGC=400")
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	k.asks, k.pipe, k.waiting = json.NewEncoder(in), in, map[int]chan<- kubectlAnswer{}
	go func() {
		err := k.deliver(json.NewDecoder(out))
		_ = cmd.Wait() // ProcessState says it too
		k.end(fmt.Errorf("%w: %s\n%s", err, cmd.ProcessState, said.Bytes()))
	}()
	return nil
}

// ask sends a request. The answer is delivered, or the channel closed.
func (k *kubectls) ask(r kubectlRequest) (<-chan kubectlAnswer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended != nil {
		return nil, k.ended
	}
	k.last++
	r.ID = k.last
	answered := make(chan kubectlAnswer, 1)
	k.waiting[r.ID] = answered
	return answered, k.asks.Encode(r)
}

// deliver hands out answers until there are no more.
func (k *kubectls) deliver(answers *json.Decoder) error {
	for {
		var a kubectlAnswer
		if err := answers.Decode(&a); err != nil {
			return err
		}
		k.mu.Lock()
		k.waiting[a.ID] <- a
		delete(k.waiting, a.ID)
		k.mu.Unlock()
	}
}

// end tells all who wait that there are no more answers.
func (k *kubectls) end(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = err
	for id, answered := range k.waiting {
		close(answered)
		delete(k.waiting, id)
	}
}
