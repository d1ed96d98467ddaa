package ui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestLines(t *testing.T) {
	for name, o := range map[string]ui.Options{
		"lines.txt":         {},
		"lines-quiet.txt":   {Quiet: true},
		"lines-dry-run.txt": {DryRun: true},
		"lines-color.txt":   {Err: tty.Stream{Color: true}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(o)
			c.tell(story())
			c.close(t)
			golden(t, name, c.err.String())
			if c.out.Len() > 0 {
				t.Errorf("progress on standard output: %q", c.out)
			}
		})
	}
}

func wait(node lynq.NodeID, name, why string) report.Event {
	return report.Event{Type: report.EventWait, NodeID: node, Details: report.Details{Object: ref("Deployment", name), Message: why}}
}

// TestLinesOfWaiting wants a line every ten seconds about what the run waits for, even
// without events.
func TestLinesOfWaiting(t *testing.T) {
	c := newConsole(ui.Options{})
	c.Report(wait(acme, "a", "0 of 3 replicas"))
	c.forward(9 * time.Second)
	c.Report(wait(acme, "b", "0 of 1 replicas"))
	c.tick()
	if c.err.Len() > 0 {
		t.Errorf("told before ten seconds were over: %q", c.err)
	}
	c.forward(time.Second)
	c.tick()
	c.forward(2 * time.Minute)
	c.Report(wait(acme, "a", "2 of 3 replicas"))
	c.tick()
	c.Report(wait(beta, "c", "pending"))
	c.Report(wait(beta, "d", "pending"))
	c.forward(10 * time.Second)
	c.tick()
	c.forward(10 * time.Second)
	c.tick() // nothing changed except the duration
	c.Report(report.Event{Type: report.EventReady, NodeID: acme, Details: report.Details{Object: ref("Deployment", "a")}})
	c.Report(report.Event{Type: report.EventObject, NodeID: acme, Details: report.Details{Object: ref("Deployment", "b"), Action: plan.ActionUpdate, Outcome: report.OutcomeNotReady, Message: "not in time"}})
	c.Report(report.Event{Type: report.EventNode, NodeID: beta, Details: report.Details{Outcome: report.OutcomeDone}})
	c.forward(time.Minute)
	c.tick() // the run no longer waits
	c.Report(wait(acme, "e", "late"))
	c.tick() // that wait only began
	c.close(t)
	want := `waiting for 2 objects: acme-web  Deployment default/a  10s  0 of 3 replicas; acme-web  Deployment default/b  1s  0 of 1 replicas
waiting for 2 objects: acme-web  Deployment default/a  2m10s  2 of 3 replicas; acme-web  Deployment default/b  2m1s  0 of 1 replicas
waiting for 4 objects: acme-web  Deployment default/a  2m20s  2 of 3 replicas; acme-web  Deployment default/b  2m11s  0 of 1 replicas; beta-web  Deployment default/c  10s  pending; and 1 more
acme-web  Deployment default/b  not ready: not in time
`
	if diff := cmp.Diff(want, c.err.String()); diff != "" {
		t.Error(diff)
	}
}

// TestSkippedNodesAreCounted wants one line for each reason why nodes didn't begin, if a
// run ends early.
func TestSkippedNodesAreCounted(t *testing.T) {
	c := newConsole(ui.Options{})
	skipped := func(name, why string) report.Event {
		return report.Event{Type: report.EventNode, NodeID: lynq.NodeID{Name: name}, Details: report.Details{Outcome: report.OutcomeSkipped, Message: why}}
	}
	c.tell([]report.Event{
		skipped("a", "interrupted before it began"), skipped("b", "interrupted before it began"), skipped("c", "the rollout stopped"),
		{Type: report.EventSummary, Summary: &report.Summary{Interrupted: true, DryRun: true, Elapsed: 2*time.Hour + 5*time.Minute, Nodes: map[report.Outcome]int{report.OutcomeSkipped: 3}}},
	})
	c.close(t)
	want := `2 nodes  skipped: interrupted before it began
c  skipped: the rollout stopped
interrupted: dry run: 3 nodes: 3 skipped; 0 objects; 2h5m
`
	if diff := cmp.Diff(want, c.err.String()); diff != "" {
		t.Error(diff)
	}
}

