// Kubectl runs command lines of kubectl, one after another or at the same time, in one
// process: a test that has hundreds need not start a process for each, which costs more than
// what the command does. It reads requests from standard input, an object of JSON each, and
// answers on standard output in the order in which commands end. It ends with its input.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// request is one command line.
type request struct {
	ID   int
	Args []string
	Dir  string // what paths of -f are relative to
}

// answer is what a command wrote, and its exit code.
type answer struct {
	ID             int
	Stdout, Stderr string
	Code           int
}

// fatal is how kubectl ends a command.
type fatal struct {
	said string
	code int
}

func main() {
	// Here kubectl would end the process.
	util.BehaviorOnFatal(func(said string, code int) { panic(fatal{said, code}) }) //nolint:forbidigo // kubectl knows no other way to end a command
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers requests until there are no more.
func serve(in io.Reader, out io.Writer) error {
	var mu sync.Mutex // one answer at a time
	var under sync.WaitGroup
	defer under.Wait()
	answers, requests := json.NewEncoder(out), json.NewDecoder(in)
	for {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		under.Go(func() {
			a := r.run()
			mu.Lock()
			defer mu.Unlock()
			_ = answers.Encode(a) // whoever asked is gone
		})
	}
}

// run runs a command line as kubectl's process does, and gives what it says.
func (r request) run() (a answer) {
	var stdout, stderr bytes.Buffer
	defer func() {
		a = answer{ID: r.ID, Stdout: stdout.String(), Stderr: stderr.String()}
		if end := recover(); end != nil {
			f, ok := end.(fatal)
			if !ok {
				f = fatal{fmt.Sprint("panic: ", end), 2}
			}
			if f.said != "" {
				a.Stderr += strings.TrimSuffix(f.said, "\n") + "\n"
			}
			a.Code = f.code
		}
	}()
	args := r.located()
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr}
	// As cmd.NewDefaultKubectlCommand has it, with warnings that stay apart from those of others.
	flags := genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(300).WithDiscoveryQPS(50).WithWarningPrinter(streams).
		WithWrapConfigFn(func(c *rest.Config) *rest.Config {
			c.WarningHandler = rest.NewWarningWriter(streams.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
			return c
		})
	kubectl := cmd.NewKubectlCommand(cmd.KubectlOptions{Arguments: append([]string{"kubectl"}, args...), ConfigFlags: flags, IOStreams: streams})
	kubectl.SilenceUsage, kubectl.SilenceErrors = true, true
	kubectl.SetArgs(args)
	kubectl.SetIn(streams.In)
	kubectl.SetOut(streams.Out)
	kubectl.SetErr(streams.ErrOut)
	util.CheckErr(kubectl.Execute())
	return a
}

// located gives the arguments with the paths of -f as this process finds them.
func (r request) located() []string {
	args := slices.Clone(r.Args)
	for i := 1; i < len(args); i++ {
		if args[i-1] == "-f" && !filepath.IsAbs(args[i]) {
			args[i] = filepath.Join(r.Dir, args[i])
		}
	}
	return args
}
