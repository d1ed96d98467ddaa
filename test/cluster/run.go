package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
	"github.com/lynqctl/lynqctl/test/cluster/internal/controlplane"
)

// reapCommand is the argument with which run starts itself as a reaper. See package
// process.
const reapCommand = "reap"

// ready is the output of run when the cluster works.
type ready struct {
	Kubeconfig string `json:"kubeconfig"` // one context for each user; admin is current
	Kubectl    string `json:"kubectl"`    // path of the program
	Logs       string `json:"logs"`       // directory
}

// run keeps a cluster until standard input closes or a signal comes.
func (c cli) run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(c.stderr)
	mayBuild := flags.Bool("build", false, "build what is missing")
	dir := flags.String("in", "", "for up: empty this directory, keep the cluster's files there, and run until a signal arrives")
	if err := flags.Parse(args); err != nil {
		return err
	}
	set, err := c.programs(ctx, *mayBuild)
	if err != nil {
		return err
	}
	if *dir != "" {
		return c.runIn(ctx, set, *dir)
	}
	temp, err := os.MkdirTemp("", "lynqctl-cluster-*")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked := make(chan string)
	go func() {
		// The process that started us holds the other end of the pipe, which closes with
		// it.
		defer cancel()
		for lines := bufio.NewScanner(c.stdin); lines.Scan(); {
			select {
			case asked <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return c.serve(ctx, set, temp, asked)
}

// runIn keeps a cluster in a directory that others know.
func (c cli) runIn(ctx context.Context, set binaries.Set, dir string) error {
	release, err := claim(dir)
	if err != nil {
		return err
	}
	// Files of an earlier cluster don't fit new keys and tokens.
	if err := os.RemoveAll(dir); err != nil {
		return errors.Join(err, release())
	}
	return errors.Join(c.serve(ctx, set, dir, nil), release())
}

// serve starts the cluster, reports that it is ready, and answers requests until the end.
// If asked is nil, a person started the cluster, and its files stay.
func (c cli) serve(ctx context.Context, set binaries.Set, dir string, asked <-chan string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cluster, err := controlplane.Start(ctx, controlplane.Options{
		Dir: dir, Remove: asked != nil, Programs: set, Reaper: []string{self, reapCommand},
	})
	if err != nil {
		return err
	}
	say := json.NewEncoder(c.stdout)
	err = say.Encode(ready{Kubeconfig: cluster.Kubeconfig(), Logs: cluster.Logs(), Kubectl: set[binaries.Kubectl]})
	for err == nil {
		select {
		case <-ctx.Done():
			return cluster.Stop()
		case err = <-cluster.Failed():
		case what := <-asked:
			if err = do(ctx, cluster, what); err == nil {
				err = say.Encode(done{what})
			}
		}
	}
	return errors.Join(err, cluster.Stop())
}

// restartAPIServer is a request to run, as a line on its standard input.
const restartAPIServer = "restart kube-apiserver"

// done is the output of run after a request.
type done struct {
	Done string `json:"done"`
}

// do carries out a request to a cluster.
func do(ctx context.Context, cluster *controlplane.Cluster, what string) error {
	if what != restartAPIServer {
		return fmt.Errorf("%q was asked on standard input; a line there is %q", what, restartAPIServer)
	}
	return cluster.RestartAPIServer(ctx)
}

// claim makes dir this process's own. It locks a file beside it, and writes the process id
// there for down. The returned function gives dir up.
func claim(dir string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(lockPath(dir))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, fmt.Errorf("a cluster runs in %s already", dir)
	}
	if err := os.WriteFile(pidPath(dir), fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return lock.Unlock, nil
}

func lockPath(dir string) string { return dir + ".lock" }
func pidPath(dir string) string  { return dir + ".pid" }
func logPath(dir string) string  { return dir + ".log" } // for up
