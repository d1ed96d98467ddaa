package decide

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func stone(kind, name string) plan.Tombstone {
	return plan.Tombstone{
		Tombstone: lynq.Tombstone{
			Ref: lynq.Ref{Kind: kind, Namespace: "ns", Name: name}, APIVersion: "v1",
			Labels: map[string]string{"app": "old"}, Pos: lynq.Pos{File: "t.yaml", Line: 3},
		},
		Live: &tracking.Live{UID: types.UID("u-" + name), ResourceVersion: "7", Few: &tracking.Rare{Labels: map[string]string{"app": "old", "more": "labels"}}},
	}
}

// TestTombstones is the table of decisions about an object that a tombstone names.
func TestTombstones(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*plan.Tombstone)
		data   bool
		action plan.Action // "" if there is no step
		reason plan.Reason
		says   string
	}{
		"its labels":         {action: plan.ActionDelete, reason: plan.ReasonTombstone, says: "t.yaml:3"},
		"gone":               {change: func(s *plan.Tombstone) { s.Live = nil }},
		"no label":           {change: func(s *plan.Tombstone) { s.Live.Few = nil }, action: plan.ActionSkip, reason: plan.ReasonOtherLabels, says: "app doesn't exist"},
		"another label":      {change: func(s *plan.Tombstone) { s.Live.Few.Labels["app"] = "new" }, action: plan.ActionSkip, reason: plan.ReasonOtherLabels, says: `app is "new", not "old"`},
		"one of two labels":  {change: func(s *plan.Tombstone) { s.Labels["tier"] = "db" }, action: plan.ActionSkip, reason: plan.ReasonOtherLabels, says: "tier doesn't exist"},
		"an orphan":          {change: func(s *plan.Tombstone) { s.Live.Orphaned = true }, action: plan.ActionDelete, reason: plan.ReasonTombstone},
		"another tool's":     {change: func(s *plan.Tombstone) { s.Live.Few.Foreign = "Release helm/x" }, action: plan.ActionSkip, reason: plan.ReasonForeign, says: "Release helm/x"},
		"from a Git tree":    {change: func(s *plan.Tombstone) { s.Live.Hub = "crm" }, action: plan.ActionDelete, reason: plan.ReasonTombstone},
		"in an inventory":    {change: func(s *plan.Tombstone) { s.Live.PartOf = "applyset-x" }, action: plan.ActionSkip, reason: plan.ReasonTombstone, says: "an inventory has it"},
		"a record":           {change: func(s *plan.Tombstone) { s.Live.Record = true }, action: plan.ActionSkip, reason: plan.ReasonTombstone, says: "a node can't have it"},
		"unmanaged":          {change: func(s *plan.Tombstone) { s.Live.Unmanaged = true }, action: plan.ActionSkip, reason: plan.ReasonTombstone, says: "unmanaged"},
		"being deleted":      {change: func(s *plan.Tombstone) { s.Live.Deleting, s.Live.Few.Ending = true, "is going" }, action: plan.ActionSkip, reason: plan.ReasonTombstone, says: "it is going"},
		"data":               {change: func(s *plan.Tombstone) { s.Kind = "PersistentVolumeClaim" }, action: plan.ActionSkip, reason: plan.ReasonTombstone, says: "--include-data"},
		"data that is meant": {change: func(s *plan.Tombstone) { s.Kind = "PersistentVolumeClaim" }, data: true, action: plan.ActionDelete, reason: plan.ReasonTombstone},
		"unreadable": {change: func(s *plan.Tombstone) { s.Live, s.Unknown = nil, errors.New("403") }, action: plan.ActionDelete,
			reason: plan.ReasonTombstone, says: "403"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stone("ConfigMap", "a")
			if tt.change != nil {
				tt.change(&s)
			}
			p := Tombstones(lynq.HubKey{Namespace: "hub", Name: "crm"}, []plan.Tombstone{s, s}, nil, tt.data)
			if tt.action == "" {
				if len(p.Nodes) > 0 {
					t.Errorf("%s: %d nodes are planned, want none", name, len(p.Nodes))
				}
				return
			}
			if len(p.Nodes) != 1 || len(p.Nodes[0].Steps) != 1 {
				t.Errorf("%s: want one step in one node, there are %d nodes", name, len(p.Nodes))
				return
			}
			step := p.Nodes[0].Steps[0]
			if step.Action != tt.action || step.Reason != tt.reason || !strings.Contains(step.Message, tt.says) || !p.After {
				t.Errorf("%s: %s (%s) %q, want %s (%s) ... %q", name, step.Action, step.Reason, step.Message, tt.action, tt.reason, tt.says)
			}
		})
	}
}

