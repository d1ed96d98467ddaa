package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
	"github.com/lynqctl/lynqctl/test/cluster/internal/controlplane"
)

// sharedEnv names a file with what run prints, for the command that share runs.
const sharedEnv = "LYNQCTL_TEST_SHARED"

// share runs a command beside a cluster, which ends with it. All test binaries that the
// command starts use that cluster.
func (c cli) share(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("share", flag.ContinueOnError)
	flags.SetOutput(c.stderr)
	where := flags.String("C", ".", "run the command in this directory")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("share: no command")
	}
	set, err := c.programs(ctx, true)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lynqctl-cluster-*")
	if err != nil {
		return err
	}
	cluster, err := controlplane.Start(ctx, controlplane.Options{
		Dir: dir, Remove: true, Programs: set, Reaper: []string{self, reapCommand},
	})
	if err != nil {
		return err
	}
	err = c.beside(ready{Kubeconfig: cluster.Kubeconfig(), Logs: cluster.Logs(), Kubectl: set[binaries.Kubectl]}, *where, flags.Args())
	select {
	case ended := <-cluster.Failed():
		err = errors.Join(err, ended)
	default:
	}
	return errors.Join(err, cluster.Stop())
}

// beside runs a command that finds a cluster by its environment. A signal from the terminal
// reaches the command, too: it is up to the command to end.
func (c cli) beside(cluster ready, dir string, command []string) error {
	text, err := json.Marshal(cluster)
	if err != nil {
		return err
	}
	file := filepath.Join(filepath.Dir(cluster.Kubeconfig), "ready.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), sharedEnv+"="+file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, c.stdout, c.stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	return nil
}
