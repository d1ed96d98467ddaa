package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func windowNow() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC) }

// deleted returns nodes that were deleted this long ago.
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
		t.Run(name, func(t *testing.T) {
			w := countDeletions(test.deletions, windowNow(), test.window, nodeKeys(test.going...), nodeKeys(test.there...))
			want := countedDeletions{Going: test.count, Earlier: test.earlier, Of: test.of}
			if w != want {
				t.Errorf("%s: %+v, want %+v", name, w, want)
			}
		})
	}
}

func TestRecordDeletions(t *testing.T) {
	end := time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC) // the end of the minute
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
		t.Run(name, func(t *testing.T) {
			got, changed := RecordDeletions(test.deletions, nodeKeys(test.going...), windowNow(), time.Hour)
			if diff := cmp.Diff(test.want, got); diff != "" || changed != test.changed {
				t.Errorf("%s: changed %t, want %t:\n%s", name, changed, test.changed, diff)
			}
		})
	}
}

// TestRecordDeletionsRoom checks that deletions beyond the room count too.
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
	if w := countDeletions(all, now, time.Hour, nil, nil); w.Going != maxWindowNodes+7 || w.Of != w.Going {
		t.Errorf("%+v", w)
	}
}

// TestRecordDeletionsOften checks that single deletions need no more room than many at
// once. Each is dropped after the window, or a sixtieth of it later.
func TestRecordDeletionsOften(t *testing.T) {
	var all []inventory.Deletions
	now, window := windowNow(), 10*time.Minute
	for i := range 3 * 600 {
		now = now.Add(time.Second)
		all, _ = RecordDeletions(all, nodeKeys(fmt.Sprintf("n%d", i)), now, window)
	}
	w := countDeletions(all, now, window, nil, nil)
	if len(all) > 61 || w.Going < 600 || w.Going > 610 {
		t.Errorf("%d times with %d nodes", len(all), w.Going)
	}
}
