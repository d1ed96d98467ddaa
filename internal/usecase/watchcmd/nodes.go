package watchcmd

import (
	"maps"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// nodeStates is what the rounds of a hub know of its nodes. It is safe for concurrent use,
// because the events of a round come from several goroutines.
type nodeStates struct {
	mu     sync.Mutex
	ledger watch.Progress[lynq.NodeKey]
	// wanted has a digest of each node in this round. failing has the nodes whose failure
	// the ledger knows.
	wanted  map[lynq.NodeKey]string
	failing map[lynq.NodeKey]bool
	// stopped has the forms that stopped because their first nodes failed for one cause.
	stopped   map[lynq.FormKey]bool
	fights    watch.Fights
	newFights []fight // in this round
	// waits has the objects that this round waits for, with their nodes.
	waits map[lynq.Ref]lynq.NodeKey
	wrote bool // an object was written since the last question
	// ended has the nodes that failed in the last finished run, with their outcomes.
	ended map[lynq.NodeKey]report.Outcome
}

// forget forgets what another run may have changed.
func (s *nodeStates) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger, s.failing, s.stopped = watch.Progress[lynq.NodeKey]{}, nil, nil
}

// wants notes the nodes of a round, by their digests.
func (s *nodeStates) wants(wanted map[lynq.NodeKey]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted, s.failing = wanted, nil
}

// due returns the nodes that changed, or whose time for another try has come.
func (s *nodeStates) due(wanted map[lynq.NodeKey]string, now time.Time) map[lynq.NodeKey]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.Due(wanted, now)
}

// begin notes that a round begins to write.
func (s *nodeStates) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.failing, s.waits = nil, map[lynq.NodeKey]bool{}, map[lynq.Ref]lynq.NodeKey{}
}

// failed returns the nodes that failed in the last finished run, or nil if that is unknown.
func (s *nodeStates) failed() map[lynq.NodeKey]report.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// observe notes an event. timer is set if it set a timer. begins is a fight that it shows,
// or nil.
func (s *nodeStates) observe(e *report.Event, now time.Time) (timer bool, begins *fight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteWait(e)
	switch {
	case e.Type == report.EventSummary:
		s.ended = map[lynq.NodeKey]report.Outcome{}
		for _, n := range e.Summary.Failed {
			s.ended[n.Key()] = n.Outcome
		}
	case e.Type == report.EventNode && e.Reason == plan.ReasonSuspended: // it needs no other try
	case e.Type == report.EventNode && failed(e.Outcome):
		s.fail(e, now)
		return true, nil
	case e.Type == report.EventNode && e.Outcome == report.OutcomeDone:
		delete(s.stopped, e.Form)
	case e.Type == report.EventObject && e.Outcome == report.OutcomeDone && e.Action != plan.ActionKeep:
		begins = s.written(e, now)
	}
	return begins != nil, begins
}

// noteWait notes the objects that the round waits for.
func (s *nodeStates) noteWait(e *report.Event) {
	switch e.Type {
	case report.EventWait:
		if s.waits != nil {
			s.waits[e.Object] = e.Key()
		}
	case report.EventReady, report.EventObject:
		delete(s.waits, e.Object)
	}
}

// fail notes that a node failed.
func (s *nodeStates) fail(e *report.Event, now time.Time) {
	if e.Reason == plan.ReasonFormStopped {
		if s.stopped == nil {
			s.stopped = map[lynq.FormKey]bool{}
		}
		s.stopped[e.Form] = true
	}
	if s.failing != nil {
		s.failing[e.Key()] = true
		s.ledger.Fail(e.Key(), s.wanted[e.Key()], now)
	}
}

// written notes a write, and returns the fight that it shows, or nil.
func (s *nodeStates) written(e *report.Event, now time.Time) *fight {
	s.wrote = true
	if e.Reason != plan.ReasonDrifted {
		return nil
	}
	f := fight{node: e.Key(), object: e.Object, last: e.Message, at: now}
	if f.muted = s.fights.TakenBack(e.Object, now); f.muted == 0 {
		return nil
	}
	s.newFights = append(s.newFights, f)
	return &f
}

// failed reports whether a node with this outcome waits before another try.
func failed(o report.Outcome) bool {
	return o != report.OutcomeDone && o != report.OutcomeUnchanged && o != report.OutcomeInterrupted
}

// settle notes the results of a round's nodes, except for failures that the ledger knows
// already.
func (s *nodeStates) settle(ends map[lynq.NodeKey]watch.End, wanted map[lynq.NodeKey]string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.failing {
		delete(ends, n)
	}
	s.failing = nil
	s.ledger.Settle(ends, wanted, now)
}

// waiting returns the number of nodes that wait for another try, without one.
func (s *nodeStates) waiting(uncounted lynq.NodeKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.Waiting(uncounted)
}

// waitsFor names the objects that the round waits for.
func (s *nodeStates) waitsFor() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objects []string
	for ref, node := range s.waits {
		objects = append(objects, ref.String()+" of node "+node.String())
	}
	return objects
}

// stoppedForms returns the forms that stopped. The caller may change the result.
func (s *nodeStates) stoppedForms() map[lynq.FormKey]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	forms := map[lynq.FormKey]bool{}
	maps.Copy(forms, s.stopped)
	return forms
}

// muted reports whether lynqctl ignores changes of an object for now.
func (s *nodeStates) muted(ref lynq.Ref, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fights.Muted(ref, now)
}

// unmuted returns the objects whose changes lynqctl ignored until now.
func (s *nodeStates) unmuted(now time.Time) []lynq.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fights.Over(now)
}

// takeFights returns the new fights, and forgets that they are new.
func (s *nodeStates) takeFights() []fight {
	s.mu.Lock()
	defer s.mu.Unlock()
	fights := s.newFights
	s.newFights = nil
	return fights
}

// didWrite reports whether rounds wrote an object since the last call.
func (s *nodeStates) didWrite() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	wrote := s.wrote
	s.wrote = false
	return wrote
}

// timers returns the next tries of failed nodes after a time, and the end of the next pause
// in a fight.
func (s *nodeStates) timers(after time.Time) []watch.Timer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []watch.Timer{
		{At: s.ledger.Next(after), Why: "lynqctl tries a failed node again"},
		{At: s.fights.Next(), Why: "the pause in a fight with another client is over"},
	}
}
