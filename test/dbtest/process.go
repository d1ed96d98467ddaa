package dbtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// stopLimit is the time after which stop kills a server.
const stopLimit = time.Minute

// process is a server's process.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	end  os.Signal // asks it to end
	done chan struct{}
}

// startProcess starts a server that writes its messages to a file in dir.
func startProcess(cmd *exec.Cmd, dir string, end os.Signal) (*process, error) {
	p := &process{
		name: filepath.Base(cmd.Path),
		cmd:  cmd,
		log:  filepath.Join(dir, "log"),
		end:  end,
		done: make(chan struct{}),
	}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd.Stdout, cmd.Stderr = log, log
	started := make(chan error)
	go func() {
		// The child dies with the thread that started it, so this thread lives as long as
		// the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log contains the reason
		}
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// stop ends the process and waits until it is gone.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(p.end); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(stopLimit)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	}
	err := p.cmd.Process.Kill()
	<-p.done
	return errors.Join(fmt.Errorf("%s did not end and was killed", p.name), err)
}

// output returns what the process has written.
func (p *process) output() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// run runs a program to its end.
func run(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
	}
	return nil
}

// find returns the path of a program in pack: the last match of the pattern, which is the
// newest, else the one in PATH.
func find(name, pattern, pack string) (string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return slices.Max(found), nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &missingError{program: name, pack: pack}
	}
	return path, nil
}
