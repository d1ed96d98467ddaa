package ui_test

import (
	"errors"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestResult(t *testing.T) {
	for name, o := range map[string]ui.Options{
		"result-table.txt": {},
		"result-color.txt": {Format: tty.Table, Out: tty.Stream{Color: true}},
		"result-wide.txt":  {Format: tty.Wide},
		"result-name.txt":  {Format: tty.Name},
		"result-yaml.txt":  {Format: tty.YAML},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(o)
			c.tell(story())
			if err := c.result(plans()); err != nil {
				t.Fatal(err)
			}
			golden(t, name, c.out.String())
		})
	}
}

// TestResultOfInterruptedRun wants nodes that the run didn't reach to look unfinished.
func TestResultOfInterruptedRun(t *testing.T) {
	c := newConsole(ui.Options{})
	c.tell(story()[:8])
	if err := c.result(plans()); err != nil {
		t.Fatal(err)
	}
	golden(t, "result-interrupted.txt", c.out.String())
}

// TestWhatIsUnknownIsToldOnce wants one line for a failed read, with the number of nodes
// that lynqctl keeps because of it.
func TestWhatIsUnknownIsToldOnce(t *testing.T) {
	unknown := &plan.UnknownError{Causes: []error{errors.New("secrets is forbidden")}}
	var nodes []plan.NodePlan
	var events []report.Event
	for _, name := range []string{"a-web", "b-web", "c-web"} {
		key := lynq.NodeID{Namespace: "shop", Name: name}
		err := error(unknown)
		if name == "b-web" {
			err = &plan.UnknownError{Causes: []error{errors.New("a webhook is broken")}}
		}
		nodes = append(nodes, plan.NodePlan{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: key.Namespace, Name: key.Name}, Desired: &plan.Node{NodeID: lynq.NodeID{Namespace: key.Namespace, Name: key.Name}, Failed: err}})
		events = append(events, report.Event{Type: report.EventNode, NodeID: key, Details: report.Details{Reason: plan.ReasonUnknown, Outcome: report.OutcomeFailed, Message: err.Error()}})
	}
	all := []plan.Plan{{Hub: crm(), Nodes: nodes}}
	events = append(events, report.Event{Type: report.EventSummary, Summary: &report.Summary{Nodes: map[report.Outcome]int{report.OutcomeFailed: 3}}})
	for name, tell := range map[string]func(c *console) error{
		"result-unknown.txt": func(c *console) error { c.tell(events); return c.result(all) },
		"plan-unknown.txt":   func(c *console) error { return c.Plan(all) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(ui.Options{})
			if err := tell(c); err != nil {
				t.Fatal(err)
			}
			golden(t, name, c.err.String()+c.out.String())
		})
	}
}

func TestResultOfNothingIsEmpty(t *testing.T) {
	unchanged := plans()
	unchanged[0].Nodes = unchanged[0].Nodes[2:3]
	for _, format := range []tty.Format{tty.Table, tty.Wide, tty.Name} {
		t.Run(string(format), func(t *testing.T) {
			c := newConsole(ui.Options{Format: format})
			c.Report(report.Event{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: crm()}})
			c.Report(report.Event{Type: report.EventSummary, Summary: &report.Summary{
				Nodes: map[report.Outcome]int{report.OutcomeUnchanged: 1}, Objects: map[report.Outcome]int{report.OutcomeUnchanged: 1}}})
			if err := c.result(unchanged); err != nil {
				t.Fatal(err)
			}
			if c.out.Len() > 0 {
				t.Errorf("-o %s prints %q", format, c.out)
			}
			if got, want := c.err.String(), "1 node: 1 unchanged; 1 object: 1 unchanged; 0.0s\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	for name, o := range map[string]ui.Options{
		"plan-table.txt": {},
		"plan-color.txt": {Out: tty.Stream{Color: true}},
		"plan-wide.txt":  {Format: tty.Wide},
		"plan-name.txt":  {Format: tty.Name},
		"plan-yaml.txt":  {Format: tty.YAML},
		"plan-json.txt":  {Format: tty.JSON},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(o)
			if err := c.Plan(plans()); err != nil {
				t.Fatal(err)
			}
			golden(t, name, c.out.String())
		})
	}
}

// TestPlanAfterServerDryRun wants the plan of a server dry run to show the server's
// refusals.
func TestPlanAfterServerDryRun(t *testing.T) {
	for name, o := range map[string]ui.Options{
		"plan-server-table.txt": {DryRun: true},
		"plan-server-yaml.txt":  {DryRun: true, Format: tty.YAML},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(o)
			c.tell(story())
			if err := c.tried(plans()); err != nil {
				t.Fatal(err)
			}
			golden(t, name, c.out.String())
		})
	}
	c := newConsole(ui.Options{DryRun: true, Format: tty.JSON})
	c.tell(story())
	before := c.out.String()
	if err := c.tried(plans()); err != nil {
		t.Fatal(err)
	}
	if c.out.String() != before {
		t.Error("the plan was told twice")
	}
}

func TestPlanOfNothing(t *testing.T) {
	unchanged := plans()
	unchanged[0].Nodes = unchanged[0].Nodes[2:3]
	c := newConsole(ui.Options{})
	if err := c.Plan(unchanged); err != nil {
		t.Fatal(err)
	}
	if got, want := c.out.String(), "No changes: 1 node is up to date\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRefuse(t *testing.T) {
	refusals := []plan.Refusal{
		{Guard: plan.GuardMaxDelete, Hub: crm(), What: "60 of 200 nodes would be deleted, the limit is 50 (--max-delete=25%)", Fix: "check the rows; to do this anyway, pass --max-delete=60"},
		{Guard: plan.GuardLock, What: "ci@runner-7 holds the hub"},
	}
	c := newConsole(ui.Options{})
	if err := c.Refuse(refusals); err != nil {
		t.Fatal(err)
	}
	want := `refused (max-delete): hub shop/crm: 60 of 200 nodes would be deleted, the limit is 50 (--max-delete=25%)
  check the rows; to do this anyway, pass --max-delete=60
refused (lock): ci@runner-7 holds the hub
`
	if got := c.err.String(); got != want || c.out.Len() > 0 {
		t.Errorf("got %q and %q, want %q", got, c.out, want)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("pipe is gone") }

// TestWriteErrors wants an error if lynqctl can't write all output for scripts. It may lose
// progress.
func TestWriteErrors(t *testing.T) {
	out := ui.StreamTo(broken{}, tty.Stream{})
	for _, format := range []tty.Format{tty.Table, tty.YAML, tty.JSON} {
		t.Run(string(format), func(t *testing.T) {
			c := newConsole(ui.Options{Format: format, Out: out})
			c.tell(story())
			if err := c.result(plans()); err == nil {
				t.Errorf("Result with -o %s forgets the error", format)
			}
			c = newConsole(ui.Options{Format: format, Out: out})
			if err := c.Plan(plans()); err == nil {
				t.Errorf("Plan with -o %s forgets the error", format)
			}
		})
	}
	c := newConsole(ui.Options{Err: ui.StreamTo(broken{}, tty.Stream{})})
	c.tell(story())
	c.close(t)
	if err := newConsole(ui.Options{Err: ui.StreamTo(broken{}, tty.Stream{})}).Refuse([]plan.Refusal{{What: "no"}}); err == nil {
		t.Error("Refuse forgets the error")
	}
}
