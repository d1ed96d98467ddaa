package chart

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// process is one process of the helper.
type process struct {
	cmd    *exec.Cmd
	out    io.Closer
	told   *lastLines
	lines  chan []byte   // for its standard input
	hello  chan struct{} // closed after its Hello
	ending sync.Once
	gone   chan struct{} // closed at its end, with err set
	err    error
	exited chan struct{} // closed once the operating system has ended it

	mu      sync.Mutex
	next    int
	waiting map[int]chan *wire.Response
}

// start starts a process. It doesn't wait for its Hello.
func start(cmd *exec.Cmd) (*process, error) {
	p := &process{
		cmd: cmd, told: &lastLines{}, lines: make(chan []byte), hello: make(chan struct{}), gone: make(chan struct{}),
		exited: make(chan struct{}), waiting: map[int]chan *wire.Response{},
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	cmd.Stderr, cmd.WaitDelay = p.told, time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w (check that lynqctl may run it)", cmd.Path, err)
	}
	p.out = out
	go p.write(in)
	go p.read(out)
	late := time.AfterFunc(helloWithin, func() {
		select {
		case <-p.hello:
		default:
			p.stop(fmt.Errorf("%s didn't answer within %s", cmd.Path, helloWithin))
		}
	})
	go func() {
		<-p.gone
		late.Stop()
	}()
	return p, nil
}

// write writes requests to the process. They come through a channel, because a process that
// doesn't read blocks the writer, and callers stop when their context ends.
func (p *process) write(in io.WriteCloser) {
	defer func() { _ = in.Close() }() // the process ends anyway
	for {
		select {
		case line := <-p.lines:
			if _, err := in.Write(line); err != nil {
				return // read finds out why
			}
		case <-p.gone:
			return
		}
	}
}

// answerSize is the size of most answers, so that one call of the system reads one of them.
const answerSize = 64 << 10

// errOther says that another program has the helper's name.
var errOther = errors.New("not the program " + Name + " of lynqctl")

// read reads the answers until the process ends.
func (p *process) read(out io.Reader) {
	failed := p.answers(bufio.NewReaderSize(out, answerSize))
	if failed != nil {
		_ = p.cmd.Process.Kill() // it may have ended by itself
	}
	err := p.cmd.Wait()
	close(p.exited)
	switch {
	case errors.Is(failed, errOther):
		failed = fmt.Errorf("%s is %w%s. Install both programs from the same release", p.cmd.Path, failed, p.told)
	case failed != nil:
	case err != nil:
		failed = fmt.Errorf("%s stopped: %w%s", p.cmd.Path, err, p.told)
	default:
		failed = fmt.Errorf("%s stopped before it answered%s", p.cmd.Path, p.told)
	}
	p.end(failed)
}

// answers hands each answer to the caller that waits for it. It returns nil at the end of
// the output.
func (p *process) answers(out *bufio.Reader) error {
	line, err := wire.ReadLine(out)
	if errors.Is(err, io.EOF) {
		return nil
	}
	var hello wire.Hello
	if err != nil || json.Unmarshal(line, &hello) != nil || hello.Version == 0 {
		return errOther
	}
	if hello.Version != wire.Version {
		return fmt.Errorf("%s is from release %s, which doesn't fit this lynqctl. Install both programs from the same release", p.cmd.Path, hello.Release)
	}
	close(p.hello)
	for {
		line, err := wire.ReadLine(out)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the answer of %s: %w", p.cmd.Path, err)
		}
		var answer wire.Response
		if err := json.Unmarshal(line, &answer); err != nil {
			return fmt.Errorf("read the answer of %s: %w", p.cmd.Path, err)
		}
		p.mu.Lock()
		waiting := p.waiting[answer.ID]
		delete(p.waiting, answer.ID)
		p.mu.Unlock()
		if waiting != nil { // the caller may have stopped
			waiting <- &answer
		}
	}
}

// ask sends a request and waits for its answer, which it also returns with a *ProblemsError.
func (p *process) ask(ctx context.Context, r wire.Request) (*wire.Response, error) {
	answer := make(chan *wire.Response, 1)
	p.mu.Lock()
	p.next++
	r.ID = p.next
	p.waiting[r.ID] = answer
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, r.ID)
	}()
	line, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write a request for %s: %w", Name, err)
	}
	if len(line) >= wire.MaxLine {
		return nil, fmt.Errorf("the files have more than %d MiB, which is too much for %s", wire.MaxLine>>20, Name)
	}
	// Another program may read nothing, so requests wait for the Hello.
	for _, step := range []struct {
		hello <-chan struct{}
		lines chan<- []byte
	}{{hello: p.hello}, {lines: p.lines}} {
		select {
		case <-step.hello:
		case step.lines <- append(line, '\n'):
		case <-p.gone:
			return nil, p.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	select {
	case a := <-answer:
		if len(a.Problems) > 0 {
			return a, &ProblemsError{a.Problems}
		}
		return a, nil
	case <-p.gone:
		return nil, p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// misunderstood is the error for an answer to another question.
func (p *process) misunderstood() error {
	return fmt.Errorf("%s gave no answer to the question. Install both programs from the same release", p.cmd.Path)
}

// end gives everybody who waits an error.
func (p *process) end(err error) {
	p.ending.Do(func() {
		p.err = err
		close(p.gone)
	})
}

func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// stop ends the process, and waits until it has ended.
func (p *process) stop(why error) {
	p.end(why)
	_ = p.cmd.Process.Kill() // it may have ended by itself
	_ = p.out.Close()        // another process may keep it open
	<-p.exited
}
