package decide

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

func hour(n int) time.Time {
	return time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
}

// leavesSince notes the start of a node's grace period in both records.
func (s *shop) leavesSince(inv *inventory.Inventory, since time.Time) {
	inv.LeavingSince = since
	l := newGraceLedger(s.in.Recorded.Leaving)
	l.Set(inv.Node.Key(), since)
	s.in.Recorded.Leaving = l.Recorded()
}

// graceSaid describes a plan's kept nodes in words.
func graceSaid(p *plan.Plan) []string {
	var lines []string
	for _, l := range p.Leaving {
		line := fmt.Sprintf("%s leaves since %s until %s", l.UID, l.Since.Format("15:04"), l.Until.Format("15:04"))
		if l.Begins {
			line += ", newly"
		}
		lines = append(lines, line)
	}
	return append(lines, said(p)...)
}

func TestGrace(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare  func(*shop)
		want     []string
		recorded string // the nodes in the hub record
		refused  string
	}{
		"a row goes": {
			func(s *shop) { s.has("a", "a1") },
			[]string{"a leaves since 12:00 until 15:00, newly"}, "a", "",
		},
		"it is within its time": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(10)) },
			[]string{"a leaves since 10:00 until 13:00"}, "a", "",
		},
		"its time is over": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(9)) },
			[]string{"a: a1 delete NodeGone"}, "a", "",
		},
		"it is back within its time": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(10)); s.wants("a", "a1") },
			[]string{"a: a1 keep UpToDate"}, "", "",
		},
		"it is back, and does not render": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(9))
				s.wants("a", "a1").Fail(errors.New("bad"))
			},
			nil, "", "",
		},
		"a row that does not render may be the node's": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(9))
				s.wants("A", "a1").Fail(errors.New("bad"))
			},
			[]string{"a: a1 skip RowUnknown"}, "", "",
		},
		"a row that does not render may be the node's, and a person deleted the inventory": {
			func(s *shop) {
				inv := s.has("a", "a1")
				inv.Deleting, inv.Finalizer = true, true
				s.wants("A", "a1").Fail(errors.New("bad"))
			},
			[]string{"a: a1 skip RowUnknown"}, "", "",
		},
		"an older date in the inventory alone": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(10))
				s.in.Recorded.Inventories[0].LeavingSince = hour(1)
			},
			[]string{"a leaves since 10:00 until 13:00"}, "a", "",
		},
		"an older date in the hub's record alone": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(1))
				s.in.Recorded.Inventories[0].LeavingSince = hour(10)
			},
			[]string{"a leaves since 10:00 until 13:00"}, "a", "",
		},
		"the inventory's date is lost": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(1))
				s.in.Recorded.Inventories[0].LeavingSince = time.Time{}
			},
			[]string{"a leaves since 12:00 until 15:00, newly"}, "a", "",
		},
		"the hub's date is lost": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(1)); s.in.Recorded.Leaving = nil },
			[]string{"a leaves since 12:00 until 15:00, newly"}, "a", "",
		},
		"a clock that is behind the last run": {
			func(s *shop) { s.has("a", "a1"); s.in.Recorded.LastRun = hour(20) },
			[]string{"a leaves since 20:00 until 23:00, newly"}, "a", "",
		},
		"a longer period counts from the date": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(1))
				s.in.Desired.Grace[lynq.FormKey{Name: "web"}] = 13 * time.Hour
			},
			[]string{"a leaves since 01:00 until 14:00"}, "a", "",
		},
		"an old inventory may be of two forms": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(1))
				s.in.Desired.Grace = map[lynq.FormKey]time.Duration{{Namespace: "x", Name: "web"}: 0, {Namespace: "y", Name: "web"}: 12 * time.Hour, {Namespace: "z", Name: "web"}: time.Hour}
			},
			[]string{"a leaves since 01:00 until 13:00"}, "a", "",
		},
		"no period": {
			func(s *shop) { s.has("a", "a1"); s.in.Desired.Grace = nil },
			[]string{"a: a1 delete NodeGone"}, "", "",
		},
		"a person deletes the node": {
			func(s *shop) { s.has("a", "a1"); s.in.Scope.Delete = map[lynq.NodeKey]bool{shopNode("a"): true} },
			[]string{"a: a1 delete NodeDeleted"}, "", "",
		},
		"its inventory was deleted": {
			func(s *shop) { s.has("a", "a1").Deleting = true },
			[]string{"a leaves since 12:00 until 15:00, newly"}, "a", "",
		},
		"another run may let it go": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(1))
				s.in.Scope.Only = map[string]bool{"x-web": true}
			},
			nil, "a", "",
		},
		"its form takes no part": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(1)); s.in.Desired.Forms = nil },
			nil, "a", "",
		},
		"it has no inventory any more": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(1)); s.in.Recorded.Inventories = nil },
			nil, "", "",
		},
		"another node wants its object": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(10)); s.wants("b", "a1") },
			[]string{"a leaves since 10:00 until 13:00", "b: a1 block Foreign"}, "a", "",
		},
		"another node wants its object, and its time is over": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(9)); s.wants("b", "a1") },
			[]string{"b: a1 update Moved", "a: a1 release TakenOver"}, "a", "",
		},
		"an object that cannot be read matters when its time is over": {
			func(s *shop) {
				s.leavesSince(s.has("a", "a1"), hour(10))
				s.in.Observed.Unknown = map[lynq.Ref]error{shopRef("a1"): errors.New("403")}
			},
			[]string{"a leaves since 10:00 until 13:00"}, "a", "",
		},
		"what it depends on stays as long": {
			func(s *shop) {
				s.in.Desired.Forms = append(s.in.Desired.Forms, lynq.FormKey{Name: "db"})
				db := s.has("a", "a1")
				db.Node.Form.Name, db.Node.Name = "db", "a-db"
				s.leavesSince(s.has("a", "a2"), hour(10))
				s.in.Recorded.Inventories[1].DependForms = []string{"db"}
			},
			[]string{"a leaves since 12:00 until 13:00, newly", "a leaves since 10:00 until 13:00"}, "a db", "",
		},
		"no row is active": {
			func(s *shop) { s.has("a", "a1"); s.in.Desired.Active = 0 },
			[]string{"a leaves since 12:00 until 15:00, newly"}, "a", "allow-empty",
		},
		"guards count no node that is kept": {
			func(s *shop) { s.has("a", "a1"); s.has("b", "b1"); s.leavesSince(s.has("c", "c1"), hour(9)) },
			[]string{"a leaves since 12:00 until 15:00, newly", "b leaves since 12:00 until 15:00, newly", "c: c1 delete NodeGone"}, "a b c", "",
		},
		"guards count nodes whose time is over": {
			func(s *shop) { s.leavesSince(s.has("a", "a1"), hour(9)); s.leavesSince(s.has("b", "b1"), hour(9)) },
			[]string{"a: a1 delete NodeGone", "b: b1 delete NodeGone"}, "a b", "max-delete",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			s.in.Now, s.in.Desired.Active = hour(12), 5
			s.in.Desired.Grace = map[lynq.FormKey]time.Duration{{Name: "web"}: 3 * time.Hour}
			tt.prepare(s)
			p := Decide(s.in, Limits{MaxDelete: limits.MaxDelete{Nodes: 1}})
			if diff := cmp.Diff(tt.want, graceSaid(p)); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
			var recorded, refused []string
			l := newGraceLedger(p.LeavingRecord)
			for _, node := range []string{"a-web", "a-db", "b-web", "c-web"} {
				if key := (lynq.NodeKey{Namespace: "ns", Name: node}); !l.Of(key).IsZero() {
					recorded = append(recorded, strings.TrimSuffix(strings.TrimPrefix(node, "a-"), "-web"))
				}
			}
			for i, name := range recorded {
				if name == "web" {
					recorded[i] = "a"
				}
			}
			if got := strings.Join(recorded, " "); got != tt.recorded {
				t.Errorf("%s: the hub's record has %q, want %q", name, got, tt.recorded)
			}
			for _, r := range p.Refusals {
				refused = append(refused, string(r.Guard))
			}
			if got := strings.Join(refused, " "); got != tt.refused {
				t.Errorf("%s: refused by %q, want %q", name, got, tt.refused)
			}
		})
	}
}

