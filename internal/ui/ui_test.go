package ui_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

var update = flag.Bool("update", false, "write golden files, and the examples of docs/events.md")

func crm() lynq.HubKey { return lynq.HubKey{Namespace: "shop", Name: "crm"} }

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it):\n%s", path, diff)
	}
}

// clock returns the time that a test set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.FixedZone("", 3600))}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// console is a reporter with its clock and output.
type console struct {
	*ui.Reporter
	*clock
	out, err *bytes.Buffer
	ticks    chan time.Time
	told     sync.Mutex
	events   []report.Event // told guards it
}

func newConsole(o ui.Options) *console {
	c := &console{clock: newClock(), out: &bytes.Buffer{}, err: &bytes.Buffer{}, ticks: make(chan time.Time)}
	if unset(o.Out) {
		o.Out = ui.StreamTo(c.out, o.Out)
	}
	if unset(o.Err) {
		o.Err = ui.StreamTo(c.err, o.Err)
	}
	o.Now, o.Tick = c.Now, c.ticks
	c.Reporter = ui.NewReporter(o)
	return c
}

// tick tells the reporter the time twice. The reporter takes a tick only after it has handled
// the previous one, so it has handled the first. The second has the same time and changes
// nothing, whatever the clock says by then.
func (c *console) tick() {
	now := c.Now()
	c.ticks <- now
	c.ticks <- now
}

func (c *console) close(t *testing.T) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

var (
	acme = lynq.NodeID{Hub: crm(), Namespace: "default", Name: "acme-web"}
	beta = lynq.NodeID{Hub: crm(), Namespace: "default", Name: "beta-web"}
	gone = lynq.NodeID{Hub: crm(), Namespace: "default", Name: "gone-web"}
	calm = lynq.NodeID{Hub: crm(), Namespace: "default", Name: "calm-web"}
	left = lynq.NodeID{Hub: crm(), Namespace: "default", Name: "left-web"}
	torn = lynq.NodeID{Hub: crm(), Namespace: "default", Name: "torn-web"}
)

func ref(kind, name string) lynq.Ref {
	group := ""
	switch kind {
	case "Deployment":
		group = "apps"
	case "Namespace":
		return lynq.Ref{Kind: kind, Name: name}
	}
	return lynq.Ref{Group: group, Kind: kind, Namespace: "default", Name: name}
}

var leftSince = time.Date(2026, 3, 4, 4, 6, 7, 0, time.UTC)

const fieldConflict = `.spec.replicas is managed by "helm" (set conflictPolicy: Force to take it over, or ignoreFields to leave it)`

// compared returns the evidence about the story's rows.
func compared() *evidence.Evidence {
	return &evidence.Evidence{
		Last: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Before: evidence.Counts{Rows: 6, Active: 4, Inactive: 2}, Now: evidence.Counts{Rows: 5, Active: 4, Inactive: 1},
		NewColumns: []string{"zone"}, GoneColumns: []string{"size"},
		Rows: &evidence.Rows{New: 1, Vanished: 1, Deactivated: 0, Compared: 3, Changed: 2, Sampled: true,
			Columns: []evidence.Column{{Name: "plan", Changed: 2, Emptied: 1}, {Name: "token", Secret: true}}},
	}
}

