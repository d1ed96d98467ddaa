package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a child, running or ended.
type Process struct {
	Name    string
	logPath string
	pid     int
	done    chan struct{}
	err     error // the result; read it only after done is closed
}

// Start runs the program at path, with env in addition to this process's environment. It
// truncates the file logPath and writes the output there. The child has its own process
// group. So a Ctrl-C on the terminal reaches only the parent, which then stops the child.
func Start(name, path string, args, env []string, logPath string) (*Process, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()

	p := &Process{Name: name, logPath: logPath, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel watches the thread that made the child, not the whole parent. So this
		// goroutine keeps its thread as long as the child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close() //nolint:errcheck // the child wrote it, we did not
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// PID returns the child's process id.
func (p *Process) PID() int { return p.pid }

// Done returns a channel that closes when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Failure describes a child that ended by itself, with the end of its log. Call it after
// Done.
func (p *Process) Failure() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended: %s\n%s", p.Name, how, p.LogTail())
}

// LogTail returns the end of the child's log, below a line with its path.
func (p *Process) LogTail() string {
	text, err := tail(p.logPath, tailLines)
	if err != nil {
		return fmt.Sprintf("(its log cannot be read: %v)", err)
	}
	return fmt.Sprintf("the end of its log, %s:\n%s", p.logPath, text)
}

// Stop asks the child to end, and kills it after grace. It returns when the child is gone.
func (p *Process) Stop(grace time.Duration) {
	// An error means that the child is gone, which Done also shows.
	_ = syscall.Kill(p.pid, syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
		<-p.done
	}
}
