package decide

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// refusalsOf describes the refusals of a plan in words.
func refusalsOf(p *plan.Plan) []string {
	var all []string
	for _, r := range p.Refusals {
		all = append(all, fmt.Sprintf("%s: %s (%s)", r.Guard, r.What, r.Fix))
	}
	return all
}

// TestMaxChange checks that kept nodes count if they are recorded and more than their
// tracking would change. New nodes, deleted nodes, and nodes that fail to render don't
// count.
func TestMaxChange(t *testing.T) {
	for _, tt := range []struct {
		limit string
		want  []string
	}{
		{"", nil},
		{"2", nil},
		{"67%", nil},
		{"1", []string{"max-change: 2 of 3 nodes would change, the limit is 1 (--max-change=1) (check the changes with lynqctl diff; to do this anyway, pass --max-change=2)"}},
		{"66%", []string{"max-change: 2 of 3 nodes would change, the limit is 1 (--max-change=66%) (check the changes with lynqctl diff; to do this anyway, pass --max-change=2)"}},
		{"0", []string{"max-change: 2 of 3 nodes would change, the limit is 0 (--max-change=0) (check the changes with lynqctl diff; to do this anyway, pass --max-change=2)"}},
	} {
		t.Run(tt.limit, func(t *testing.T) {
			s := changingShop(t)
			allowed := Limits{MaxDelete: limits.MaxDelete{Percent: 100}}
			if tt.limit != "" {
				limit, err := limits.ParseMaxDelete(tt.limit)
				if err != nil {
					t.Fatal(err)
				}
				allowed.MaxChange = &limit
			}
			p := Decide(s.in, allowed)
			if diff := cmp.Diff(tt.want, refusalsOf(p)); diff != "" {
				t.Errorf("%s: %s", tt.limit, diff)
			}
			if p.Holdable() {
				t.Error("the plan may be carried out without its deletions")
			}
		})
	}
	if track := (&plan.Step{Action: plan.ActionTrack}); track.ChangesContent() || !track.Changes() {
		t.Error("what changes only how an object is tracked counts")
	}
}

