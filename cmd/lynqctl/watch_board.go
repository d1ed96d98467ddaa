package main

import (
	"slices"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/metrics"
)

// watchBoard keeps what a watch tells of its hubs, for people to see. It takes what is
// told for metrics, and hands it on to them.
type watchBoard struct {
	*metrics.Metrics

	mu   sync.Mutex
	kept []*hubFacts // in the order of the inputs
	// badInputs: the inputs changed, and could not be loaded.
	badInputs bool
}

var (
	_ engine.Metrics       = (*watchBoard)(nil)
	_ engine.WatchObserver = (*watchBoard)(nil)
)

// turn is whose turn it is with a hub.
type turn uint8

const (
	turnUnknown turn = iota
	turnOurs
	turnOthers
)

// hubFacts are what a watch has told of a hub.
type hubFacts struct {
	key  lynq.HubKey
	turn turn
	// read: its rows have been read, so many; unread is why they could not be last.
	read         bool
	rows, active int
	unread       error
	// sums are of its nodes, where planned says that they are known.
	sums    metrics.HubSums
	planned bool
	held    []plan.Guard
	changed time.Time // when an object of it was changed last, zero for never
	// applying: a round is at work on its nodes.
	applying bool
	ended    error // of the last round
}

// facts are all that is known by now.
func (b *watchBoard) facts() (hubs []hubFacts, badInputs bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.kept {
		one := *f
		one.sums, one.planned = b.Sums(f.key)
		hubs = append(hubs, one)
	}
	return hubs, b.badInputs
}

// note changes the facts of a hub that is kept.
func (b *watchBoard) note(hub lynq.HubKey, change func(*hubFacts)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.kept, func(f *hubFacts) bool { return f.key == hub }); i >= 0 {
		change(b.kept[i])
	}
}

// Kept implements engine.WatchObserver.
func (b *watchBoard) Kept(hubs []lynq.HubKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.kept
	b.kept = nil
	for _, key := range hubs {
		f := &hubFacts{key: key}
		if i := slices.IndexFunc(before, func(f *hubFacts) bool { return f.key == key }); i >= 0 {
			f.changed = before[i].changed
		}
		b.kept = append(b.kept, f)
	}
}

// Ended implements engine.WatchObserver.
func (b *watchBoard) Ended(hub lynq.HubKey, err error) {
	b.note(hub, func(f *hubFacts) { f.ended, f.applying = err, false })
}

// Inputs implements engine.Metrics.
func (b *watchBoard) Inputs(loaded bool) {
	b.Metrics.Inputs(loaded)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.badInputs = !loaded
}

// Read implements engine.Metrics.
func (b *watchBoard) Read(hub lynq.HubKey, rows, active int, at time.Time, err error) {
	b.Metrics.Read(hub, rows, active, at, err)
	b.note(hub, func(f *hubFacts) {
		if f.unread = err; err == nil {
			f.read, f.rows, f.active = true, rows, active
		}
	})
}

// Leading implements engine.Metrics. What another instance does is not known here.
func (b *watchBoard) Leading(hub lynq.HubKey, leads bool) {
	b.Metrics.Leading(hub, leads)
	b.note(hub, func(f *hubFacts) {
		*f = hubFacts{key: f.key, changed: f.changed, turn: turnOthers}
		if leads {
			f.turn = turnOurs
		}
	})
}

// Held implements engine.Metrics.
func (b *watchBoard) Held(hub lynq.HubKey, guards []plan.Guard) {
	b.Metrics.Held(hub, guards)
	b.note(hub, func(f *hubFacts) { f.held = slices.Clone(guards) })
}

// Report implements engine.Metrics.
func (b *watchBoard) Report(e apply.Event) {
	b.Metrics.Report(e)
	switch {
	case e.Type == apply.EventNodeStart:
		b.note(e.Hub, func(f *hubFacts) { f.applying = true })
	case e.Type == apply.EventObject && e.Outcome == apply.OutcomeDone && e.Action != plan.ActionKeep && e.Action != plan.ActionSkip:
		b.note(e.Hub, func(f *hubFacts) { f.changed = e.Time })
	case e.Type == apply.EventSummary:
		for _, hub := range e.Summary.Hubs {
			b.note(hub, func(f *hubFacts) { f.applying = false })
		}
	}
}
