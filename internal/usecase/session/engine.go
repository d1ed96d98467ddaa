package session

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Engine carries out use cases. All fields but Transport and Metrics are needed.
type Engine struct {
	Stdin  io.Reader
	Getenv func(string) string
	// Version of lynqctl, as inventories record it.
	Version string
	// Clock tells the time by which rows expire and nodes leave; nil is this machine's clock.
	Clock func() time.Time
	// Requests says how requests to clusters are logged; the zero value says not at all.
	Requests kube.RequestLog
	// Transport carries the requests to clusters; nil is one of its own for each cluster.
	Transport http.RoundTripper
	View      View
	// Metrics is told what may be counted; nil for none.
	Metrics Metrics
	// Invocation is the command line, for histories.
	Invocation Invocation

	confirmed bool // a person confirmed what is done
}

// View is what people and scripts see of a use case. It may write to a terminal:
// what a View is given is not escaped yet.
type View interface {
	// Note shows a line beside the result.
	Note(line string)
	// CanAsk tells whether a person is there who can be asked.
	CanAsk() bool
	// Attended tells whether a person is there who can be asked, and it is no job of a
	// CI that has a terminal.
	Attended() bool
	// Confirm asks a question that is answered with yes or no.
	Confirm(question string) (bool, error)
	// ConfirmName asks a question that is answered by typing a name.
	ConfirmName(question, name string) (bool, error)
	// Preview shows plans before Confirm asks about them.
	Preview(plans []plan.Plan) error
	// Count shows how far something has come; nil where it is not shown.
	Count(what string) Counter
	// Printer shows what comes of a use case without a run, Reporter a run as it goes.
	Printer(m Mode) Printer
	Reporter(m Mode) Reporter
}

// Printer shows what would be done, or why nothing is.
type Printer interface {
	Plan(plans []plan.Plan) error
	Refuse(refusals []plan.Refusal) error
}

// Counter shows how far something has come. It is safe for concurrent use.
type Counter interface {
	// Add counts n more, of those that Expect announced.
	Add(n int)
	Expect(n int)
	// Reached says that n are done, of so many.
	Reached(n, of int)
	// Note shows a line that stays.
	Note(line string)
	Stop()
}

// Reporter shows one run of plans.
type Reporter interface {
	report.Reporter
	// Result shows what was done, or, after a dry run, what would have been.
	Result(r *report.Result) error
	Close() error
}

// Mode says how far a run goes.
type Mode string

// The modes, as --dry-run has them.
const (
	ModeRun    Mode = "none"   // everything is written
	ModeClient Mode = "client" // plans are made and shown
	ModeServer Mode = "server" // the server tries every write
)

// Now is the time by which rows expire and nodes leave.
func (e *Engine) Now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock()
}

// Notef shows a line beside the result.
func (e *Engine) Notef(format string, args ...any) { e.View.Note(fmt.Sprintf(format, args...)) }

// Warn shows problems that are no errors.
func (e *Engine) Warn(problems lynq.Problems) {
	for _, p := range problems.Sorted() {
		e.Notef("warning: %s", p)
	}
}

// Counting shows how far something has come, until ended is called.
func (e *Engine) Counting(what string) (c Counter, ended func()) {
	if c = e.View.Count(what); c == nil {
		return uncounted{}, func() {}
	}
	return c, c.Stop
}

// CountingRequests is counting for what asks the server, whose warnings must not
// break into what moves on a terminal.
func (e *Engine) CountingRequests(warnings *ServerWarnings, what string) (Counter, func()) {
	c, ended := e.Counting(what)
	if _, none := c.(uncounted); none {
		return c, ended
	}
	warnings.to(func(e report.Event) { c.Note("warning: " + e.Message) })
	return c, func() {
		warnings.to(nil)
		ended()
	}
}

// uncounted is a Counter that is not shown.
type uncounted struct{}

func (uncounted) Add(int)          {}
func (uncounted) Expect(int)       {}
func (uncounted) Reached(int, int) {}
func (uncounted) Note(string)      {}
func (uncounted) Stop()            {}

// Connect makes a client of a cluster, and has what the server warns of shown.
func (e *Engine) Connect(access *kube.Access) (*kube.Client, *ServerWarnings, error) {
	warnings := &ServerWarnings{show: func(text string) { e.Notef("warning: %s", text) }}
	client, err := access.Client(kube.Options{Warn: warnings.warn, Log: e.Requests, Transport: e.Transport, Answered: e.answered()})
	if err != nil {
		return nil, nil, BadUsage(err)
	}
	return client, warnings, nil
}

// ConnectToLook is connect for use cases that only look at what there is.
func (e *Engine) ConnectToLook(access *kube.Access) (*kube.Client, error) {
	client, warnings, err := e.Connect(access)
	if err != nil {
		return nil, err
	}
	warnings.Look(true)
	return client, nil
}

// TimeoutError is what a use case ends with whose time is up.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("gave up after %s (--timeout)", e.After) }

// Deadline is a context that ends with a TimeoutError after d, where d is not 0.
func Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, &TimeoutError{d})
}

// Interruptible runs what may block where no context reaches, such as opening a
// pipe that no process writes to. When the context ends first, what runs is left
// behind, and nothing that it sets may be used.
func Interruptible(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
