package session

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/gate"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Metrics is told what may be counted. It is safe for concurrent use, and quick. What
// it is given stays as it is.
type Metrics interface {
	// Report tells what runs do that write.
	report.Reporter

	// Inputs tells whether the files of the inputs could be loaded.
	Inputs(loaded bool)
	// Read tells of rows that were read, as of the given time, or why they were not.
	Read(hub lynq.HubKey, rows, active int, at time.Time, err error)
	// Planned tells of a plan, and how long it took to make it.
	Planned(p *plan.Plan, took time.Duration)
	// Refused tells of what guards refused.
	Refused(refusals []plan.Refusal)
	// Recorded tells of an inventory as it was saved, or of one that is gone.
	Recorded(inv *inventory.Inventory, gone bool)
	// Tombstones tells of what tombstones name, as it was looked at.
	Tombstones(hub lynq.HubKey, stones []plan.Tombstone)
	// Answered tells of a request to the API server, status 0 where there was no answer.
	Answered(verb string, status int)

	// Leading tells whether this process keeps the hub, and not another one. What is
	// known of a hub that it no longer keeps is forgotten.
	Leading(hub lynq.HubKey, leads bool)
	// Left tells that this process has nothing to do with the hub any more.
	Left(hub lynq.HubKey)
	// BackOff tells how many nodes of a hub wait before they are tried again.
	BackOff(hub lynq.HubKey, nodes int)
	// Fight tells that an object was taken back which another client changes again and
	// again.
	Fight(hub lynq.HubKey)
	// Held tells which guards hold deletions of a hub, none where that is settled.
	Held(hub lynq.HubKey, guards []plan.Guard)
}

// Measured runs a use case that metrics are told of, which are written however it ended:
// unread is why it is not known what was written before, failed why nothing is.
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

// Meter is who is told; noMetrics where there is none.
func (e *Engine) Meter() Metrics {
	if e.Metrics == nil {
		return noMetrics{}
	}
	return e.Metrics
}

// answered is what a client tells of its requests, nil where none are counted.
func (e *Engine) answered() func(string, int) {
	if e.Metrics == nil {
		return nil
	}
	return e.Metrics.Answered
}

// noMetrics is told everything, and keeps nothing.
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

// measured is a Reporter, beside which metrics are told of what is written.
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

// measuredStore is the store of a run, beside which metrics are told what nodes' records
// say.
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
func (m measuredInventories) Remove(ctx context.Context, inv *inventory.Inventory, permit gate.Permit) error {
	err := m.Inventories.Remove(ctx, inv, permit)
	if err == nil {
		m.metrics.Recorded(inv, true)
	}
	return err
}
