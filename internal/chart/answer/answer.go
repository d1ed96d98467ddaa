package answer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// Functions answer requests. A nil function answers none.
type Functions struct {
	Build  func(wire.Build) (*wire.Built, []wire.Problem)
	Open   func(wire.Open) (*wire.Opened, []wire.Problem)
	Render func(wire.Render) (*wire.Rendered, []wire.Problem)
}

// Run writes a Hello, and then answers requests until there are no more. It answers as many
// at a time as there are processors.
func Run(in io.Reader, out io.Writer, release string, f Functions) error {
	w := &writer{out: out}
	w.write(wire.Hello{Version: wire.Version, Release: release})
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	err := func() error {
		lines := bufio.NewReader(in)
		for w.failed() == nil {
			line, err := wire.ReadLine(lines)
			if errors.Is(err, io.EOF) {
				return nil
			}
			var r wire.Request
			if err == nil {
				err = json.Unmarshal(line, &r)
			}
			if err != nil {
				return fmt.Errorf("read a request: %w", err)
			}
			slots <- struct{}{}
			running.Go(func() {
				w.answer(f.answer(r))
				<-slots
			})
		}
		return nil
	}()
	running.Wait()
	return errors.Join(err, w.failed())
}

// answer answers a request. A panic of a library becomes a problem.
func (f Functions) answer(r wire.Request) (answer wire.Response) {
	defer func() {
		if what := recover(); what != nil {
			answer = wire.Response{Problems: []wire.Problem{{
				What: fmt.Sprintf("a library of lynqctl-chart failed unexpectedly: %v", what),
				Fix:  "report it, with the files that cause it",
			}}}
		}
		answer.ID = r.ID
	}()
	switch {
	case r.Build != nil && f.Build != nil:
		answer.Built, answer.Problems = f.Build(*r.Build)
	case r.Open != nil && f.Open != nil:
		answer.Opened, answer.Problems = f.Open(*r.Open)
	case r.Render != nil && f.Render != nil:
		answer.Rendered, answer.Problems = f.Render(*r.Render)
	default:
		answer.Problems = []wire.Problem{{What: "this lynqctl-chart doesn't know the request", Fix: "install lynqctl and lynqctl-chart from the same release"}}
	}
	return answer
}

// writer writes lines of JSON, one at a time.
type writer struct {
	mu  sync.Mutex
	out io.Writer
	err error
}

// answer writes an answer. One that is too large becomes a problem.
func (w *writer) answer(r wire.Response) {
	if !w.write(r) {
		w.write(wire.Response{ID: r.ID, Problems: []wire.Problem{{
			What: fmt.Sprintf("the files and objects have more than %d MiB", wire.MaxLine>>20),
			Fix:  "split the base or the chart",
		}}})
	}
}

// write reports whether a value fits in a line.
func (w *writer) write(v any) bool {
	line, err := json.Marshal(v)
	if err == nil && len(line) >= wire.MaxLine {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.err == nil {
		_, err = w.out.Write(append(line, '\n'))
	}
	w.err = errors.Join(w.err, err)
	return true
}

func (w *writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
