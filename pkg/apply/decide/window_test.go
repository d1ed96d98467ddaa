package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func windowNow() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC) }

// deleted are nodes that were deleted so long ago.
func deleted(ago time.Duration, nodes ...string) inventory.Deletions {
	d := inventory.Deletions{Time: windowNow().Add(-ago)}
	for _, n := range nodes {
		d.Nodes = append(d.Nodes, inventory.NodeDigest("ns", n))
	}
	return d
}

func nodeKeys(names ...string) []lynq.NodeKey {
	var keys []lynq.NodeKey
	for _, n := range names {
		keys = append(keys, lynq.NodeKey{Namespace: "ns", Name: n})
	}
	return keys
}

func TestCountWindow(t *testing.T) {
	there := []string{"c", "d", "e", "f", "g", "h"}
	for name, test := range map[string]struct {
		deletions          []inventory.Deletions
		window             time.Duration
		going, there       []string
		count, earlier, of int
	}{
		"nothing":            {nil, time.Hour, nil, there, 0, 0, 6},
		"this plan alone":    {nil, time.Hour, []string{"c"}, there, 1, 0, 6},
		"earlier ones":       {[]inventory.Deletions{deleted(time.Minute, "a"), deleted(0, "b")}, time.Hour, []string{"c"}, there, 3, 2, 8},
		"older ones":         {[]inventory.Deletions{deleted(time.Hour, "a"), deleted(time.Hour-time.Second, "b")}, time.Hour, []string{"c"}, there, 2, 1, 7},
		"a shorter window":   {[]inventory.Deletions{deleted(time.Minute, "a"), deleted(0, "b")}, time.Second, []string{"c"}, there, 2, 1, 7},
		"no window":          {[]inventory.Deletions{deleted(-time.Minute, "a"), deleted(0, "b")}, 0, []string{"c"}, there, 1, 0, 6},
		"a clock that ran":   {[]inventory.Deletions{deleted(-1000*time.Hour, "a")}, time.Hour, []string{"c"}, there, 2, 1, 7},
		"begun before":       {[]inventory.Deletions{deleted(time.Minute, "b", "c")}, time.Hour, []string{"c", "d"}, there, 3, 1, 7},
		"came back":          {[]inventory.Deletions{deleted(time.Minute, "c", "d")}, time.Hour, []string{"e"}, there, 3, 2, 6},
		"twice":              {[]inventory.Deletions{deleted(time.Minute, "a"), deleted(0, "a")}, time.Hour, []string{"c"}, there, 2, 1, 7},
		"more than recorded": {[]inventory.Deletions{{Time: windowNow(), More: 3}}, time.Hour, []string{"c"}, there, 4, 3, 9},
	} {
		w := countWindow(test.deletions, windowNow(), test.window, nodeKeys(test.going...), nodeKeys(test.there...))
		want := windowed{going: test.count, earlier: test.earlier, of: test.of}
		if w != want {
			t.Errorf("%s: %+v, want %+v", name, w, want)
		}
	}
}

func TestRecordDeletions(t *testing.T) {
	end := time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC) // of the minute
	at := func(names ...string) inventory.Deletions {
		nodes := deleted(0, names...).Nodes
		slices.Sort(nodes)
		return inventory.Deletions{Time: end, Nodes: nodes}
	}
	list := func(all ...inventory.Deletions) []inventory.Deletions { return all }
	for name, test := range map[string]struct {
		deletions []inventory.Deletions
		going     []string
		want      []inventory.Deletions
		changed   bool
	}{
		"nothing goes":     {list(deleted(2*time.Hour, "a")), nil, list(deleted(2*time.Hour, "a")), false},
		"the first":        {nil, []string{"a"}, list(at("a")), true},
		"one more":         {list(deleted(time.Minute, "a")), []string{"b"}, list(deleted(time.Minute, "a"), at("b")), true},
		"in one minute":    {list(deleted(time.Minute, "a"), at("b")), []string{"c"}, list(deleted(time.Minute, "a"), at("b", "c")), true},
		"known":            {list(deleted(time.Minute, "a")), []string{"a"}, list(deleted(time.Minute, "a")), false},
		"in part":          {list(deleted(time.Minute, "a")), []string{"a", "b"}, list(deleted(time.Minute, "a"), at("b")), true},
		"known, but old":   {list(deleted(time.Hour, "a")), []string{"a"}, list(at("a")), true},
		"a clock that ran": {list(deleted(-1000*time.Hour, "a")), []string{"b"}, list(at("a", "b")), true},
	} {
		got, changed := RecordDeletions(test.deletions, nodeKeys(test.going...), windowNow(), time.Hour)
		if diff := cmp.Diff(test.want, got); diff != "" || changed != test.changed {
			t.Errorf("%s: changed %t, want %t:\n%s", name, changed, test.changed, diff)
		}
	}
}