// TestGraceHeld checks that if no row is active, the held deletions include nodes that
// would begin their grace period, and no period begins. Other guards hold only nodes with
// an expired period.
func TestGraceHeld(t *testing.T) {
	for guard, active := range map[plan.Guard]int{plan.GuardEmpty: 0, plan.GuardMaxDelete: 5} {
		t.Run(string(guard), func(t *testing.T) {
			s := newShop()
			s.in.Now, s.in.Desired.Active = hour(12), active
			s.in.Desired.Grace = map[lynq.FormKey]time.Duration{{Name: "web"}: 3 * time.Hour}
			s.has("a", "a1")
			s.leavesSince(s.has("b", "b1"), hour(9))
			p := Decide(s.in, Limits{})
			held := heldOf(p)
			want, leaving, marks := []lynq.NodeKey{shopNode("b")}, 1, true
			if guard == plan.GuardEmpty {
				want, leaving, marks = []lynq.NodeKey{shopNode("a"), shopNode("b")}, 0, false
			}
			if !slices.Equal(held.Held.Nodes, want) || len(held.Leaving) != leaving {
				t.Errorf("%s: held are %v, and %d nodes leave", guard, held.Held.Nodes, len(held.Leaving))
			}
			if got := !newGraceLedger(held.LeavingRecord).Of(shopNode("a")).IsZero(); got != marks {
				t.Errorf("%s: the period of a begins: %v", guard, got)
			}
			if newGraceLedger(held.LeavingRecord).Of(shopNode("b")).IsZero() {
				t.Errorf("%s: the date of b is lost", guard)
			}
			s.has("c", "c1")
			if other := heldOf(Decide(s.in, Limits{})); (other.Held.Digest == held.Held.Digest) != (guard == plan.GuardMaxDelete) {
				t.Errorf("%s: an approval covers other deletions, or not these", guard)
			}
		})
	}
}

