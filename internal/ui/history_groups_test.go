package ui_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// runOfMany returns a run that updates a ConfigMap of each of some nodes. One node also loses a
// Service, and another has a message.
func runOfMany(hub string, nodes int) ui.Run {
	r := ui.Run{Hub: lynq.HubKey{Namespace: "shop", Name: hub}, Entry: &history.Entry{Run: "r", MoreNodes: 1}}
	for i := range nodes {
		n := history.Node{Namespace: "shop", Name: fmt.Sprintf("a%02d-web", i), Form: "web", Outcome: "done"}
		n.Objects = []history.Object{{RefFields: lynq.RefFields{Kind: "ConfigMap", Name: n.Name}, ID: "settings", Action: "update", Reason: "Changed", Outcome: "done"}}
		switch i {
		case 3:
			n.Objects = append(n.Objects, history.Object{RefFields: lynq.RefFields{Kind: "Service", Name: n.Name}, ID: "door", Action: "delete", Reason: "Removed", Outcome: "done"})
		case 5:
			n.Outcome, n.Message = "failed", "something is wrong"
		case 7:
			n.MoreObjects = 2
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

// TestRunDetailsGroups wants one line for the same change in more than ten nodes, and a line for
// each node that has something of its own. No two groups of several runs have the same number, and those that delete come first.
func TestRunDetailsGroups(t *testing.T) {
	runs := []ui.Run{runOfMany("crm", 12), runOfMany("mail", 11), runOfMany("small", 3)}
	lines := func(e ui.Expand) []string {
		t.Helper()
		all, err := ui.RunDetails(runs, e, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, d := range all {
			for _, i := range d.Parts.Items {
				texts = append(texts, i.Cells[0])
			}
			texts = append(texts, d.Parts.Footer...)
		}
		return texts
	}
	const footer = "A group stands for the same change in each of its nodes. To list each object, pass --expand=N."
	own := []string{"shop/a03-web", "Service/a03-web", "shop/a05-web", "shop/a07-web", "and 2 objects", "and 1 node with 0 objects"}
	small := []string{"shop/a00-web", "ConfigMap/a00-web", "shop/a01-web", "ConfigMap/a01-web", "shop/a02-web", "ConfigMap/a02-web", "and 1 node with 0 objects"}
	want := append([]string{"#3  ConfigMap settings in 12 nodes (a00-web, a01-web, a02-web and 9 more)"}, append(own, footer)...)
	want = append(append(append(want, "#4  ConfigMap settings in 11 nodes (a00-web, a01-web, a02-web and 8 more)"), append(own, footer)...), small...)
	if got := lines(ui.Expand{}); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, tt := range []struct {
		expand        ui.Expand
		groups, lines int
	}{{ui.Expand{All: true}, 0, 12*2 + 2 + 1 + 11*2 + 2 + 1 + len(small)}, {ui.Expand{Group: 3}, 1, 12*2 + 2 + 1 + len(own) + 2 + len(small)}} {
		got := lines(tt.expand)
		if groups := strings.Count(strings.Join(got, "\n"), "#"); groups != tt.groups || len(got) != tt.lines {
			t.Errorf("%+v: %d groups, %d lines:\n%s", tt.expand, groups, len(got), strings.Join(got, "\n"))
		}
	}
	_, err := ui.RunDetails(runs, ui.Expand{Group: 99}, time.Time{})
	if _, ok := errors.AsType[*changeset.NoGroupError](err); !ok {
		t.Error(err)
	}
}

// TestRunDetailsNamesBadNodes wants the nodes that ended badly beside the objects that the run
// wrote well: one line for many with one cause, and a line for each other.
func TestRunDetailsNamesBadNodes(t *testing.T) {
	run := runOfMany("crm", 26)
	for i := range run.Nodes {
		n := &run.Nodes[i]
		n.Objects, n.MoreObjects = n.Objects[:1], 0
		switch {
		case i < 12:
			n.Outcome, n.Reason, n.Message = "not-ready", "NotReady", ""
		case i < 24:
			n.Outcome, n.Message, n.Objects = "failed", fmt.Sprintf("ConfigMap/%s: too long", n.Name), nil
		case i == 24:
			n.Outcome, n.Reason = "not-ready", "Timeout"
		}
	}
	all, err := ui.RunDetails([]ui.Run{run}, ui.Expand{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, i := range all[0].Parts.Items {
		lines = append(lines, strings.Join(i.Cells[:4], "|"))
	}
	want := []string{
		"#1  ConfigMap settings in 14 nodes (a00-web, a01-web, a02-web and 11 more)|update|Changed|done",
		"#2  12 nodes (a00-web, a01-web, a02-web and 9 more)||NotReady|not-ready",
		"#3  12 nodes (a12-web, a13-web, a14-web and 9 more)||too long|failed",
		"shop/a24-web||Timeout|not-ready", "and 1 node with 0 objects|||",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