// TestInterruptionIsOneLine wants one line per hub for an interruption. It wants shared
// problems with the number of nodes.
func TestInterruptionIsOneLine(t *testing.T) {
	c := newConsole(ui.Options{})
	var story []report.Event
	summary := &report.Summary{Interrupted: true, Nodes: map[report.Outcome]int{report.OutcomeInterrupted: 3, report.OutcomeFailed: 3}}
	for _, name := range []string{"a-web", "b-web", "c-web"} {
		key := lynq.NodeID{Hub: crm(), Namespace: "default", Name: name}
		story = append(story,
			report.Event{Type: report.EventObject, NodeID: key, Details: report.Details{Object: ref("Deployment", name), Action: plan.ActionCreate, Outcome: report.OutcomeNotReady, Message: "interrupted while lynqctl waited for it: pending", Interrupted: true}},
			report.Event{Type: report.EventNode, NodeID: key, Details: report.Details{Outcome: report.OutcomeInterrupted, Message: "interrupted before it began"}})
	}
	for _, name := range []string{"d-web", "e-web", "f-web"} {
		summary.Failed = append(summary.Failed, report.NodeResult{NodeID: lynq.NodeID{Hub: crm(), Form: lynq.FormKey{Name: "web"}, Namespace: "default", Name: name}, Outcome: report.OutcomeFailed, Problems: report.ProblemsIn("Deployment/default/" + name + ": exceeded quota")})
	}
	c.tell(append(story, report.Event{Type: report.EventSummary, Summary: summary}))
	c.close(t)
	want := `3 nodes of hub shop/crm  interrupted: progress is saved; run the same command again to continue
3 nodes (d-web, e-web, f-web): exceeded quota
interrupted: 6 nodes: 3 interrupted, 3 failed; 0 objects; 0.0s
`
	if diff := cmp.Diff(want, c.err.String()); diff != "" {
		t.Error(diff)
	}
}

// TestOneCauseOfManyNodes lets hundreds of nodes fail for one cause. Two of them show it at
// once, one line counts them all, and one row has their sums. Few nodes have a row and
// lines each. So has every node with -o wide and -o name.
func TestOneCauseOfManyNodes(t *testing.T) {
	const nodes = 302
	row := regexp.MustCompile(`(?m)^a000-web \+301 +shop +web +604 +302 +0/604 +failed`)
	for name, of := range map[string]struct {
		out    tty.Stream
		format tty.Format
		nodes  int
		least  int // of lines in both streams
		most   int
		folded bool
	}{
		"terminal": {out: tty.Stream{Terminal: true}, nodes: nodes, most: 20, folded: true},
		"pipe":     {nodes: nodes, most: 25, folded: true},
		"wide":     {out: tty.Stream{Terminal: true}, format: tty.Wide, nodes: nodes, least: nodes, most: nodes + 16},
		"name":     {format: tty.Name, nodes: nodes, least: nodes, most: nodes + 25},
		"few":      {nodes: 20, least: 20 + 20, most: 20 + 20 + 10},
	} {
		t.Run(name, func(t *testing.T) {
			failing, all := failures(of.nodes)
			c := newConsole(ui.Options{Out: of.out, Err: of.out, Format: of.format})
			c.tell(failing)
			if err := c.result(all); err != nil {
				t.Fatal(err)
			}
			text := c.err.String() + c.out.String()
			if n := strings.Count(text, "\n"); n < of.least || n > of.most {
				t.Errorf("%d lines, not %d to %d:\n%s", n, of.least, of.most, text)
			}
			if row.MatchString(text) != of.folded {
				t.Errorf("a row for all is there: %t:\n%s", !of.folded, text)
			}
			for _, once := range []string{fmt.Sprintf("%d nodes (a000-web, a001-web, a002-web, and %d more): for example, ", of.nodes, of.nodes-3), "Run 'lynqctl status node NAME -n shop' for details."} {
				if strings.Count(text, once) != 1 {
					t.Errorf("%q is not there once:\n%s", once, text)
				}
			}
		})
	}
}

// failures returns the plan and events of a run in which that many nodes fail for one
// cause.
func failures(nodes int) ([]report.Event, []plan.Plan) {
	planned := plan.Plan{Hub: crm()}
	summary := &report.Summary{Nodes: map[report.Outcome]int{report.OutcomeFailed: nodes}}
	events := []report.Event{{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: crm()}, Nodes: nodes, Counts: map[plan.Action]int{plan.ActionCreate: nodes}}}
	for i := range nodes {
		uid := fmt.Sprintf("a%03d", i)
		node := lynq.NodeID{Hub: crm(), Form: lynq.FormKey{Name: "web"}, UID: uid, Namespace: "shop", Name: uid + "-web"}
		app := ref("Deployment", uid+"-app")
		of := report.Details{Object: app, Action: plan.ActionCreate, Outcome: report.OutcomeFailed, Message: "exceeded quota: few, requested by " + uid + "-app"}
		next := "lynqctl status node " + node.Name + " -n shop"
		settings := ref("ConfigMap", uid)
		planned.Nodes = append(planned.Nodes, plan.NodePlan{NodeID: node, Desired: &plan.Node{NodeID: node}, Steps: []plan.Step{
			{Action: plan.ActionCreate, Object: &plan.Object{Ref: settings}}, {Action: plan.ActionCreate, Object: &plan.Object{Ref: app}}}})
		summary.Failed = append(summary.Failed, report.NodeResult{NodeID: node, Outcome: report.OutcomeFailed, Problems: []report.Details{of}})
		events = append(events,
			report.Event{Type: report.EventObject, NodeID: node, Details: report.Details{Object: settings, Action: plan.ActionCreate, Outcome: report.OutcomeDone}},
			report.Event{Type: report.EventObject, NodeID: node, Details: of},
			report.Event{Type: report.EventObject, NodeID: node, Details: report.Details{Object: ref("Service", uid), Action: plan.ActionCreate, Outcome: report.OutcomeSkipped, Message: app.String() + ", which it depends on, failed"}},
			report.Event{Type: report.EventNode, NodeID: node, Details: report.Details{Outcome: report.OutcomeFailed, Message: of.Problem(), Next: next}, Problems: []report.Details{of}})
	}
	return append(events, report.Event{Type: report.EventSummary, Summary: summary}), []plan.Plan{planned}
}

