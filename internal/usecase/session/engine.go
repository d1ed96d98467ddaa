package session

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/lynqctl/lynqctl/internal/chart"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// Engine carries out use cases. Transport, Metrics and Memory may be nil.
type Engine struct {
	Stdin  io.Reader
	Getenv func(string) string
	// Version is the version of lynqctl that inventories record.
	Version string
	// Clock returns the time by which rows expire and nodes leave. With nil, Now uses this
	// machine's clock.
	Clock func() time.Time
	// Requests says how to log requests to clusters. The zero value logs none.
	Requests kube.RequestLog
	// Transport carries the requests to clusters. With nil, each cluster has its own.
	Transport http.RoundTripper
	View      View
	// Secrets hides the run's secret values in every text that leaves. nil hides nothing.
	Secrets *redact.Filter
	// Metrics receives what can be counted, nil for none.
	Metrics Metrics
	// Memory keeps what lynqctl read from input files before. With nil, it keeps nothing.
	Memory *form.Memory
	// Helper builds kustomizations and charts. With nil, forms can't have any.
	Helper *chart.Helper
	// Invocation is the command line, for histories.
	Invocation Invocation

	confirmed bool // a person confirmed the run
}

// View shows a use case to people and scripts. It may write to a terminal. Texts for a View
// aren't escaped yet.
type View interface {
	// Note shows a line beside the result.
	Note(line string)
	// CanAsk reports whether a person can answer questions.
	CanAsk() bool
	// Attended reports whether a person can answer questions. It returns false for a CI
	// job, even with a terminal.
	Attended() bool
	// Confirm asks a question, and returns true for yes.
	Confirm(question string) (bool, error)
	// ConfirmName asks a person to type a name, and returns true if it matches.
	ConfirmName(question, name string) (bool, error)
	// Preview shows plans before Confirm asks about them.
	Preview(plans []plan.Plan) error
	// Count shows the progress of a task. It returns nil if it shows none.
	Count(what string) Counter
	// Printer shows the result of a use case without a run, and Reporter a run in progress.
	Printer(m Mode) Printer
	Reporter(m Mode) Reporter
}

// Printer shows what a run would do, or why it does nothing.
type Printer interface {
	Plan(plans []plan.Plan) error
	Refuse(refusals []plan.Refusal) error
}

// Counter shows progress. It is safe for concurrent use.
type Counter interface {
	// Add counts n more items, of those that Expect announced.
	Add(n int)
	Expect(n int)
	// Reached sets the finished items and the total.
	Reached(n, of int)
	// Note shows a line that stays on the screen.
	Note(line string)
	Stop()
}

// Reporter shows one run of plans.
type Reporter interface {
	report.Reporter
	// Result shows what the run did. After a dry run, it shows what the run would have
	// done.
	Result(r *report.Result) error
	Close() error
}

// Mode says whether a run writes.
type Mode string

// The modes, as --dry-run names them.
const (
	ModeRun    Mode = "none"   // writes everything
	ModeClient Mode = "client" // makes and shows plans
	ModeServer Mode = "server" // lets the server try every write
)

// Now returns the time by which rows expire and nodes leave.
func (e *Engine) Now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock()
}

// Notef shows a line beside the result.
func (e *Engine) Notef(format string, args ...any) { e.View.Note(fmt.Sprintf(format, args...)) }

// Warn shows problems that aren't errors.
func (e *Engine) Warn(problems lynq.Problems) {
	for _, p := range problems.Sorted() {
		e.Notef("warning: %s", p)
	}
}

// Counting shows progress until the caller calls ended.
func (e *Engine) Counting(what string) (c Counter, ended func()) {
	if c = e.View.Count(what); c == nil {
		return uncounted{}, func() {}
	}
	return c, c.Stop
}

// CountingRequests works like Counting, for requests to the server. It shows the server's
// warnings so that they don't disturb moving lines on a terminal.
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

// uncounted is a Counter that shows nothing.
type uncounted struct{}

func (uncounted) Add(int)          {}
func (uncounted) Expect(int)       {}
func (uncounted) Reached(int, int) {}
func (uncounted) Note(string)      {}
func (uncounted) Stop()            {}

// Connect returns a client for a cluster, and shows the server's warnings.
func (e *Engine) Connect(access *kube.Access) (*kube.Client, *ServerWarnings, error) {
	warnings := &ServerWarnings{show: func(text string) { e.Notef("warning: %s", text) }}
	client, err := access.Client(kube.Options{Warn: warnings.warn, Log: e.Requests, Transport: e.Transport, Answered: e.answered(), Secrets: e.Secrets})
	if err != nil {
		return nil, nil, BadUsage(err)
	}
	return client, warnings, nil
}

// ConnectToLook works like Connect, for use cases that only read.
func (e *Engine) ConnectToLook(access *kube.Access) (*kube.Client, error) {
	client, warnings, err := e.Connect(access)
	if err != nil {
		return nil, err
	}
	warnings.Look(true)
	return client, nil
}

// TimeoutError ends a use case whose --timeout passed.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("gave up after %s (--timeout)", e.After) }

// Deadline returns a context that ends with a TimeoutError after d. With 0, it has no
// limit.
func Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, &TimeoutError{d})
}

// Interruptible calls run, which may block beyond the reach of a context, such as on a pipe
// without a writer. If the context ends first, run continues alone, and nobody may use what
// it sets.
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
