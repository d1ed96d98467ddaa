package gitops

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// suspend suspends a node, as the command does.
func (s *site) suspend(node string, why *inventory.Suspension) {
	s.Helper()
	d, err := OpenDir(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	x, err := d.Existing()
	if err == nil {
		err = d.SaveIndex(context.Background(), x.Suspend(lynq.NodeKey{Namespace: "default", Name: node}, why))
	}
	if err != nil {
		s.Fatal(err)
	}
}

func suspendDay(hour int) time.Time { return time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) }

// TestSuspended checks that a run leaves the files of a suspended node as they are, and that
// the lists still name them.
func TestSuspended(t *testing.T) {
	acme, bolt, none := rowNode("crm", "acme", "2"), rowNode("crm", "bolt", "2"), rowNode("crm", "acme", "").NodeID
	renamed := map[lynq.HubKey]Rows{{Name: "crm"}: {Active: 2, Renames: &lynq.Renames{UIDs: map[string]string{"acme": "coda"}, Active: map[string]bool{"coda": true, "bolt": true}}}}
	for name, tt := range map[string]struct {
		nodes   []*Node
		change  func(*Input)
		left    bool // its row was gone before
		resume  bool
		changes bool // the run changes or removes the files
		said    int  // suspended nodes in the report
	}{
		"its row is gone":         {nodes: []*Node{bolt}, said: 1},
		"its row changed":         {nodes: []*Node{bolt, acme}, said: 1},
		"it renders nothing":      {nodes: []*Node{bolt, {NodeID: none}}, said: 1},
		"it fails to render":      {nodes: []*Node{bolt, {NodeID: none, Failed: true}}, said: 1},
		"its stage comes later":   {nodes: []*Node{bolt, {NodeID: none, Waits: true}}, said: 1},
		"its form is gone":        {change: func(in *Input) { in.Hubs[0].Forms[0].Name = "db" }},
		"its hub is gone":         {nodes: []*Node{rowNode("erp", "east", "1")}, change: func(in *Input) { in.Hubs = in.Hubs[:1] }},
		"the layout changes":      {nodes: []*Node{bolt, acme}, change: func(in *Input) { in.PerNode = true }, said: 1},
		"the run spreads nodes":   {nodes: []*Node{bolt, acme}, change: func(in *Input) { in.Spread = true }, said: 1},
		"a label selects":         {nodes: []*Node{bolt, acme}, change: func(in *Input) { in.Selected = true }, said: 1},
		"its row has another uid": {nodes: []*Node{bolt, rowNode("crm", "coda", "2")}, change: func(in *Input) { in.Rows = renamed }, said: 1},
		"another uid, with apps": {nodes: []*Node{bolt, rowNode("crm", "coda", "2")}, change: func(in *Input) {
			in.Rows, in.Apps = renamed, oneApp("apps/all.yaml")
		}, said: 1},
		"its grace period is over": {nodes: []*Node{bolt}, left: true, change: func(in *Input) {
			in.Hubs[0].Grace = map[lynq.FormKey]time.Duration{{Name: "web"}: time.Hour}
		}, said: 1},
		"it takes another's object": {nodes: []*Node{bolt, {NodeID: none, Objects: rowNode("crm", "cord", "1").Objects}}, said: 1},
		"before its end":            {nodes: []*Node{bolt, acme}, change: func(in *Input) { in.Now = suspendDay(11) }, said: 1},
		"at its end":                {nodes: []*Node{bolt, acme}, change: func(in *Input) { in.Now = suspendDay(12) }, changes: true},
		"at its end, without a row": {nodes: []*Node{bolt}, change: func(in *Input) { in.Now = suspendDay(12) }, changes: true},
		"resumed":                   {nodes: []*Node{bolt, acme}, resume: true, changes: true},
		"resumed, without a row":    {nodes: []*Node{bolt}, resume: true, changes: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.quick = true
			s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "bolt", "1"), rowNode("crm", "cord", "1")}))
			before := s.files()
			s.suspend("acme-web", &inventory.Suspension{By: "ann", Until: suspendDay(12)})
			after := s.files()
			x := s.index()
			if after[index.FileName] = before[index.FileName]; !maps.Equal(before, after) {
				t.Errorf("suspend changes other files")
			}
			if tt.resume {
				s.suspend("acme-web", nil)
			}
			for i := range x.Entries {
				if tt.left && !x.Entries[i].Shared() {
					x.Entries[i].LeavingSince = suspendDay(0)
					s.write(index.FileName, string(x.Encode()))
				}
			}
			in := inputOf(cloned(tt.nodes), "crm")
			in.Now, in.Limits.MaxDelete = suspendDay(10), limits.MaxDelete{Nodes: 9}
			if tt.change != nil {
				tt.change(in)
			}
			d, p := s.plan(in)
			if refusals := Refuse(in, p); len(refusals) > 0 {
				t.Errorf("%v", refusals)
				return
			}
			report := NewReport(in, p, d.Changes(p))
			s.carryOut(d, p)
			after = s.files()
			objects, broken := built(t, after)
			_, listed := objects["ConfigMap//acme"]
			file, list := "acme-web/configmap-acme.yaml", "acme-web/kustomization.yaml"
			if stays := listed && after[file] == before[file] && after[list] == before[list]; stays == tt.changes || broken != "" {
				t.Errorf("stays %v, broken %q, %v", stays, broken, slices.Sorted(maps.Keys(after)))
			}
			if len(report.Suspended) != tt.said || report.Nodes.Waiting > 0 {
				t.Errorf("the report tells of %v, %+v", report.Suspended, report.Nodes)
			}
			if kept := len(s.index().Suspended) == 1; kept == tt.changes {
				t.Errorf("the index keeps the suspension: %v", kept)
			}
			if _, there := objects["ConfigMap//coda"]; there {
				t.Errorf("the node that continues it has files")
			}
			if _, there := objects["ConfigMap//cord"]; strings.Contains(name, "takes") && !there {
				t.Errorf("no file has it")
			}
		})
	}
}

