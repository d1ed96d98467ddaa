package evidence

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// sourceOf notes rows of uid and the columns plan, pw and url, of which pw is secret.
func sourceOf(rows ...string) *Source {
	s := NewSource([]string{"plan", "pw", "url"}, func(c string) bool { return c == "pw" })
	for _, r := range rows {
		if uid, off := strings.CutPrefix(r, "-"); off {
			s.Inactive(uid)
			continue
		}
		cells := strings.Split(r, "|")
		s.Active(cells[0], cells[1:])
	}
	return s
}

func none(string) bool { return false }

func TestCompare(t *testing.T) {
	before := sourceOf("a|gold|x|u", "b|gold|x|u", "c|gold|x|u", "d|gold||", "e|gold|x|u", "-f").Note("k")
	got := sourceOf("a|gold|x|u", "b|free|y|", "c|free||u", "d|gold|x|v", "-e", "-a", "f|gold|x|u", "h|gold|x|u").Compare(before)
	want := &Rows{New: 2, Deactivated: 1, Compared: 4, Changed: 3, Columns: []Column{
		{Name: "plan", Changed: 2}, {Name: "pw", Emptied: 1, Secret: true}, {Name: "url", Changed: 2, Emptied: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := sourceOf("a|gold|x|u").Compare(before); got.Vanished != 4 || got.Compared != 1 || got.Changed != 0 {
		t.Errorf("rows that vanish: %+v", got)
	}
	for _, note := range []string{"", "x", "{}", `{"key":"","rows":""}`, `{"key":"k","columns":[{"name":"a"}],"rows":"AAAA"}`, `{"key":"k","rows":"//////8AAAA"}`, `{"key":"k","rows":"/////wAAAAA"}`, `{"key":"k","rows":"!"}`} {
		t.Run(note, func(t *testing.T) {
			if got := sourceOf("a|gold|x|u").Compare(note); got != nil {
				t.Errorf("%s: %+v", note, got)
			}
		})
	}
}

// TestCompareNarrow compares with a note of an earlier version, which has 8 bits of each value.
// That version can't read a note of this one.
func TestCompareNarrow(t *testing.T) {
	before := sourceOf("a|gold|x|u", "b|gold|x|u", "c|gold||u", "d|gold|x|u")
	n := before.noteWith("k", narrow)
	var b []byte
	for _, r := range n.rows {
		b = append(binary.BigEndian.AppendUint32(b, r.uid), r.values...)
	}
	if size := len(b); size != 4*(uidBytes+3) {
		t.Fatalf("4 rows of 3 columns have %d bytes", size)
	}
	note := fmt.Sprintf(`{"key":"k","columns":[{"name":"plan"},{"name":"pw","secret":true},{"name":"url"}],"rows":%q}`, base64.RawStdEncoding.EncodeToString(b))
	now := sourceOf("a|gold|y|u", "b|free||u", "c|gold|x|u", "e|gold|x|u")
	want := &Rows{New: 1, Vanished: 1, Compared: 3, Changed: 1, Narrow: true, Columns: []Column{
		{Name: "plan", Changed: 1}, {Name: "pw", Emptied: 1, Secret: true}, {Name: "url"},
	}}
	if diff := cmp.Diff(want, now.Compare(note)); diff != "" {
		t.Error(diff)
	}
	unchanged := now.Unchanged(note)
	if got := [][]string{unchanged("a"), unchanged("b"), unchanged("e")}; !cmp.Equal(got, [][]string{{"plan", "url"}, {"url"}, nil}) {
		t.Errorf("unchanged: %q", got)
	}
	if next := now.Note(Key(note)); Key(next) != "k" || strings.Contains(next, `"key"`) || now.Compare(next).Narrow {
		t.Errorf("the next note: %s", next)
	}
}

// TestWhere checks that a changed condition is the cause of rows that vanish.
func TestWhere(t *testing.T) {
	note := func(where string) string {
		s := sourceOf("a|gold|x|u", "b|gold|x|u")
		s.Where = where
		return s.Note("k")
	}
	for _, tt := range []struct{ before, now, want string }{
		{"", "", ""},
		{"archived = 0", "archived = 0", ""},
		{"", "archived = 0", `where of the hub changed from absent to "archived = 0" since the last run`},
		{"archived = 0", "", `where of the hub changed from "archived = 0" to absent since the last run`},
		{"archived = 0", "plan = 'x'", `where of the hub changed from "archived = 0" to "plan = 'x'" since the last run`},
	} {
		t.Run(tt.before, func(t *testing.T) {
			s := sourceOf("a|gold|x|u")
			s.Where = tt.now
			e := &Evidence{Last: time.Unix(0, 0), Rows: s.Compare(note(tt.before))}
			if before, changed := s.WhereBefore(note(tt.before)); changed {
				e.Where = &Where{before, tt.now}
			}
			lines := strings.Join(e.Lines(), "\n")
			if got := e.Cause(); got != tt.want || !strings.Contains(lines, got) || !strings.Contains(lines, "1 row vanished") {
				t.Errorf("%q to %q: %q, lines %q", tt.before, tt.now, got, lines)
			}
		})
	}
	if _, changed := sourceOf("a|gold|x|u").WhereBefore(""); changed {
		t.Error("without a note, the condition changed")
	}
	if got := (*Evidence)(nil).Cause(); got != "" {
		t.Error(got)
	}
}

// TestLookups checks that a lookup is unchanged only if both notes know it. The note has no
// digest that others could compute.
func TestLookups(t *testing.T) {
	noted := func(lookups map[string]string) *Source {
		s := sourceOf("a|gold|x|u")
		s.Lookups = lookups
		return s
	}
	note := noted(map[string]string{"sizes": "1", "zones": "1", "gone": "1"}).Note("k")
	s := noted(map[string]string{"sizes": "1", "zones": "2", "new": "1"})
	if got := s.ChangedLookups(note); !cmp.Equal(got, []string{"zones"}) {
		t.Errorf("changed: %q", got)
	}
	if got := s.Unchanged(note)("a"); !cmp.Equal(got, []string{"plan", "url", "lookup sizes"}) {
		t.Errorf("unchanged: %q", got)
	}
	if got := s.Unchanged(note)("b"); got != nil {
		t.Errorf("another row: %q", got)
	}
	if strings.Contains(note, `"1"`) || note == noted(map[string]string{"sizes": "1", "zones": "1", "gone": "1"}).Note("l") {
		t.Error(note)
	}
	e := &Evidence{Last: time.Unix(0, 0), Lookups: s.ChangedLookups(note)}
	if lines := e.Lines(); len(lines) != 2 || lines[1] != "lookups changed: zones" {
		t.Errorf("%q", lines)
	}
}

// TestColumns: columns may come, go, change places and become secret.
func TestColumns(t *testing.T) {
	before := sourceOf("a|gold|x|u").Note("k")
	s := NewSource([]string{"url", "plan", "zone"}, func(c string) bool { return c == "url" })
	s.Active("a", []string{"v", "free", "z"})
	want := &Rows{Compared: 1, Changed: 1, Columns: []Column{{Name: "plan", Changed: 1}, {Name: "url", Secret: true}}}
	if diff := cmp.Diff(want, s.Compare(before)); diff != "" {
		t.Error(diff)
	}
}

// TestSample: of many rows, two runs note the same ones, and nothing seems to have come
// or gone that the other had no room for.
func TestSample(t *testing.T) {
	rows := func(n int, value string) *Source {
		s := sourceOf()
		for i := range n {
			s.Active(fmt.Sprint("row", i), []string{value, "x", "u"})
		}
		return s
	}
	note := rows(40_000, "gold").Note("k")
	if len(note) > maxNote*4/3+500 {
		t.Errorf("a note has %d bytes", len(note))
	}
	for _, now := range []int{40_000, 60_000, 39_000} {
		got := rows(now, "free").Compare(note)
		added, lost := max(0, now-40_000), max(0, 40_000-now)
		if !got.Sampled || (got.New > 0) != (added > 0) || (got.Vanished > 0) != (lost > 0) || got.Compared < 9000 || got.Changed < got.Compared*98/100 {
			t.Errorf("%d rows: %+v", now, got)
		}
	}
	few := rows(100, "gold")
	if got := few.Compare(note); got.New != 0 || got.Compared == 0 || got.Vanished < 10_000 {
		t.Errorf("few rows: %+v", got)
	}
}

// TestNoteHasNoValue: a note has neither a value nor a uid, and digests of a value differ
// from row to row, and from key to key.
func TestNoteHasNoValue(t *testing.T) {
	s := NewSource([]string{"plan"}, none)
	for i := range 200 {
		s.Active(fmt.Sprint("tenant", i), []string{"gold"})
	}
	if note := s.Note("k"); strings.Contains(note, "gold") || strings.Contains(note, "tenant") {
		t.Error(note)
	}
	different, n := map[uint16]bool{}, s.noteWith("k", width)
	for _, r := range n.rows {
		different[n.value(r, 0)] = true
	}
	if len(different) < 190 {
		t.Errorf("one value has %d digests in 200 rows", len(different))
	}
	if Key(s.Note("k")) != "k" || Key("x") != "" {
		t.Errorf("key %q", Key(s.Note("k")))
	}
	if cmp.Equal(read1(s.Note("a")), read1(s.Note("b"))) {
		t.Error("the key makes no difference")
	}
}

func read1(text string) []uint32 {
	var uids []uint32
	for _, r := range read(text).rows {
		uids = append(uids, r.uid)
	}
	return uids
}

func TestSince(t *testing.T) {
	hub := lynq.HubKey{Namespace: "shop", Name: "crm"}
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := Since(hub, last, Counts{3, 2, 1}, Counts{4, 4, 0}, []string{"id", "plan", "active"}, []string{"id", "zone", "area", "active"})
	if diff := cmp.Diff(&Evidence{Hub: hub, Last: last, Before: Counts{3, 2, 1}, Now: Counts{4, 4, 0}, NewColumns: []string{"area", "zone"}, GoneColumns: []string{"plan"}}, got); diff != "" {
		t.Error(diff)
	}
	if first := Since(hub, time.Time{}, Counts{}, Counts{4, 4, 0}, nil, []string{"id"}); first.NewColumns != nil || first.Lines() != nil {
		t.Errorf("the first run: %+v", first)
	}
}

func TestEmptied(t *testing.T) {
	e := &Evidence{Rows: &Rows{Compared: 8, Columns: []Column{{Name: "a", Emptied: 2}, {Name: "b", Emptied: 3}, {Name: "c"}}}}
	if diff := cmp.Diff([]Column{{Name: "b", Emptied: 3}}, e.Emptied()); diff != "" {
		t.Error(diff)
	}
	if (*Evidence)(nil).Emptied() != nil || (&Evidence{}).Emptied() != nil {
		t.Error("nothing is empty of what was not compared")
	}
}

func TestLines(t *testing.T) {
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := Evidence{Last: last, Before: Counts{120, 110, 10}, Now: Counts{100, 95, 5}, NewColumns: []string{"zone"}, GoneColumns: []string{"plan", "size"}, Rows: &Rows{
		New: 1, Vanished: 15, Deactivated: 2, Compared: 93, Changed: 15, Columns: []Column{{Name: "image", Changed: 12}, {Name: "url"}, {Name: "user", Changed: 3, Emptied: 2}, {Name: "pw", Secret: true, Emptied: 1}},
	}}
	want := []string{
		"100 rows (120 in the last run, 2026-01-02T03:04:05Z), 95 active (110), 5 inactive (10)",
		"1 row is new, 15 vanished, 2 became inactive",
		"15 of 93 rows changed: image in 12, user in 3 (empty in 2), pw (empty in 1)",
		"columns: new zone; gone plan, size",
	}
	if diff := cmp.Diff(want, e.Lines()); diff != "" {
		t.Error(diff)
	}
	e.Rows.Narrow = true
	if got := e.Lines()[2]; got != "at least "+want[2] {
		t.Error(got)
	}
	e.Rows.Sampled = true
	if got := e.Lines()[1]; got != "1 row is new, 15 vanished, 2 became inactive (in a sample)" {
		t.Error(got)
	}
	same := Evidence{Last: last, Before: Counts{3, 2, 1}, Now: Counts{3, 2, 1}, Rows: &Rows{Compared: 2, Columns: []Column{{Name: "image"}}}}
	if same.Lines() != nil {
		t.Errorf("nothing changed: %q", same.Lines())
	}
	if got := same.All(); len(got) != 1 || !strings.HasPrefix(got[0], "3 rows (3 in the last run,") {
		t.Errorf("all: %q", got)
	}
	swapped := Evidence{Last: last, Before: Counts{3, 2, 1}, Now: Counts{3, 2, 1}, Rows: &Rows{New: 2, Vanished: 1, Compared: 1}}
	if diff := cmp.Diff([]string{"3 rows (3 in the last run, 2026-01-02T03:04:05Z), 2 active (2), 1 inactive (1)", "2 rows are new, 1 vanished"}, swapped.Lines()); diff != "" {
		t.Error(diff)
	}
}

func TestUnchanged(t *testing.T) {
	columns := []string{"plan", "pw", "size"}
	source := func(columns []string, rows ...[]string) *Source {
		s := NewSource(columns, func(c string) bool { return c == "pw" })
		for _, r := range rows {
			s.Active(r[0], r[1:])
		}
		return s
	}
	note := source(columns, []string{"acme", "gold", "x", "1"}, []string{"bolt", "gold", "y", "2"}).Note("key")
	now := source([]string{"size", "new", "plan", "pw"}, []string{"acme", "1", "n", "silver", "x"}, []string{"bolt", "2", "n", "gold", "y"}, []string{"coil", "3", "n", "gold", "z"})
	unchanged := now.Unchanged(note)
	for uid, want := range map[string]string{"acme": "[size]", "bolt": "[size plan]", "coil": "[]", "gone": "[]"} {
		t.Run(uid, func(t *testing.T) {
			if got := fmt.Sprint(unchanged(uid)); got != want {
				t.Errorf("%s: %s, want %s", uid, got, want)
			}
		})
	}
	if got := now.Unchanged("")("acme"); got != nil {
		t.Errorf("without a note: %v", got)
	}
}