// TestGraceHistories checks that lynqctl deletes a node only if no row renders it, and only
// after its grace period. The period begins when a run first sees that. Rows, clocks,
// killed runs and forgers can't change that.
func TestGraceHistories(t *testing.T) {
	deleted := 0
	for seed := range uint64(1000) {
		h := newGraceHistory(t, seed)
		for range 60 {
			switch h.r.IntN(6) {
			case 0:
				h.row()
			case 1, 2:
				h.clock()
			case 3:
				h.forge()
			case 4:
				if h.r.IntN(4) == 0 {
					h.changePeriod()
				}
			default:
				h.run()
			}
			h.run()
		}
		deleted += h.deleted
	}
	if deleted < 200 {
		t.Errorf("only %d nodes were deleted, which tells nothing", deleted)
	}
}

// graceHistory is a hub with a few nodes and its records, and an observer.
type graceHistory struct {
	t        *testing.T
	seed     uint64
	r        *rand.Rand
	deleted  int
	rows     map[string]bool
	nodes    map[string]*inventory.Inventory
	recorded []inventory.Leaving
	lastRun  time.Time
	now      time.Time
	period   time.Duration
	// seen is when a run first saw that a row is gone, by the run's clock. shortest is the
	// shortest period since then.
	seen     map[string]time.Time
	shortest map[string]time.Duration
	// The forger writes one of the two records, and never both.
	hubForger bool
}

func graceRows() []string { return []string{"a", "b", "c"} }

func newGraceHistory(t *testing.T, seed uint64) *graceHistory {
	r := rand.New(rand.NewPCG(seed, 7))
	h := &graceHistory{
		t: t, seed: seed, r: r,
		rows: map[string]bool{}, nodes: map[string]*inventory.Inventory{}, now: hour(1000), period: 10 * time.Hour,
		seen: map[string]time.Time{}, shortest: map[string]time.Duration{}, hubForger: r.IntN(2) == 0,
	}
	for _, row := range graceRows() {
		h.rows[row] = true
		h.nodes[row] = newShop().has(row, row+"1")
	}
	return h
}

