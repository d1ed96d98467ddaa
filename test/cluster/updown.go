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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	// stopTimeout limits how long down waits for a cluster to end.
	stopTimeout = 30 * time.Second
	stopPoll    = 50 * time.Millisecond
)

// up starts a cluster that outlives this command, and prints how to use it. If it runs
// already, up only prints.
func (c cli) up(ctx context.Context, args []string) error {
	dir, err := c.clusterDir("up", args)
	if err != nil {
		return err
	}
	running, err := isRunning(dir)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if !running {
		if _, err := c.programs(ctx, true); err != nil {
			return err
		}
		info, err := launch(dir)
		if err != nil {
			return err
		}
		kubeconfig = info.Kubeconfig
	}
	_, err = fmt.Fprintf(c.stdout, "export KUBECONFIG=%s\n", shellQuote(kubeconfig))
	return err
}

// launch runs this program in the background and waits until the cluster is ready. Its
// error has the output of the program.
func launch(dir string) (ready, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return ready{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return ready{}, err
	}
	log, err := os.Create(logPath(dir))
	if err != nil {
		return ready{}, err
	}
	defer log.Close() //nolint:errcheck // the child writes it
	cmd := exec.Command(self, "run", "-in", dir)
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return ready{}, err
	}
	if err := cmd.Start(); err != nil {
		return ready{}, err
	}
	var info ready
	if err := json.NewDecoder(stdout).Decode(&info); err != nil {
		waitErr := cmd.Wait()
		said, readErr := os.ReadFile(logPath(dir))
		return ready{}, errors.Join(fmt.Errorf("the cluster did not start: %w\n%s", waitErr, said), readErr)
	}
	return info, nil
}

// down stops the cluster and removes its files.
func (c cli) down(ctx context.Context, args []string) error {
	dir, err := c.clusterDir("down", args)
	if err != nil {
		return err
	}
	running, err := isRunning(dir)
	if err != nil {
		return err
	}
	if running {
		err = terminate(ctx, dir)
	} else {
		_, err = fmt.Fprintln(c.stderr, "cluster: none is running")
	}
	if err != nil {
		return err
	}
	// The lock stays, because every waiting process must find the same file.
	return errors.Join(os.RemoveAll(dir), os.RemoveAll(pidPath(dir)), os.RemoveAll(logPath(dir)))
}

// terminate asks the process that holds dir to end, and waits until it has.
func terminate(ctx context.Context, dir string) error {
	text, err := os.ReadFile(pidPath(dir))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return fmt.Errorf("%s holds no process id", pidPath(dir))
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping process %d: %w", pid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	lock := flock.New(lockPath(dir))
	if _, err := lock.TryLockContext(ctx, stopPoll); err != nil {
		return fmt.Errorf("process %d has not ended: %w", pid, err)
	}
	return lock.Unlock()
}

// isRunning reports whether a process holds dir. The lock ends with its process in any
// case, so a stale process id never counts.
func isRunning(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Dir(dir)); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock := flock.New(lockPath(dir))
	free, err := lock.TryLock()
	if err != nil || !free {
		return !free, err
	}
	return false, lock.Unlock()
}

// clusterDir returns the directory of the cluster that args name.
func (c cli) clusterDir(command string, args []string) (string, error) {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(c.stderr)
	name := flags.String("name", "default", "name of the cluster; several can run side by side")
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	if *name == "" || *name != filepath.Base(*name) || strings.HasPrefix(*name, ".") {
		return "", fmt.Errorf("%q is not a valid name for a cluster", *name)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(user, "lynqctl", "clusters", *name), nil
}

// shellQuote quotes a path for a shell.
func shellQuote(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