// TestMaxRowChange checks that a run may not change most nodes without a limit that somebody
// passed, if nothing but their rows changed.
func TestMaxRowChange(t *testing.T) {
	differ := func(changed, compared int) *evidence.Evidence {
		return &evidence.Evidence{Rows: &evidence.Rows{Compared: compared, Changed: changed}}
	}
	for name, tt := range map[string]struct {
		nodes, changed int
		form           bool // changed, too
		evidence       *evidence.Evidence
		limits         Limits
		want           string
	}{
		"more than half":        {nodes: 10, changed: 6, evidence: differ(6, 10), want: "max-change: 6 of 10 nodes would change, only because their rows did, the limit is 5 (--max-change=50%) (check the changes with lynqctl diff; to do this anyway, pass --max-change=6)"},
		"the note misses two":   {nodes: 10, changed: 6, evidence: differ(4, 10), want: "max-change: 6 of 10 nodes would change, only because their rows did, the limit is 5 (--max-change=50%) (check the changes with lynqctl diff; to do this anyway, pass --max-change=6)"},
		"half":                  {nodes: 10, changed: 5, evidence: differ(5, 10)},
		"few nodes":             {nodes: 9, changed: 9, evidence: differ(9, 9)},
		"the form changed":      {nodes: 10, changed: 10, form: true, evidence: differ(10, 10)},
		"few rows changed":      {nodes: 10, changed: 10, evidence: differ(1, 10)},
		"nobody noted the rows": {nodes: 10, changed: 10, evidence: &evidence.Evidence{}},
		"no earlier run":        {nodes: 10, changed: 10},
		"a lookup changed":      {nodes: 10, changed: 10, evidence: &evidence.Evidence{Lookups: []string{"sizes"}, Rows: differ(10, 10).Rows}},
		"the condition changed": {nodes: 10, changed: 10, evidence: &evidence.Evidence{Where: &evidence.Where{}, Rows: differ(10, 10).Rows}},
		"a column is new":       {nodes: 10, changed: 10, evidence: &evidence.Evidence{NewColumns: []string{"plan"}, Rows: differ(10, 10).Rows}},
		"somebody passed more":  {nodes: 10, changed: 10, evidence: differ(10, 10), limits: Limits{MaxChange: &limits.MaxDelete{Percent: 100}}},
		"somebody passed less":  {nodes: 10, changed: 2, evidence: differ(2, 10), limits: Limits{MaxChange: &limits.MaxDelete{Nodes: 1}}, want: "max-change: 2 of 10 nodes would change, the limit is 1 (--max-change=1) (check the changes with lynqctl diff; to do this anyway, pass --max-change=2)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			for i := range tt.nodes {
				uid := fmt.Sprintf("n%d", i)
				inv := s.has(uid, uid)
				inv.Entries[0].Template = "t1"
				o := &s.wants(uid, uid).Objects[0]
				if o.Template = "t1"; tt.form {
					o.Template = "t2"
				}
				if i < tt.changed {
					o.Digest = "d2"
				}
			}
			s.in.Desired.Evidence = tt.evidence
			l := tt.limits
			if l.MaxDelete = limits.DefaultMaxDelete(); l.MaxChange == nil {
				most := limits.DefaultMaxRowChange()
				l.MaxRowChange = &most
			}
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, refusalsOf(Decide(s.in, l))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMaxChangeRenamed checks that renamed nodes count if more than their tracking changes.
func TestMaxChangeRenamed(t *testing.T) {
	for _, changes := range []bool{false, true} {
		s := newShop()
		for _, uid := range []string{"a", "b"} {
			inv := s.has(uid, uid)
			p := lynq.DefaultPolicy()
			n := &lynq.Node{NodeID: lynq.NodeID{Hub: s.in.Hub, Form: s.in.Desired.Forms[0], UID: uid + "2", Namespace: "ns", Name: uid + "2-web"}}
			body := manifest.Body(`{"metadata":{"name":"` + uid + `","namespace":"ns"},"apiVersion":"v1","kind":"ConfigMap"}`)
			n.Objects = []lynq.Object{{Ref: shopRef(uid), ID: uid, APIVersion: "v1", Policy: &p, Body: body}}
			made, err := plan.Make(n)
			if err != nil {
				t.Fatal(err)
			}
			if inv.Entries[0].Digest, err = made.Objects[0].DigestIn(inv.Node.Full().Hub, inv.Node.Key()); err != nil || changes {
				inv.Entries[0].Digest = "another"
			}
			s.in.Desired.Nodes = append(s.in.Desired.Nodes, made)
		}
		s.in.Desired.Active = 2
		s.renames(map[string]string{"a": "a2", "b": "b2"}, nil)
		p := Decide(s.in, Limits{MaxDelete: limits.DefaultMaxDelete(), MaxChange: &limits.MaxDelete{Percent: 10}})
		if (len(p.Refusals) > 0) != changes {
			t.Errorf("the content changes: %t; %+v", changes, p.Refusals)
		}
	}
}

// TestEmptyColumns checks that the guard refuses if a used column is suddenly empty in many
// rows, unless the user named the column.
func TestEmptyColumns(t *testing.T) {
	s := newShop()
	s.has("a", "a")
	s.wants("a", "a")
	s.in.Desired.Used = []string{"plan", "zone"}
	s.in.Desired.Evidence = &evidence.Evidence{Rows: &evidence.Rows{Compared: 10, Columns: []evidence.Column{
		{Name: "plan", Changed: 3, Emptied: 3}, {Name: "unused", Emptied: 9}, {Name: "zone", Emptied: 2}, {Name: "named", Emptied: 9},
	}}}
	want := []string{`allow-empty-column: column "plan" is suddenly empty in 3 of 10 rows (check the source; to do this anyway, pass --allow-empty-column=plan)`}
	p := Decide(s.in, Limits{})
	if diff := cmp.Diff(want, refusalsOf(p)); diff != "" {
		t.Error(diff)
	}
	if p.Evidence != s.in.Desired.Evidence {
		t.Error("the plan doesn't have the evidence")
	}
	if got := refusalsOf(Decide(s.in, Limits{EmptyColumns: []string{"x", "plan"}})); got != nil {
		t.Errorf("a named column: %q", got)
	}
	s.in.Desired.Used = nil
	if got := refusalsOf(Decide(s.in, Limits{})); got != nil {
		t.Errorf("a narrowed run: %q", got)
	}
}

// TestWhereIsCause checks that guards name a changed condition of the source.
func TestWhereIsCause(t *testing.T) {
	const cause = `where of the hub changed from absent to "archived = 0" since the last run: `
	for active, want := range map[int]string{
		0: "allow-empty: " + cause + "no row is active, but the cluster has 2 nodes (check the source; to delete every tenant, pass --allow-empty)",
		1: "max-delete: " + cause + "1 of 2 nodes would be deleted (b-web), the limit is 0 (--max-delete=0) (check the rows; to do this anyway, pass --max-delete=1)",
	} {
		s := newShop()
		s.has("a", "a")
		s.has("b", "b")
		if active > 0 {
			s.wants("a", "a")
		}
		s.in.Desired.Evidence = &evidence.Evidence{Where: &evidence.Where{Now: "archived = 0"}}
		if diff := cmp.Diff([]string{want}, refusalsOf(Decide(s.in, Limits{}))); diff != "" {
			t.Errorf("%d active rows: %s", active, diff)
		}
	}
}

// changingShop returns a hub with four kept nodes. One of them changes, one lost its
// object, one is up to date, and one fails to render. One more node is new, and one is
// deleted.
func changingShop(t *testing.T) *shop {
	t.Helper()
	s := newShop()
	for _, row := range []string{"same", "changed", "lost", "failed", "gone"} {
		s.has(row, row)
	}
	s.wants("same", "same")
	s.wants("changed", "changed").Objects[0].Digest = "d2"
	s.wants("lost", "lost")
	delete(s.in.Observed.Live, shopRef("lost"))
	s.wants("failed", "failed").Fail(errors.New("it failed to render"))
	s.wants("new", "new")
	actions := map[string]plan.Action{}
	for _, n := range Decide(s.in, Limits{MaxDelete: limits.MaxDelete{Percent: 100}}).Nodes {
		for _, step := range n.Steps {
			actions[n.UID] = step.Action
		}
	}
	want := map[string]plan.Action{"same": plan.ActionKeep, "changed": plan.ActionUpdate, "lost": plan.ActionCreate, "new": plan.ActionCreate, "gone": plan.ActionDelete}
	if diff := cmp.Diff(want, actions); diff != "" {
		t.Fatal(diff)
	}
	return s
}
