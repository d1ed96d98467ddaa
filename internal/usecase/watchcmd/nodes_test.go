package watchcmd

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// TestNodeStates passes the events of a round, and wants what later rounds know.
func TestNodeStates(t *testing.T) {
	node := lynq.NodeID{Namespace: "shop", Name: "acme-web", Form: lynq.FormKey{Namespace: "shop", Name: "web"}}
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}
	event := func(kind report.EventType, outcome report.Outcome, reason plan.Reason) report.Event {
		e := report.Event{Type: kind, NodeID: node}
		e.Outcome, e.Reason, e.Object, e.Action = outcome, reason, ref, plan.ActionUpdate
		return e
	}
	wanted := map[lynq.NodeKey]string{node.Key(): "v1"}
	restored := event(report.EventObject, report.OutcomeDone, plan.ReasonDrifted)
	for name, tt := range map[string]struct {
		events                               []report.Event
		timer, fight, wrote, stopped, waited bool
	}{
		"nothing":                    {},
		"a written object":           {events: []report.Event{event(report.EventObject, report.OutcomeDone, plan.ReasonChanged)}, wrote: true},
		"an unchanged one":           {events: []report.Event{event(report.EventObject, report.OutcomeUnchanged, plan.ReasonUpToDate)}},
		"one that another restores":  {events: slices.Repeat([]report.Event{restored}, 20), wrote: true, fight: true, timer: true},
		"a failed node":              {events: []report.Event{event(report.EventNode, report.OutcomeFailed, "")}, timer: true},
		"a suspended node":           {events: []report.Event{event(report.EventNode, report.OutcomeSkipped, plan.ReasonSuspended)}},
		"an interrupted node":        {events: []report.Event{event(report.EventNode, report.OutcomeInterrupted, "")}},
		"a stopped form":             {events: []report.Event{event(report.EventNode, report.OutcomeSkipped, plan.ReasonFormStopped)}, timer: true, stopped: true},
		"a form that goes on":        {events: []report.Event{event(report.EventNode, report.OutcomeSkipped, plan.ReasonFormStopped), event(report.EventNode, report.OutcomeDone, "")}, timer: true},
		"an object that isn't ready": {events: []report.Event{event(report.EventWait, "", "")}, waited: true},
		"an object that became so":   {events: []report.Event{event(report.EventWait, "", ""), event(report.EventReady, "", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			var s nodeStates
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			s.wants(wanted)
			s.begin()
			timer, fought := false, false
			for i := range tt.events {
				set, begins := s.observe(&tt.events[i], now)
				timer, fought = timer || set, fought || begins != nil
			}
			if timer != tt.timer || fought != tt.fight || s.muted(ref, now) != tt.fight || len(s.takeFights()) > 0 != tt.fight {
				t.Errorf("timer %t, fight %t, muted %t", timer, fought, s.muted(ref, now))
			}
			if again := s.takeFights(); len(again) > 0 {
				t.Errorf("fights are new twice: %v", again)
			}
			if wrote := s.didWrite(); wrote != tt.wrote || s.didWrite() {
				t.Errorf("wrote: %t", wrote)
			}
			if forms := slices.Collect(maps.Keys(s.stoppedForms())); len(forms) > 0 != tt.stopped {
				t.Errorf("stopped forms: %v", forms)
			}
			if objects := s.waitsFor(); len(objects) > 0 != tt.waited {
				t.Errorf("waits for %v", objects)
			}
			s.settle(map[lynq.NodeKey]watch.End{node.Key(): watch.EndWell}, wanted, now)
			failed := slices.ContainsFunc(tt.events, func(e report.Event) bool { return e.Type == report.EventNode && e.Outcome == report.OutcomeFailed })
			if waits := s.waiting(lynq.NodeKey{}) > 0; failed && !waits || s.due(wanted, now)[node.Key()] {
				t.Errorf("a failed node waits: %t, and is due: %t", waits, s.due(wanted, now)[node.Key()])
			}
		})
	}
}