// TestControlCharacters wants no control character from rows or a cluster on the terminal,
// whatever field it is in.
func TestControlCharacters(t *testing.T) {
	evil := "a\x1b[2Jb\u009b1mc\rd\te\x00f\u202eg\u2028h\xffi\U000e0001j\nforged line"
	for name, o := range map[string]ui.Options{
		"lines": {}, "json": {Format: tty.JSON}, "live": {Err: tty.Stream{Terminal: true}},
		"table": {Format: tty.Table}, "wide": {Format: tty.Wide}, "yaml": {Format: tty.YAML, Out: tty.Stream{Terminal: true}}, "name": {Format: tty.Name},
	} {
		t.Run(name, func(t *testing.T) {
			consoles := reported(t, o, evil)
			run := consoles[0]
			for _, c := range consoles {
				text := c.out.String() + c.err.String()
				if name == "live" {
					text = ownMoves().ReplaceAllString(text, "")
				}
				if strings.ContainsAny(text, "\x1b\u009b\r\t\x00\u202e\u2028\U000e0001") || strings.Contains(text, "\xff") {
					t.Errorf("control characters in %q", text)
				}
				if strings.Contains(text, "\nforged") {
					t.Errorf("a line of its own in %q", text)
				}
			}
			if text := run.out.String() + run.err.String(); !strings.Contains(text, "forged line") {
				t.Errorf("the message is missing from %q", text)
			}
		})
	}
}

// ownMoves matches our own cursor movement: up over the view, and clear.
func ownMoves() *regexp.Regexp { return regexp.MustCompile(`\r\x1b\[\d*A\x1b\[J`) }

type evilError string

func (e evilError) Error() string { return string(e) }

// reported shows a run, its plan and a refusal, with evil as every text of others.
func reported(t *testing.T, o ui.Options, evil string) []*console {
	of := lynq.HubKey{Namespace: evil, Name: evil}
	key := lynq.NodeID{Hub: of, Namespace: evil, Name: evil}
	object := ref(evil, evil)
	e := report.Event{
		NodeID: key, Details: report.Details{Object: object, ID: evil, Action: plan.Action(evil), Reason: plan.Reason(evil), Outcome: report.OutcomeFailed, Message: evil}, Nodes: 1,
	}
	hub := report.Event{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: of}, Nodes: 1, Counts: map[plan.Action]int{plan.ActionCreate: 1}}
	step := plan.Step{Action: e.Action, Reason: e.Reason, Message: evil, Object: &plan.Object{Ref: object, ID: evil}}
	planned := plan.Plan{Hub: of, Nodes: []plan.NodePlan{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: evil}, Form: lynq.FormKey{Name: evil}, UID: evil, Namespace: key.Namespace, Name: key.Name}, Desired: &plan.Node{Failed: evilError(evil)}, Steps: []plan.Step{step}}}}
	run := newConsole(o)
	run.Report(hub)
	if o.Err.Terminal {
		run.Report(wait(key, evil, evil))
		run.tick()
	}
	for _, kind := range []report.EventType{report.EventWarning, report.EventObject, report.EventWait, report.EventNode} {
		e.Type = kind
		run.Report(e)
	}
	run.Report(report.Event{Type: report.EventSummary, Summary: &report.Summary{Hubs: []lynq.HubKey{of}, Failed: []report.NodeResult{
		{NodeID: lynq.NodeID{Hub: of, Form: lynq.FormKey{Name: evil}, Namespace: key.Namespace, Name: key.Name}, Outcome: report.OutcomeFailed, Problems: []report.Details{{Message: evil}}}}}})
	if err := run.result([]plan.Plan{planned}); err != nil {
		t.Fatal(err)
	}
	dry := newConsole(o)
	if err := dry.Plan([]plan.Plan{planned}); err != nil {
		t.Fatal(err)
	}
	no := newConsole(o)
	if err := no.Refuse([]plan.Refusal{{Guard: plan.Guard(evil), Hub: of, What: evil, Fix: evil}}); err != nil {
		t.Fatal(err)
	}
	return []*console{run, dry, no}
}
