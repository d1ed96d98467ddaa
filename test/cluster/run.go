package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
	"github.com/lynqctl/lynqctl/test/cluster/internal/controlplane"
)

// reapCommand is what run calls itself with, see package process.
const reapCommand = "reap"

// ready is what run prints when the cluster works.
type ready struct {
	Kubeconfig string `json:"kubeconfig"` // one context for each user; admin is current
	Kubectl    string `json:"kubectl"`    // path of the program
	Logs       string `json:"logs"`       // directory
}

// run keeps a cluster until standard input closes or a signal arrives.
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
	go func() {
		// Whoever started us holds the other end: it closes with them.
		_, _ = io.Copy(io.Discard, c.stdin)
		cancel()
	}()
	return c.serve(ctx, set, temp, true)
}

// runIn keeps a cluster whose directory has a name that others know.
func (c cli) runIn(ctx context.Context, set binaries.Set, dir string) error {
	release, err := claim(dir)
	if err != nil {
		return err
	}
	// What an earlier cluster left does not fit to new keys and tokens.
	if err := os.RemoveAll(dir); err != nil {
		return errors.Join(err, release())
	}
	return errors.Join(c.serve(ctx, set, dir, false), release())
}

// serve starts the cluster, says that it is ready, and waits for the end.
func (c cli) serve(ctx context.Context, set binaries.Set, dir string, remove bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cluster, err := controlplane.Start(ctx, controlplane.Options{
		Dir: dir, Remove: remove, Programs: set, Reaper: []string{self, reapCommand},
	})
	if err != nil {
		return err
	}
	err = json.NewEncoder(c.stdout).Encode(ready{
		Kubeconfig: cluster.Kubeconfig(), Logs: cluster.Logs(), Kubectl: set[binaries.Kubectl],
	})
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-cluster.Failed():
		}
	}
	return errors.Join(err, cluster.Stop())
}

// claim makes dir this process's own: it locks a file beside it and writes the
// process id there, for down. The returned function gives dir up.
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
func logPath(dir string) string  { return dir + ".log" } // of up