// story returns the events of a run that has every kind of event.
func story() []report.Event {
	object := func(node lynq.NodeID, kind, name, id string, a plan.Action, r plan.Reason, o report.Outcome, message string) report.Event {
		return report.Event{Type: report.EventObject, NodeID: node, Details: report.Details{Object: ref(kind, name), ID: id, Action: a, Reason: r, Outcome: o, Message: message}}
	}
	return []report.Event{
		{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: crm()}, Nodes: 4, Counts: map[plan.Action]int{
			plan.ActionCreate: 2, plan.ActionUpdate: 2, plan.ActionKeep: 3, plan.ActionDelete: 1, plan.ActionBlock: 1, plan.ActionSkip: 1},
			AdoptedCounts: map[plan.Action]int{plan.ActionDelete: 1}, Evidence: compared()},
		{Type: report.EventNodeStart, NodeID: acme},
		object(acme, "Namespace", "acme", "ns", plan.ActionCreate, plan.ReasonNew, report.OutcomeDone, ""),
		{Type: report.EventWait, NodeID: acme, Details: report.Details{Object: ref("Deployment", "acme-app"), ID: "app", Message: "0 of 3 replicas are available"}},
		{Type: report.EventReady, NodeID: acme, Details: report.Details{Object: ref("Deployment", "acme-app"), ID: "app"}},
		object(acme, "Deployment", "acme-app", "app", plan.ActionUpdate, plan.ReasonChanged, report.OutcomeDone, ""),
		object(acme, "Secret", "acme", "secret", plan.ActionSkip, plan.ReasonUnmanaged, report.OutcomeSkipped, "bears lynq.sh/mode: unmanaged"),
		{Type: report.EventNode, NodeID: acme, Details: report.Details{Outcome: report.OutcomeDone}},
		{Type: report.EventNodeStart, NodeID: beta},
		object(beta, "Deployment", "beta-app", "app", plan.ActionUpdate, plan.ReasonChanged, report.OutcomeConflicted, fieldConflict),
		object(beta, "Service", "beta", "svc", plan.ActionBlock, plan.ReasonForeign, report.OutcomeConflicted, "it belongs to Release helm/beta"),
		object(beta, "ConfigMap", "beta", "config", plan.ActionCreate, plan.ReasonNew, report.OutcomeSkipped, "Deployment default/beta-app, which it depends on, failed"),
		{Type: report.EventWarning, NodeID: beta, Details: report.Details{Object: ref("ConfigMap", "beta"), ID: "config", Message: "unknown field \"spec.foo\""}},
		{Type: report.EventNode, NodeID: beta, Details: report.Details{Outcome: report.OutcomeConflicted, Message: "Deployment/default/beta-app: " + fieldConflict + "; Service/default/beta: it belongs to Release helm/beta; the record could not be saved: 503", Next: showBeta}, Problems: betaProblems()},
		{Type: report.EventNodeStart, NodeID: gone},
		{Type: report.EventObject, NodeID: gone, Details: report.Details{Object: ref("ConfigMap", "gone"), ID: "config", Action: plan.ActionDelete, Reason: plan.ReasonNodeGone, Outcome: report.OutcomeDone, Adopted: true}},
		{Type: report.EventNode, NodeID: gone, Details: report.Details{Outcome: report.OutcomeDone}},
		{Type: report.EventNode, NodeID: torn, Details: report.Details{Outcome: report.OutcomeFailed, Message: "row \"torn\": port is not a number"}},
		{Type: report.EventLeaving, NodeID: left, Since: leftSince, Until: leftSince.Add(72 * time.Hour), Begins: true, Details: report.Details{Message: "its row is inactive or missing, and lynqctl deletes the node at 2026-03-07T04:06:07Z (deletionGracePeriod)"}},
		{Type: report.EventSummary, Summary: &report.Summary{
			Leaving: 1,
			Hubs:    []lynq.HubKey{crm()},
			Nodes:   map[report.Outcome]int{report.OutcomeDone: 2, report.OutcomeUnchanged: 1, report.OutcomeConflicted: 1, report.OutcomeFailed: 1},
			Objects: map[report.Outcome]int{report.OutcomeDone: 3, report.OutcomeUnchanged: 3, report.OutcomeSkipped: 2, report.OutcomeConflicted: 2},
			Actions: map[plan.Action]int{plan.ActionCreate: 1, plan.ActionUpdate: 1, plan.ActionDelete: 1},
			Adopted: map[plan.Action]int{plan.ActionDelete: 1},
			Failed: []report.NodeResult{
				{NodeID: lynq.NodeID{Hub: crm(), Form: lynq.FormKey{Name: "web"}, Namespace: beta.Namespace, Name: beta.Name}, Outcome: report.OutcomeConflicted, Problems: betaProblems(), Next: showBeta},
				{NodeID: lynq.NodeID{Hub: crm(), Form: lynq.FormKey{Name: "web"}, Namespace: torn.Namespace, Name: torn.Name}, Outcome: report.OutcomeFailed, Problems: report.ProblemsIn("row \"torn\": port is not a number")},
			},
			Unready: []report.Unready{{
				Node: acme.Key(), Object: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "acme-db"}, Message: "0 of 1 replicas available",
			}},
			Elapsed: 3214567 * time.Microsecond,
		}},
	}
}

