package plan

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func stone(kind, name string) Tombstone {
	return Tombstone{
		Tombstone: lynq.Tombstone{
			Ref: lynq.Ref{Kind: kind, Namespace: "ns", Name: name}, APIVersion: "v1",
			Labels: map[string]string{"app": "old"}, Pos: lynq.Pos{File: "t.yaml", Line: 3},
		},
		Live: &Live{UID: types.UID("u-" + name), ResourceVersion: "7", Labels: map[string]string{"app": "old", "more": "labels"}},
	}
}

// TestTombstones is the table of what becomes of an object that a tombstone names.
func TestTombstones(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Tombstone)
		data   bool
		action Action // "" for no step
		reason Reason
		says   string
	}{
		"its labels":         {action: ActionDelete, reason: ReasonTombstone, says: "t.yaml:3"},
		"gone":               {change: func(s *Tombstone) { s.Live = nil }},
		"no label":           {change: func(s *Tombstone) { s.Live.Labels = nil }, action: ActionSkip, reason: ReasonOtherLabels, says: "app is not there"},
		"another label":      {change: func(s *Tombstone) { s.Live.Labels["app"] = "new" }, action: ActionSkip, reason: ReasonOtherLabels, says: `app is "new", not "old"`},
		"one of two labels":  {change: func(s *Tombstone) { s.Labels["tier"] = "db" }, action: ActionSkip, reason: ReasonOtherLabels, says: "tier is not there"},
		"an orphan":          {change: func(s *Tombstone) { s.Live.Orphaned = true }, action: ActionDelete, reason: ReasonTombstone},
		"another tool's":     {change: func(s *Tombstone) { s.Live.Foreign = "Release helm/x" }, action: ActionSkip, reason: ReasonForeign, says: "Release helm/x"},
		"from a Git tree":    {change: func(s *Tombstone) { s.Live.Hub = "crm" }, action: ActionDelete, reason: ReasonTombstone},
		"in an inventory":    {change: func(s *Tombstone) { s.Live.PartOf = "applyset-x" }, action: ActionSkip, reason: ReasonTombstone, says: "an inventory has it"},
		"a record":           {change: func(s *Tombstone) { s.Live.Record = true }, action: ActionSkip, reason: ReasonTombstone, says: "never an object of a node"},
		"unmanaged":          {change: func(s *Tombstone) { s.Live.Unmanaged = true }, action: ActionSkip, reason: ReasonTombstone, says: "unmanaged"},
		"being deleted":      {change: func(s *Tombstone) { s.Live.Deleting, s.Live.Ending = true, "is going" }, action: ActionSkip, reason: ReasonTombstone, says: "it is going"},
		"data":               {change: func(s *Tombstone) { s.Kind = "PersistentVolumeClaim" }, action: ActionSkip, reason: ReasonTombstone, says: "--include-data"},
		"data that is meant": {change: func(s *Tombstone) { s.Kind = "PersistentVolumeClaim" }, data: true, action: ActionDelete, reason: ReasonTombstone},
		"unreadable": {change: func(s *Tombstone) { s.Live, s.Unknown = nil, errors.New("403") }, action: ActionDelete,
			reason: ReasonTombstone, says: "403"},
	} {
		s := stone("ConfigMap", "a")
		if tt.change != nil {
			tt.change(&s)
		}
		p := Tombstones(lynq.HubKey{Namespace: "hub", Name: "crm"}, []Tombstone{s, s}, nil, tt.data)
		if tt.action == "" {
			if len(p.Nodes) > 0 {
				t.Errorf("%s: %d nodes are planned, want none", name, len(p.Nodes))
			}
			continue
		}
		if len(p.Nodes) != 1 || len(p.Nodes[0].Steps) != 1 {
			t.Errorf("%s: want one step in one node, there are %d nodes", name, len(p.Nodes))
			continue
		}
		step := p.Nodes[0].Steps[0]
		if step.Action != tt.action || step.Reason != tt.reason || !strings.Contains(step.Message, tt.says) || !p.After {
			t.Errorf("%s: %s (%s) %q, want %s (%s) ... %q", name, step.Action, step.Reason, step.Message, tt.action, tt.reason, tt.says)
		}
	}
}

// TestTombstoneGone: only what was looked for and not found is known to be gone.
func TestTombstoneGone(t *testing.T) {
	for name, tt := range map[string]struct {
		stone Tombstone
		gone  bool
	}{
		"there":      {Tombstone{Live: &Live{}}, false},
		"not there":  {Tombstone{}, true},
		"not served": {Tombstone{Unserved: true}, false},
		"unreadable": {Tombstone{Unknown: errors.New("403")}, false},
	} {
		if got := tt.stone.Gone(); got != tt.gone {
			t.Errorf("%s: gone %v, want %v", name, got, tt.gone)
		}
	}
}

// TestTombstoneRecheck: it is deleted as it was looked at, or not at all.
func TestTombstoneRecheck(t *testing.T) {
	p := Tombstones(lynq.HubKey{Name: "crm"}, []Tombstone{stone("ConfigMap", "a")}, nil, false)
	step := &p.Nodes[0].Steps[0]
	for name, tt := range map[string]struct {
		now     *Live
		action  Action
		verdict Verdict
	}{
		"the same": {step.Live, ActionDelete, VerdictHolds},
		"gone":     {nil, ActionRelease, VerdictChanged},
		"remade":   {&Live{UID: "other"}, ActionSkip, VerdictChanged},
		"changed":  {&Live{UID: step.Live.UID, ResourceVersion: "8", Labels: step.Live.Labels}, ActionDelete, VerdictStopped},
		"labelled": {&Live{UID: step.Live.UID, ResourceVersion: "8", Generation: 1, Labels: map[string]string{"app": "new"}}, ActionSkip, VerdictChanged},
	} {
		again, verdict := p.Recheck(&p.Nodes[0], nil, step, tt.now)
		if again.Action != tt.action || verdict != tt.verdict {
			t.Errorf("%s: %s, verdict %d, want %s, %d", name, again.Action, verdict, tt.action, tt.verdict)
		}
	}
}

// TestCheckTombstones: what nodes have is none of a tombstone's.
func TestCheckTombstones(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	plans := []Plan{*Decide(in, Limits{})}
	rendered := stone("Deployment", "acme")
	rendered.Ref = in.Nodes[0].Objects[0].Ref
	other := stone("ConfigMap", "b")
	differs := stone("ConfigMap", "b")
	differs.Labels = map[string]string{"app": "older"}
	for name, tt := range map[string]struct {
		stones []Tombstone
		says   string
	}{
		"others":       {[]Tombstone{other, other}, ""},
		"rendered":     {[]Tombstone{rendered}, "node ns/acme-web renders this object"},
		"other labels": {[]Tombstone{other, differs}, "with other labels"},
	} {
		err := CheckTombstones(tt.stones, plans)
		if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
	in.Nodes[0].Objects = nil
	if err := CheckTombstones([]Tombstone{rendered}, []Plan{*Decide(in, Limits{})}); err == nil || !strings.Contains(err.Error(), "the inventory of node ns/acme-web has") {
		t.Errorf("recorded: %v", err)
	}
}