// TestTombstoneGone checks that lynqctl knows that an object is gone only if it searched
// for it and didn't find it.
func TestTombstoneGone(t *testing.T) {
	for name, tt := range map[string]struct {
		stone plan.Tombstone
		gone  bool
	}{
		"there":      {plan.Tombstone{Live: &tracking.Live{}}, false},
		"not there":  {plan.Tombstone{}, true},
		"not served": {plan.Tombstone{Unserved: true}, false},
		"unreadable": {plan.Tombstone{Unknown: errors.New("403")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.stone.Gone(); got != tt.gone {
				t.Errorf("%s: gone %v, want %v", name, got, tt.gone)
			}
		})
	}
}

// TestTombstoneRecheck checks that lynqctl deletes the object only in the version that it
// read.
func TestTombstoneRecheck(t *testing.T) {
	p := Tombstones(lynq.HubKey{Name: "crm"}, []plan.Tombstone{stone("ConfigMap", "a")}, nil, false)
	step := &p.Nodes[0].Steps[0]
	for name, tt := range map[string]struct {
		now     *tracking.Live
		action  plan.Action
		verdict Verdict
	}{
		"the same": {step.Live, plan.ActionDelete, VerdictHolds},
		"gone":     {nil, plan.ActionRelease, VerdictChanged},
		"remade":   {&tracking.Live{UID: "other"}, plan.ActionSkip, VerdictChanged},
		"changed":  {&tracking.Live{UID: step.Live.UID, ResourceVersion: "8", Few: step.Live.Few}, plan.ActionDelete, VerdictStopped},
		"labelled": {&tracking.Live{UID: step.Live.UID, ResourceVersion: "8", Generation: 1, Few: &tracking.Rare{Labels: map[string]string{"app": "new"}}}, plan.ActionSkip, VerdictChanged},
	} {
		t.Run(name, func(t *testing.T) {
			again, verdict := Recheck(p, &p.Nodes[0], nil, step, tt.now)
			if again.Action != tt.action || verdict != tt.verdict {
				t.Errorf("%s: %s, verdict %d, want %s, %d", name, again.Action, verdict, tt.action, tt.verdict)
			}
		})
	}
}

// TestCheckTombstones checks that a tombstone never deletes an object that a node owns.
func TestCheckTombstones(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	plans := []plan.Plan{*Decide(in, Limits{})}
	rendered := stone("Deployment", "acme")
	rendered.Ref = in.Desired.Nodes[0].Objects[0].Ref
	other := stone("ConfigMap", "b")
	differs := stone("ConfigMap", "b")
	differs.Labels = map[string]string{"app": "older"}
	for name, tt := range map[string]struct {
		stones []plan.Tombstone
		says   string
	}{
		"others":       {[]plan.Tombstone{other, other}, ""},
		"rendered":     {[]plan.Tombstone{rendered}, "node ns/acme-web renders this object"},
		"other labels": {[]plan.Tombstone{other, differs}, "has other labels"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckTombstones(tt.stones, plans)
			if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want %q", name, err, tt.says)
			}
		})
	}
	in.Desired.Nodes[0].Objects = nil
	if err := CheckTombstones([]plan.Tombstone{rendered}, []plan.Plan{*Decide(in, Limits{})}); err == nil || !strings.Contains(err.Error(), "the inventory of node ns/acme-web has") {
		t.Errorf("recorded: %v", err)
	}
}
