package decide

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// suspendedUntil suspends a node until an hour, or without end for 0.
func suspendedUntil(inv *inventory.Inventory, end int) *inventory.Inventory {
	until := ""
	if end > 0 {
		until = `,"until":"` + hour(end).Format("2006-01-02T15:04:05Z") + `"`
	}
	return annotated(inv, `{"by":"ann"`+until+`,"reason":"repair"}`)
}

func annotated(inv *inventory.Inventory, text string) *inventory.Inventory {
	inv.Others = &inventory.Others{Annotations: map[string]string{wellknown.AnnotationSuspended: text}}
	return inv
}

// suspendedSaid describes a plan's skipped nodes in words, and its steps.
func suspendedSaid(p *plan.Plan) []string {
	var lines []string
	for _, n := range p.Nodes {
		switch {
		case n.Suspended && n.Desired != nil && n.Desired.Failed == nil && len(n.Steps) == 0:
			lines = append(lines, n.UID+" skipped: "+n.Unmet)
		case n.Desired != nil && n.Desired.Failed != nil:
			lines = append(lines, n.UID+" failed: "+n.Desired.Failed.Error())
		case n.Unmet != "":
			lines = append(lines, n.UID+" unmet")
		}
	}
	return append(lines, said(p)...)
}

func TestSuspended(t *testing.T) {
	const ann = "a skipped: suspended by ann (repair)"
	for name, tt := range map[string]struct {
		prepare func(*shop)
		want    []string
		refused string
	}{
		"an active row":      {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0); s.wants("a", "a1", "a2") }, []string{ann}, ""},
		"an object vanished": {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0); s.wants("a", "a1"); s.in.Observed.Live = nil }, []string{ann}, ""},
		"a row is gone":      {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0) }, []string{ann}, ""},
		"a row fails to render": {func(s *shop) {
			suspendedUntil(s.has("a", "a1"), 0)
			s.wants("a", "a1").Fail(fmt.Errorf("bad"))
		}, []string{ann}, ""},
		"a row is gone, with a grace period": {func(s *shop) {
			suspendedUntil(s.has("a", "a1"), 0)
			s.in.Desired.Grace = map[lynq.FormKey]time.Duration{{Name: "web"}: 3 * time.Hour}
		}, []string{ann}, ""},
		"an object that can't be read": {func(s *shop) {
			suspendedUntil(s.has("a", "a1"), 0)
			s.wants("a", "a1")
			s.in.Observed.Unknown = map[lynq.Ref]error{shopRef("a1"): fmt.Errorf("403")}
		}, []string{ann}, ""},
		"before its end": {func(s *shop) { suspendedUntil(s.has("a", "a1"), 13); s.wants("a", "a1") }, []string{"a skipped: suspended by ann until 2026-03-04T13:00:00Z (repair)"}, ""},
		"at its end":     {func(s *shop) { suspendedUntil(s.has("a", "a1"), 12) }, []string{"a: a1 delete NodeGone"}, ""},
		"a text that can't be read": {func(s *shop) { annotated(s.has("a", "a1"), "yes") },
			[]string{"a skipped: suspended by unknown (annotation lynq.sh/suspended can't be read)"}, ""},
		"an empty object": {func(s *shop) { annotated(s.has("a", "a1"), "{}") }, []string{"a skipped: suspended by unknown"}, ""},
		"a person deletes it": {func(s *shop) {
			suspendedUntil(s.has("a", "a1"), 0)
			s.in.Scope.Delete = map[lynq.NodeKey]bool{shopNode("a"): true}
		}, []string{ann}, "suspended"},
		"a person deleted its inventory":          {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0).Deleting = true }, []string{ann}, ""},
		"another node renders its object":         {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0); s.wants("b", "a1") }, []string{ann, "b: a1 block Foreign"}, ""},
		"a run of other nodes":                    {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0); s.in.Scope.Only = map[string]bool{"b-web": true} }, nil, ""},
		"its form isn't in the files":             {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0); s.in.Desired.Forms = nil }, nil, ""},
		"guards don't count it":                   {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0); s.has("b", "b1") }, []string{ann, "b: b1 delete NodeGone"}, ""},
		"guards count the others":                 {func(s *shop) { suspendedUntil(s.has("a", "a1"), 0); s.has("b", "b1"); s.has("c", "c1") }, []string{ann, "b: b1 delete NodeGone", "c: c1 delete NodeGone"}, "max-delete"},
		"a dependent waits for it unless ready":   {func(s *shop) { dependsOnSuspended(s, false) }, []string{ann, "a unmet", "a: a2 skip FormOrder"}, ""},
		"a dependent continues if it is ready":    {func(s *shop) { dependsOnSuspended(s, true) }, []string{ann, "a: a2 create New"}, ""},
		"a node on which a suspended one depends": {suspendedDependent, []string{"a unmet", ann, "a: a1 skip FormOrder"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			s.in.Now, s.in.Desired.Active = hour(12), 5
			tt.prepare(s)
			p := Decide(s.in, Limits{MaxDelete: limits.MaxDelete{Nodes: 1}})
			if diff := cmp.Diff(tt.want, suspendedSaid(p)); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
			var refused []string
			for _, r := range p.Refusals {
				refused = append(refused, string(r.Guard))
			}
			if got := strings.Join(refused, " "); got != tt.refused {
				t.Errorf("%s: refused by %q, want %q", name, got, tt.refused)
			}
		})
	}
}

// dependsOnSuspended adds a row with a suspended node of form db, on which form web depends.
func dependsOnSuspended(s *shop, ready bool) {
	s.in.Desired.Forms = append(s.in.Desired.Forms, lynq.FormKey{Name: "db"})
	inv := suspendedUntil(s.has("a", "a1"), 0)
	inv.Node.Form.Name, inv.Node.Name = "db", "a-db"
	if ready {
		inv.Status.Conditions = []inventory.Condition{{Type: inventory.ConditionReady, Status: "True"}}
	}
	db := s.wants("a", "a1")
	db.Form.Name, db.Name = "db", "a-db"
	s.wants("a", "a2").DependForms = []string{"db"}
}

// suspendedDependent adds two nodes of a row that is gone. The suspended one depends on the
// other.
func suspendedDependent(s *shop) {
	s.in.Desired.Forms = append(s.in.Desired.Forms, lynq.FormKey{Name: "db"})
	db := s.has("a", "a1")
	db.Node.Form.Name, db.Node.Name = "db", "a-db"
	suspendedUntil(s.has("a", "a2"), 0).DependForms = []string{"db"}
}

// TestSuspendedGate wants the gate to refuse every deletion for a suspended node, whatever
// asks.
func TestSuspendedGate(t *testing.T) {
	for _, who := range []asker{askerNode, askerPurge, askerRecreate, askerHook} {
		t.Run(string(who), func(t *testing.T) {
			for _, suspended := range []bool{true, false} {
				s := newShop()
				s.in.Now = hour(12)
				inv := s.has("a", "a1")
				if suspended {
					suspendedUntil(inv, 0)
				}
				d := newDecider(s.in)
				q := &question{asker: who, me: d.owner(shopNode("a")), entry: &inv.Entries[0], live: s.in.Observed.Live[shopRef("a1")], why: plan.ReasonNodeGone, keeps: lynq.DeleteDelete}
				if a := d.gate(q); (a.Action == plan.ActionDelete) == suspended || suspended && a.Reason != plan.ReasonSuspended {
					t.Errorf("%s, suspended %t: %+v", who, suspended, a)
				}
			}
		})
	}
}
