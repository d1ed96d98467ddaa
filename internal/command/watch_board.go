package command

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/metrics"
)

// board keeps the state of a watch's hubs for people. It receives the events for metrics,
// and passes them on.
type board struct {
	*metrics.Metrics

	mu   sync.Mutex
	kept []*ui.WatchedHub // in the order of the inputs
	// badInputs is set if the inputs changed and couldn't be loaded.
	badInputs bool
	refused   refusals
	// released has the ends of the hubs' last terms. The error says why a Lease couldn't be
	// given back.
	released map[lynq.HubKey]error
}

var (
	_ session.Metrics   = (*board)(nil)
	_ watchcmd.Observer = (*board)(nil)
)

// facts returns everything that is known now.
func (b *board) facts() (hubs []ui.WatchedHub, badInputs bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.kept {
		one := *f
		sums, planned := b.Sums(f.HubKey)
		one.Planned, one.Desired, one.Ready, one.Failed = planned, sums.Desired, sums.Ready, sums.Failed
		hubs = append(hubs, one)
	}
	return hubs, b.badInputs
}

// note changes the facts of a hub that the watch keeps.
func (b *board) note(hub lynq.HubKey, change func(*ui.WatchedHub)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.kept, func(f *ui.WatchedHub) bool { return f.HubKey == hub }); i >= 0 {
		change(b.kept[i])
	}
}

// Keeps implements watchcmd.Observer.
func (b *board) Keeps(hubs []watchcmd.Watched) {
	keys := make([]lynq.HubKey, len(hubs))
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.kept
	b.kept = nil
	for n, hub := range hubs {
		keys[n] = hub.HubKey
		f := &ui.WatchedHub{HubKey: hub.HubKey}
		if i := slices.IndexFunc(before, func(f *ui.WatchedHub) bool { return f.HubKey == hub.HubKey }); i >= 0 {
			f.Changed = before[i].Changed
		}
		b.kept = append(b.kept, f)
	}
	b.refused.keeps(hubs)
	b.Kept(keys)
}

// Ended implements watchcmd.Observer.
func (b *board) Ended(hub lynq.HubKey, err error) {
	refused := (*session.Error)(nil)
	b.note(hub, func(f *ui.WatchedHub) {
		f.Applying = false
		f.Failing = err != nil && !errors.Is(err, session.ErrReported)
		f.Refused = errors.As(err, &refused) && refused.Outcome == session.Refused
	})
}

// Released implements watchcmd.Observer.
func (b *board) Released(hub lynq.HubKey, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.released == nil {
		b.released = map[lynq.HubKey]error{}
	}
	b.released[hub] = err
}

// leases returns the number of Leases that the watch gave back, and why it couldn't give
// the others back.
func (b *board) leases() (given int, unreleased []error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, hub := range slices.SortedFunc(maps.Keys(b.released), lynq.HubKey.Compare) {
		if err := b.released[hub]; err != nil {
			unreleased = append(unreleased, err)
			continue
		}
		given++
	}
	return given, unreleased
}

// Inputs implements session.Metrics.
func (b *board) Inputs(loaded bool) {
	b.Metrics.Inputs(loaded)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.badInputs = !loaded
}

// Read implements session.Metrics.
func (b *board) Read(hub lynq.HubKey, rows, active int, at time.Time, err error) {
	b.Metrics.Read(hub, rows, active, at, err)
	b.refused.read(hub, err == nil)
	b.note(hub, func(f *ui.WatchedHub) {
		if f.Unread = err != nil; err == nil {
			f.Read, f.Rows, f.Active = true, rows, active
		}
	})
}

// Leading implements session.Metrics. A hub that another process keeps has no facts here.
func (b *board) Leading(hub lynq.HubKey, leads bool) {
	b.Metrics.Leading(hub, leads)
	b.refused.read(hub, true)
	b.note(hub, func(f *ui.WatchedHub) {
		*f = ui.WatchedHub{HubKey: f.HubKey, Changed: f.Changed, Turn: ui.TurnOthers}
		if leads {
			f.Turn = ui.TurnOurs
		}
	})
}

// Answered implements session.Metrics.
func (b *board) Answered(verb string, status int) {
	b.Metrics.Answered(verb, status)
	b.refused.answered(status)
}

// ready says why the watch can't do its work, or returns nil. Anybody can read it.
func (b *board) ready() error { return b.refused.problem() }

// Held implements session.Metrics.
func (b *board) Held(hub lynq.HubKey, guards []plan.Guard) {
	b.Metrics.Held(hub, guards)
	b.note(hub, func(f *ui.WatchedHub) { f.Held = slices.Clone(guards) })
}

// Report implements session.Metrics.
func (b *board) Report(e report.Event) {
	b.Metrics.Report(e)
	switch {
	case e.Type == report.EventNodeStart:
		b.note(e.Hub, func(f *ui.WatchedHub) { f.Applying = true })
	case e.Type == report.EventObject && e.Outcome == report.OutcomeDone && e.Action != plan.ActionKeep && e.Action != plan.ActionSkip:
		b.note(e.Hub, func(f *ui.WatchedHub) { f.Changed = e.Time })
	case e.Type == report.EventSummary:
		for _, hub := range e.Summary.Hubs {
			b.note(hub, func(f *ui.WatchedHub) { f.Applying = false })
		}
	}
}
