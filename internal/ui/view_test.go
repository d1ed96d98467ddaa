package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// busy returns the events in the middle of a run, and the time then.
func busy() ([]report.Event, time.Time) {
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var events []report.Event
	observe := func(after time.Duration, e report.Event) {
		e.Time = start.Add(after)
		events = append(events, e)
	}
	observe(0, report.Event{Type: report.EventPlan, Nodes: 150})
	observe(0, report.Event{Type: report.EventPlan, Nodes: 50})
	for i := range 120 {
		outcome := report.OutcomeDone
		if i%40 == 0 {
			outcome = report.OutcomeFailed
		}
		key := lynq.NodeID{Name: fmt.Sprintf("n%d", i)}
		observe(time.Minute, report.Event{Type: report.EventObject, NodeID: key, Details: report.Details{Action: plan.ActionUpdate, Outcome: outcome}})
		observe(time.Minute, report.Event{Type: report.EventReady, NodeID: key})
		observe(time.Minute, report.Event{Type: report.EventNode, NodeID: key, Details: report.Details{Outcome: outcome}})
	}
	for i, why := range []string{"0 of 3 replicas are available", "名前空間を待っています、名前空間を待っています、名前空間を待っています", "👩‍👩‍👧 is pending", "a\x1b[31mb", "", "seventh", "sixth"} {
		observe(time.Duration(10+i%6)*time.Second, report.Event{
			Type: report.EventWait, Details: report.Details{Message: why, Object: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: fmt.Sprintf("app-%d", i)}}, NodeID: lynq.NodeID{Namespace: "default", Name: fmt.Sprintf("tenant-%d-web", i)},
		})
	}
	return events, start.Add(65 * time.Second)
}

func TestView(t *testing.T) {
	events, now := busy()
	var b strings.Builder
	for _, size := range [][2]int{{100, 24}, {80, 24}, {50, 24}, {20, 4}, {1, 1}} {
		lines := ui.View(events, now, size[0], size[1], false)
		fmt.Fprintf(&b, "== %d columns, %d rows\n%s\n", size[0], size[1], strings.Join(lines, "\n"))
		for _, line := range lines {
			if width := ansi.StringWidth(line); width >= size[0] && size[0] > 1 {
				t.Errorf("%d columns taken of %d: %q", width, size[0], line)
			}
		}
		var plain []string
		for _, line := range ui.View(events, now, size[0], size[1], true) {
			plain = append(plain, ansi.Strip(line))
		}
		if diff := cmp.Diff(lines, plain); diff != "" {
			t.Errorf("colours change the text: %s", diff)
		}
	}
	golden(t, "view.txt", b.String())
}

// TestViewForgetsWhatEnded wants no wait for an object whose step ended, even if it never
// became ready. A deleted object never does.
func TestViewForgetsWhatEnded(t *testing.T) {
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	about := func(e report.Event) report.Event {
		e.Time, e.NodeID, e.Object = start, lynq.NodeID{Namespace: "shop", Name: "acme-web"}, lynq.Ref{Kind: "Secret", Namespace: "shop", Name: "acme"}
		return e
	}
	for _, outcome := range []report.Outcome{report.OutcomeDone, report.OutcomeFailed, report.OutcomeNotReady, report.OutcomeSkipped} {
		t.Run(string(outcome), func(t *testing.T) {
			events := []report.Event{{Type: report.EventPlan, Time: start, Nodes: 1}, about(report.Event{Type: report.EventWait, Details: report.Details{Message: "is being deleted"}})}
			shown := func() string { return strings.Join(ui.View(events, start, 80, 24, false), "\n") }
			if !strings.Contains(shown(), "is being deleted") {
				t.Fatalf("it does not wait:\n%s", shown())
			}
			events = append(events, about(report.Event{Type: report.EventObject, Details: report.Details{Action: plan.ActionDelete, Outcome: outcome}}))
			if strings.Contains(shown(), "is being deleted") {
				t.Errorf("%s: it still waits:\n%s", outcome, shown())
			}
		})
	}
}