// betaProblems are the problems of a failed node.
func betaProblems() []report.Details {
	return []report.Details{
		{Object: ref("Deployment", "beta-app"), Outcome: report.OutcomeConflicted, Message: fieldConflict},
		{Object: ref("Service", "beta"), Outcome: report.OutcomeConflicted, Message: "it belongs to Release helm/beta"},
		{Message: "the record could not be saved: 503"},
	}
}

// showBeta is the command that shows more of a failed node.
const showBeta = "lynqctl status node beta-web -n default"

// plans returns the plans that the story carries out, unordered.
func plans() []plan.Plan {
	want := func(a plan.Action, r plan.Reason, id string, object lynq.Ref, message string) plan.Step {
		return plan.Step{Action: a, Reason: r, Message: message, Object: &plan.Object{Ref: object, ID: id}}
	}
	keep := func(id string, object lynq.Ref, ready bool) plan.Step {
		s := want(plan.ActionKeep, plan.ReasonUpToDate, id, object, "")
		s.Entry = &inventory.Entry{Ref: object, ID: id, Ready: ready}
		return s
	}
	node := func(key lynq.NodeID, uid string, steps ...plan.Step) plan.NodePlan {
		return plan.NodePlan{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: uid, Namespace: key.Namespace, Name: key.Name}, Desired: &plan.Node{NodeID: lynq.NodeID{Namespace: key.Namespace, Name: key.Name}}, Steps: steps}
	}
	broken := node(torn, "torn")
	broken.Desired.Failed = errors.New("row \"torn\": port is not a number")
	leaving := node(gone, "gone", plan.Step{Action: plan.ActionDelete, Reason: plan.ReasonNodeGone, Adopted: true,
		Entry: &inventory.Entry{Ref: ref("ConfigMap", "gone"), ID: "config"}})
	leaving.Desired = nil
	return []plan.Plan{{
		Hub:    crm(),
		Counts: story()[0].Counts, Adopted: story()[0].AdoptedCounts,
		Nodes: []plan.NodePlan{
			leaving,
			broken,
			node(calm, "calm", keep("config", ref("ConfigMap", "calm"), true)),
			node(beta, "beta",
				want(plan.ActionUpdate, plan.ReasonChanged, "app", ref("Deployment", "beta-app"), ""),
				want(plan.ActionBlock, plan.ReasonForeign, "svc", ref("Service", "beta"), "it belongs to Release helm/beta"),
				want(plan.ActionCreate, plan.ReasonNew, "config", ref("ConfigMap", "beta"), "")),
			node(acme, "acme",
				want(plan.ActionCreate, plan.ReasonNew, "ns", ref("Namespace", "acme"), ""),
				want(plan.ActionUpdate, plan.ReasonChanged, "app", ref("Deployment", "acme-app"), "the form changed"),
				keep("svc", ref("Service", "acme"), true),
				keep("old", ref("ConfigMap", "old"), false),
				want(plan.ActionSkip, plan.ReasonUnmanaged, "secret", ref("Secret", "acme"), "bears lynq.sh/mode: unmanaged")),
		},
	}}
}

func (c *console) tell(events []report.Event) {
	for _, e := range events {
		c.Report(e)
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// unset reports whether a stream has no output yet.
func unset(s tty.Stream) bool { return reflect.ValueOf(s).FieldByName("out").IsZero() }
