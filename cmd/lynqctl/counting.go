package main

import (
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
)

// counting shows on a terminal how far something has come, until ended is called.
func (a *app) counting(what string) (c *ui.Counting, ended func()) {
	ticker := time.NewTicker(ui.Redraw)
	c = ui.StartCounting(ui.NewStream(a.stderr, a.getenv), what, time.Now(), ticker.C)
	return c, func() {
		ticker.Stop()
		c.Stop()
	}
}

// countingRequests is counting for what asks the server, whose warnings must not
// break into what moves.
func (a *app) countingRequests(warnings *serverWarnings, what string) (*ui.Counting, func()) {
	c, ended := a.counting(what)
	if c == nil {
		return c, ended
	}
	warnings.to(func(e apply.Event) { c.Note("warning: " + e.Message) })
	return c, func() {
		warnings.to(nil)
		ended()
	}
}

// countedNodes counts the nodes of a run.
type countedNodes struct {
	apply.Reporter
	counting *ui.Counting
}

// Report implements apply.Reporter.
func (r countedNodes) Report(e apply.Event) {
	switch e.Type {
	case apply.EventPlan:
		r.counting.Expect(e.Nodes)
	case apply.EventNode:
		r.counting.Add(1)
	}
	r.Reporter.Report(e)
}
