package session

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Metrics receives what can be counted. Implementations are quick, and safe for concurrent
// use. They must not change what they receive.
type Metrics interface {
	// Report gets the events of runs that write.
	report.Reporter

	// Inputs gets whether the input files could be loaded.
	Inputs(loaded bool)
	// Read gets the number of rows that were read, with the time, or an error.
	Read(hub lynq.HubKey, rows, active int, at time.Time, err error)
	// Planned gets a plan, and how long planning took.
	Planned(p *plan.Plan, took time.Duration)
	// Refused gets the refusals of guards.
	Refused(refusals []plan.Refusal)
	// Recorded gets a saved inventory, or one that is gone.
	Recorded(inv *inventory.Inventory, gone bool)
	// Tombstones gets the tombstones of a hub, with what the run found.
	Tombstones(hub lynq.HubKey, stones []plan.Tombstone)
	// Answered gets each request to the API server. The status is 0 if no answer came.
	Answered(verb string, status int)

	// Leading gets whether this process keeps the hub. If another process does, Metrics
	// forgets what it knows of the hub.
	Leading(hub lynq.HubKey, leads bool)
	// Left says that this process stopped working on the hub.
	Left(hub lynq.HubKey)
	// BackOff gets the number of a hub's nodes that wait for another try.
	BackOff(hub lynq.HubKey, nodes int)
	// Fight says that a watch restored an object which another client changes again and
	// again.
	Fight(hub lynq.HubKey)
	// Held gets the guards that hold deletions of a hub, none if no deletion is held.
	Held(hub lynq.HubKey, guards []plan.Guard)
}

// Measured calls run with metrics, and writes them whatever the result. write returns two
// errors: unread if it couldn't read earlier metrics, and failed if it wrote none.
func (e *Engine) Measured(m Metrics, write func() (unread, failed error), run func(*Engine) error) error {
	e.Metrics = m
	err := run(e)
	unread, failed := write()
	if unread != nil {
		e.Notef("warning: %v", unread)
	}
	switch {
	case failed == nil:
		return err
	case err == nil:
		return Fail(failed)
	}
	e.Notef("warning: %v", failed)
	return err
}

// Meter returns the Metrics, or noMetrics if there are none.
func (e *Engine) Meter() Metrics {
	if e.Metrics == nil {
		return noMetrics{}
	}
	return e.Metrics
}

// answered returns the function that counts requests, or nil if nobody counts.
func (e *Engine) answered() func(string, int) {
	if e.Metrics == nil {
		return nil
	}
	return e.Metrics.Answered
}

// noMetrics ignores everything.
type noMetrics struct{}

func (noMetrics) Report(report.Event)                          {}
func (noMetrics) Inputs(bool)                                  {}
func (noMetrics) Read(lynq.HubKey, int, int, time.Time, error) {}
func (noMetrics) Planned(*plan.Plan, time.Duration)            {}
func (noMetrics) Refused([]plan.Refusal)                       {}
func (noMetrics) Recorded(*inventory.Inventory, bool)          {}
func (noMetrics) Tombstones(lynq.HubKey, []plan.Tombstone)     {}
func (noMetrics) Answered(string, int)                         {}
func (noMetrics) Leading(lynq.HubKey, bool)                    {}
func (noMetrics) Left(lynq.HubKey)                             {}
func (noMetrics) BackOff(lynq.HubKey, int)                     {}
func (noMetrics) Fight(lynq.HubKey)                            {}
func (noMetrics) Held(lynq.HubKey, []plan.Guard)               {}

// measured returns a Reporter that also passes writes to the metrics.
func (r *Run) measured(reporter Reporter) Reporter {
	if r.Engine.Metrics == nil || r.RunOptions.Mode != ModeRun {
		return reporter
	}
	return measuredReporter{reporter, r.Engine.Metrics}
}

type measuredReporter struct {
	Reporter
	metrics Metrics
}

// Report implements report.Reporter.
func (m measuredReporter) Report(e report.Event) {
	m.Reporter.Report(e)
	m.metrics.Report(e)
}

// measuredStore returns the store of a run, which also passes inventories to the metrics.
func (r *Run) measuredStore() apply.Inventories {
	var store apply.Inventories = r.Store
	if r.Kept != nil {
		store = keepingInventories{store, r.Kept}
	}
	if r.Engine.Metrics != nil {
		store = measuredInventories{store, r.Engine.Metrics}
	}
	return store
}

type measuredInventories struct {
	apply.Inventories
	metrics Metrics
}

// Save implements apply.Inventories.
func (m measuredInventories) Save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	saved, err := m.Inventories.Save(ctx, inv)
	if err == nil {
		m.metrics.Recorded(saved, false)
	}
	return saved, err
}

// Remove implements apply.Inventories.
func (m measuredInventories) Remove(ctx context.Context, inv *inventory.Inventory, permit decide.Permit) error {
	err := m.Inventories.Remove(ctx, inv, permit)
	if err == nil {
		m.metrics.Recorded(inv, true)
	}
	return err
}