// TestSuspendedFileIsGone refuses to drop a file that somebody removed from a suspended node.
func TestSuspendedFileIsGone(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "bolt", "1")}))
	s.suspend("acme-web", &inventory.Suspension{By: "ann"})
	if err := os.Remove(filepath.Join(s.dir, "acme-web/configmap-acme.yaml")); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]*Input{
		"with a row":    inputOf([]*Node{rowNode("crm", "acme", "2"), rowNode("crm", "bolt", "1")}),
		"without a row": inputOf([]*Node{rowNode("crm", "bolt", "1")}),
		"another hub":   inputOf([]*Node{rowNode("erp", "east", "1")}),
	} {
		t.Run(name, func(t *testing.T) {
			in.Limits.MaxDelete = limits.MaxDelete{Nodes: 9}
			_, p := s.plan(in)
			if !slices.ContainsFunc(Refuse(in, p), func(r plan.Refusal) bool { return r.Guard == plan.GuardSuspended }) {
				t.Errorf("refused %v", Refuse(in, p))
			}
		})
	}
}

// TestSuspendedObjectIsTaken refuses a run in which another node renders an object of a
// suspended one without a row, also with an Application for each.
func TestSuspendedObjectIsTaken(t *testing.T) {
	for _, apps := range []Apps{nil, oneApp("apps/all.yaml")} {
		s := newSite(t)
		before := inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "bolt", "1")})
		before.Apps = apps
		s.run(before)
		s.suspend("acme-web", &inventory.Suspension{By: "ann"})
		bolt := rowNode("crm", "bolt", "1")
		bolt.Objects = rowNode("crm", "acme", "2").Objects
		in := inputOf([]*Node{bolt})
		in.Apps, in.Limits.MaxDelete = apps, limits.MaxDelete{Nodes: 9}
		_, p := s.plan(in)
		if refusals := Refuse(in, p); len(refusals) != 1 || refusals[0].Guard != GuardTwice {
			t.Errorf("with apps %t: refused %v", apps != nil, refusals)
		}
	}
}

// TestSuspendWaits checks that a suspension takes the same lock as render, and doesn't
// overwrite the index of another run.
func TestSuspendWaits(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
	d, err := OpenDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	x, err := d.Existing()
	if err != nil {
		t.Fatal(err)
	}
	s.run(inputOf([]*Node{rowNode("crm", "acme", "2")}))
	want := s.files()
	err = d.SaveIndex(context.Background(), x.Suspend(x.Entries[0].Node, &inventory.Suspension{By: "ann"}))
	if busy, ok := errors.AsType[*BusyError](err); !ok || !errors.Is(busy, ErrChanged) {
		t.Error(err)
	}
	if diff := cmp.Diff(want, s.files()); diff != "" {
		t.Error(diff)
	}
}

// TestSuspendedNodeTexts checks what reports say about a suspended node.
func TestSuspendedNodeTexts(t *testing.T) {
	n := SuspendedNode{NodeID: rowNode("crm", "acme", "1").NodeID, Suspension: inventory.Suspension{By: "ann"}}
	if got := n.String(); got != "acme-web" {
		t.Errorf("without an end and a reason: %s", got)
	}
	n.Reason, n.Until = "a restore", suspendDay(12)
	if got, want := n.String(), "acme-web (a restore, until 2026-01-02T12:00:00Z)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got, err := n.MarshalJSON()
	if want := `{"hub":"crm","form":"web","namespace":"default","node":"acme-web","by":"ann","until":"2026-01-02T12:00:00Z","reason":"a restore"}`; err != nil || string(got) != want {
		t.Errorf("%v, %s, want %s", err, got, want)
	}
}
