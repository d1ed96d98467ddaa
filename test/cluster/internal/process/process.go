package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a running child, or one that has ended.
type Process struct {
	Name    string
	logPath string
	pid     int
	done    chan struct{}
	err     error // how it ended; read it only after done is closed
}

// Start runs the program at path, with env beside the environment of this process. What
// it prints goes to the file logPath, which is truncated. The child is in a process group
// of its own, so a Ctrl-C on the terminal reaches only the parent, which stops it in good
// order.
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
		// The kernel watches the thread that made the child, not the whole
		// parent: this goroutine keeps its thread for as long as the child lives.
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

// PID is the child's process id.
func (p *Process) PID() int { return p.pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Failure describes a child that ended by itself, with the end of its log.
// Call it after Done.
func (p *Process) Failure() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended: %s\n%s", p.Name, how, p.LogTail())
}

// LogTail is the end of the child's log, below a line that says where it is.
func (p *Process) LogTail() string {
	text, err := tail(p.logPath, tailLines)
	if err != nil {
		return fmt.Sprintf("(its log cannot be read: %v)", err)
	}
	return fmt.Sprintf("the end of its log, %s:\n%s", p.logPath, text)
}

// Stop asks the child to end and kills it if it has not after grace. It
// returns when the child is gone.
func (p *Process) Stop(grace time.Duration) {
	// An error means that the child is gone already, which Done tells as well.
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
