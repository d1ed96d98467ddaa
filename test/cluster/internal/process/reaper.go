package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// reapWait limits how long the reaper waits for all killed processes. Perhaps nobody
	// collects them, so it can't wait for ever.
	reapWait = 5 * time.Second
	reapPoll = 20 * time.Millisecond
)

// Reaper is a process that outlives this one just long enough to kill its children.
type Reaper struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// StartReaper starts a program that calls Reap on its standard input.
func StartReaper(program string, args ...string) (*Reaper, error) {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("reaper: %w", err)
	}
	return &Reaper{cmd: cmd, pipe: pipe}, nil
}

// Remove makes the reaper remove a directory when this process ends.
func (r *Reaper) Remove(dir string) error { return r.tell("remove", dir) }

// Watch makes the reaper kill a child when this process ends. It forgets a child that has
// ended, because another process may get the same id.
func (r *Reaper) Watch(p *Process) error {
	if err := r.tell("watch", strconv.Itoa(p.PID())); err != nil {
		return err
	}
	go func() {
		<-p.Done()
		// Without a reaper, nothing needs to be forgotten.
		_ = r.tell("forget", strconv.Itoa(p.PID()))
	}()
	return nil
}

// tell sends one line. Lines are short, so a pipe accepts each as a whole.
func (r *Reaper) tell(verb, operand string) error {
	if _, err := fmt.Fprintf(r.pipe, "%s %s\n", verb, operand); err != nil {
		return fmt.Errorf("reaper: %w", err)
	}
	return nil
}

// Close ends the reaper, which first kills what is left, and waits.
func (r *Reaper) Close() error {
	return errors.Join(r.pipe.Close(), r.cmd.Wait())
}

// Reap is the reaper's side. It reads which children to watch until the pipe closes. Then
// it kills them and removes the directories.
func Reap(pipe io.Reader) error {
	pids := map[int]bool{}
	var dirs []string
	var errs []error
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		verb, operand, _ := strings.Cut(lines.Text(), " ")
		pid, err := strconv.Atoi(operand)
		switch {
		case verb == "remove":
			dirs = append(dirs, operand)
		case err != nil || pid <= 1:
			// Zero and below would mean whole process groups.
			errs = append(errs, fmt.Errorf("reaper: %q names no process", lines.Text()))
		case verb == "watch":
			pids[pid] = true
		case verb == "forget":
			delete(pids, pid)
		}
	}
	errs = append(errs, lines.Err(), killAll(pids))
	for _, dir := range dirs {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// killAll kills the processes and waits a while until they are gone, so that none writes
// into a directory during its removal.
func killAll(pids map[int]bool) error {
	var errs []error
	deadline := time.Now().Add(reapWait)
	tick := time.NewTicker(reapPoll)
	defer tick.Stop()
	for pid := range pids {
		err := syscall.Kill(pid, syscall.SIGKILL)
		for err == nil && time.Now().Before(deadline) {
			<-tick.C
			err = syscall.Kill(pid, 0)
		}
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("reaper: process %d: %w", pid, err))
		}
	}
	return errors.Join(errs...)
}
