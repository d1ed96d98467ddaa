package command

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/metrics"
)

// TestBoard wants the table to show what the watch reported, and nothing outdated.
func TestBoard(t *testing.T) {
	m, err := metrics.New(metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &board{Metrics: m, refused: refusals{now: time.Now}}
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	crm, erp := lynq.HubKey{Namespace: "shop", Name: "crm"}, lynq.HubKey{Namespace: "shop", Name: "erp"}
	shows := func(what string, want ...[]string) *list.List {
		t.Helper()
		hubs, badInputs := b.facts()
		l := ui.WatchList(hubs, badInputs, noon)
		var got [][]string
		for _, item := range l.Items {
			got = append(got, item.Cells)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", what, diff)
		}
		return l
	}
	shows("nothing")
	b.Keeps([]watchcmd.Watched{{HubKey: crm}, {HubKey: erp}})
	nothing := []string{"shop/erp", "", "", "", "", "", "", "starting"}
	shows("begun", []string{"shop/crm", "", "", "", "", "", "", "starting"}, nothing)

	b.Leading(crm, true)
	b.Read(crm, 4, 3, noon, nil)
	node := func(name, ready, degraded string) plan.NodePlan {
		return plan.NodePlan{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Namespace: "shop", Name: name}, Desired: &plan.Node{}, Inventory: &inventory.Inventory{
			Node:   lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Namespace: "shop", Name: name},
			Status: inventory.Status{Conditions: []inventory.Condition{{Type: inventory.ConditionReady, Status: ready}, {Type: inventory.ConditionDegraded, Status: degraded}}},
		}}
	}
	b.Planned(&plan.Plan{Hub: crm, Whole: true, Nodes: []plan.NodePlan{node("a", "True", "False"), node("b", "False", "True"), node("c", "False", "False")}}, 0)
	b.Held(crm, []plan.Guard{plan.GuardMaxDelete, plan.GuardEmpty})
	b.Report(report.Event{Type: report.EventNodeStart, NodeID: lynq.NodeID{Hub: crm}, Time: noon})
	b.Report(report.Event{Type: report.EventObject, NodeID: lynq.NodeID{Hub: crm}, Details: report.Details{Action: plan.ActionUpdate, Outcome: report.OutcomeDone}, Time: noon.Add(-time.Minute)})
	b.Report(report.Event{Type: report.EventObject, NodeID: lynq.NodeID{Hub: crm}, Details: report.Details{Action: plan.ActionKeep, Outcome: report.OutcomeDone}, Time: noon})
	b.Report(report.Event{Type: report.EventObject, NodeID: lynq.NodeID{Hub: crm}, Details: report.Details{Action: plan.ActionUpdate, Outcome: report.OutcomeFailed}, Time: noon})
	shows("at work", []string{"shop/crm", "4", "3", "1/3", "1", "allow-empty,max-delete", "60s", "applying"}, nothing)

	b.Report(report.Event{Type: report.EventSummary, Summary: &report.Summary{Hubs: []lynq.HubKey{crm}}})
	b.Ended(crm, nil)
	b.Read(crm, 0, 0, time.Time{}, errors.New("down"))
	b.Inputs(false)
	b.Leading(erp, false)
	l := shows("a source that is down", []string{"shop/crm", "4", "3", "1/3", "1", "allow-empty,max-delete", "60s", "source down"}, []string{"shop/erp", "", "", "", "", "", "", "standing by"})
	if len(l.Footer) != 1 {
		t.Errorf("bad inputs are not told: %q", l.Footer)
	}

	b.Read(crm, 4, 3, noon, nil)
	for state, err := range map[string]error{
		"refused": &session.Error{Outcome: session.Refused, Err: session.ErrReported}, "failing": errors.New("down"),
		"watching": &session.Error{Outcome: session.Failed, Err: session.ErrReported},
	} {
		b.Ended(crm, err)
		shows("a round that ended", []string{"shop/crm", "4", "3", "1/3", "1", "allow-empty,max-delete", "60s", state}, []string{"shop/erp", "", "", "", "", "", "", "standing by"})
	}

	b.Leading(crm, false)
	b.Inputs(true)
	b.Ended(erp, errors.New("no Lease"))
	b.Keeps([]watchcmd.Watched{{HubKey: crm}})
	b.Ended(erp, nil) // the watch no longer keeps this hub
	if l := shows("other inputs", []string{"shop/crm", "", "", "", "", "", "60s", "starting"}); len(l.Footer) > 0 {
		t.Errorf("good inputs are told: %q", l.Footer)
	}
}

// TestLastLine checks that the last line of the log names the Leases that the watch couldn't
// give back, by the last term of each hub.
func TestLastLine(t *testing.T) {
	t.Parallel()
	hub := func(name string) lynq.HubKey { return lynq.HubKey{Namespace: "shop", Name: name} }
	kept := func(name string) error {
		return &lease.UnreleasedError{Hub: hub(name), Lease: "lynqctl-" + name, Valid: 30 * time.Second, Err: errors.New("connection refused")}
	}
	const well = "SIGTERM stopped lynqctl. It finished and recorded its current work, and gave its Leases back"
	for name, tt := range map[string]struct {
		ends func(*board)
		want string
	}{
		"standing by":       {func(*board) {}, well},
		"given back":        {func(b *board) { b.Released(hub("crm"), nil) }, well},
		"later given back":  {func(b *board) { b.Released(hub("crm"), kept("crm")); b.Released(hub("crm"), nil) }, well},
		"one isn't":         {func(b *board) { b.Released(hub("erp"), nil); b.Released(hub("crm"), kept("crm")) }, `SIGTERM stopped lynqctl. It gave 1 Lease back. It couldn't give Lease shop/lynqctl-crm back: connection refused. The next run on hub "crm" may wait 30s for it`},
		"two aren't at all": {func(b *board) { b.Released(hub("erp"), kept("erp")); b.Released(hub("crm"), kept("crm")) }, `SIGTERM stopped lynqctl. It couldn't give Lease shop/lynqctl-crm back: connection refused. The next run on hub "crm" may wait 30s for it. It couldn't give Lease shop/lynqctl-erp back: connection refused. The next run on hub "erp" may wait 30s for it`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &board{}
			tt.ends(b)
			if got := (&StopError{Signal: syscall.SIGTERM}).Note(b.leases()); got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}