func (h *graceHistory) row() {
	row := graceRows()[h.r.IntN(3)]
	h.rows[row] = !h.rows[row]
}

// clock advances the time. lynqctl can't notice a clock that jumps ahead, and would end
// periods early. So here the clock only advances, or jumps back and recovers.
func (h *graceHistory) clock() {
	h.now = h.now.Add(time.Duration(1+h.r.IntN(7*3600)) * time.Second)
}

func (h *graceHistory) changePeriod() {
	h.period = time.Duration(1+h.r.IntN(20)) * time.Hour
	for row := range h.shortest {
		h.shortest[row] = min(h.shortest[row], h.period)
	}
}

// forge writes a random time into one of the records.
func (h *graceHistory) forge() {
	row := graceRows()[h.r.IntN(3)]
	since := h.now.Add(time.Duration(h.r.IntN(121)-100) * time.Hour)
	gone := h.r.IntN(2) == 0
	switch inv := h.nodes[row]; {
	case h.hubForger:
		l := newGraceLedger(h.recorded)
		delete(l, inventory.NodeDigest("ns", row+"-web"))
		if !gone {
			l.Set(shopNode(row), since)
		}
		h.recorded = l.Recorded()
	case inv != nil && gone:
		inv.LeavingSince = time.Time{}
	case inv != nil:
		inv.LeavingSince = since
	}
}

// run is an apply. It may be killed, or have a slow clock.
func (h *graceHistory) run() {
	behind := time.Duration(0)
	if h.r.IntN(4) == 0 {
		behind = time.Duration(1+h.r.IntN(50)) * time.Hour
	}
	now := h.now.Add(-behind)
	s := newShop()
	s.in.Now, s.in.Desired.Grace = now, map[lynq.FormKey]time.Duration{{Name: "web"}: h.period}
	s.in.Recorded.Leaving, s.in.Recorded.LastRun = h.recorded, h.lastRun
	for _, row := range graceRows() {
		if h.nodes[row] != nil {
			kept := h.nodes[row]
			inv := s.has(row, row+"1")
			inv.LeavingSince, inv.LeavingUntil = kept.LeavingSince, kept.LeavingUntil
		}
		if h.rows[row] {
			s.wants(row, row+"1")
		}
	}
	p := Decide(s.in, Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 100}})
	if h.r.IntN(6) == 0 {
		return
	}
	h.recorded = p.LeavingRecord
	for _, row := range graceRows() {
		switch _, known := h.seen[row]; {
		case h.rows[row]:
			delete(h.seen, row)
			delete(h.shortest, row)
		case h.nodes[row] != nil && !known:
			h.seen[row], h.shortest[row] = now, h.period
		}
	}
	for i := range p.Leaving {
		if l := &p.Leaving[i]; h.r.IntN(6) > 0 {
			h.nodes[l.UID] = l.Marked()
		}
	}
	for i := range p.Nodes {
		h.carryOut(&p.Nodes[i], now)
	}
	if behind == 0 {
		h.lastRun = now
	}
}

// carryOut applies or deletes a node, unless the run is killed before.
func (h *graceHistory) carryOut(n *plan.NodePlan, now time.Time) {
	row := n.UID
	if n.Desired != nil {
		if h.nodes[row] == nil {
			h.nodes[row] = newShop().has(row, row+"1")
		}
		if h.r.IntN(4) > 0 {
			h.nodes[row].LeavingSince = time.Time{}
		}
		return
	}
	if h.rows[row] {
		h.t.Fatalf("seed %d: row %s wants its node, and a run deletes it", h.seed, row)
	}
	if due := h.seen[row].Add(h.shortest[row]); now.Before(due) {
		h.t.Fatalf("seed %d: node %s is deleted at %s, and not before %s is due: a run first saw its row gone at %s", h.seed, row, now, due, h.seen[row])
	}
	if h.r.IntN(4) > 0 {
		h.deleted++
		delete(h.nodes, row)
		delete(h.seen, row)
		delete(h.shortest, row)
	}
}