// TestRecordDeletionsRoom: what there is no room for counts all the same.
func TestRecordDeletionsRoom(t *testing.T) {
	var names []string
	for i := range maxWindowNodes + 5 {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	now := windowNow()
	all, _ := RecordDeletions(nil, nodeKeys(names...), now, time.Hour)
	all, _ = RecordDeletions(all, nodeKeys("late"), now, time.Hour)
	all, _ = RecordDeletions(all, nodeKeys("later"), now.Add(2*time.Minute), time.Hour)
	if len(all) != 2 || len(all[0].Nodes) != maxWindowNodes || all[0].More != 6 || len(all[1].Nodes) != 0 || all[1].More != 1 {
		t.Fatalf("%d batches", len(all))
	}
	if w := countWindow(all, now, time.Hour, nil, nil); w.going != maxWindowNodes+7 || w.of != w.going {
		t.Errorf("%+v", w)
	}
}

// TestRecordDeletionsOften: one deletion after the other needs no more room than all at
// once, and each is forgotten when the window is over, or a sixtieth of it later.
func TestRecordDeletionsOften(t *testing.T) {
	var all []inventory.Deletions
	now, window := windowNow(), 10*time.Minute
	for i := range 3 * 600 {
		now = now.Add(time.Second)
		all, _ = RecordDeletions(all, nodeKeys(fmt.Sprintf("n%d", i)), now, window)
	}
	w := countWindow(all, now, window, nil, nil)
	if len(all) > 61 || w.going < 600 || w.going > 610 {
		t.Errorf("%d times with %d nodes", len(all), w.going)
	}
}

// TestMaxDeleteWindow: rows that are lost one after the other are held like those that are
// lost at once.
func TestMaxDeleteWindow(t *testing.T) {
	rows := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	var deletions []inventory.Deletions
	now := windowNow()
	var held []string
	for len(rows) > 1 {
		s := newShop()
		s.in.Deletions, s.in.Now = deletions, now
		for _, row := range rows {
			s.has(row, row)
			if row != rows[0] {
				s.wants(row, row)
			}
		}
		p := Decide(s.in, Limits{MaxDelete: DefaultMaxDelete(), Window: time.Hour})
		if !slices.Equal(p.Losses, []lynq.NodeKey{shopNode(rows[0])}) {
			t.Fatalf("losses %v", p.Losses)
		}
		if len(p.Refusals) > 0 {
			held = append(held, p.Refusals[0].What, p.Refusals[0].Fix)
			if next := WithoutDeletions(p); next.Losses != nil {
				t.Errorf("a plan without deletions loses %v", next.Losses)
			}
			break
		}
		deletions, _ = RecordDeletions(deletions, p.Losses, now, time.Hour)
		rows, now = rows[1:], now.Add(2*time.Second)
	}
	want := []string{
		"1 of 8 nodes would be deleted, the limit is 2 (--max-delete=25%): 2 others were deleted within 1h0m0s",
		"check the rows; to do this anyway, pass --max-delete=3",
	}
	if diff := cmp.Diff(want, held); diff != "" {
		t.Error(diff)
	}
}

// TestMaxDeleteWindowAlone: what was deleted earlier is nothing against a plan that deletes
// nothing, and a plan without a window records nothing.
func TestMaxDeleteWindowAlone(t *testing.T) {
	s := newShop()
	s.in.Deletions, s.in.Now = []inventory.Deletions{deleted(0, "x", "y", "z")}, windowNow()
	s.has("a", "a")
	s.wants("a", "a")
	s.has("b", "b")
	for wanted, limits := range map[plan.Guard]Limits{
		"": {MaxDelete: DefaultMaxDelete()}, plan.GuardMaxDelete: {MaxDelete: DefaultMaxDelete(), Window: time.Hour},
	} {
		p := Decide(s.in, limits)
		guard := plan.Guard("")
		if len(p.Refusals) > 0 {
			guard = p.Refusals[0].Guard
		}
		if guard != wanted || (p.Losses != nil) != (limits.Window > 0) {
			t.Errorf("%+v: %v, losses %v", limits, p.Refusals, p.Losses)
		}
	}
	s.wants("b", "b")
	if p := Decide(s.in, Limits{Window: time.Hour}); len(p.Refusals) > 0 {
		t.Errorf("nothing goes: %v", p.Refusals)
	}
}
