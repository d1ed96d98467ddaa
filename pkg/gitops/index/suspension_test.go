package index

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// until suspends a node until an hour, or without an end for 0.
func until(node string, hour int, reason string) Suspension {
	s := Suspension{lynq.NodeKey{Namespace: "blue", Name: node}, inventory.Suspension{By: "ann", Since: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Reason: reason}}
	if hour > 0 {
		s.Until = time.Date(2030, 1, 1, hour, 0, 0, 0, time.UTC)
	}
	return s
}

// TestSuspensionRoundTrip checks the line of a suspension. Only an index with one needs a
// lynqctl that knows suspensions.
func TestSuspensionRoundTrip(t *testing.T) {
	x := sampleIndex()
	plain := x.Encode()
	if !bytes.HasPrefix(plain, []byte(`{"format":1,`)) {
		t.Errorf("older versions can't read %s", plain)
	}
	x.Suspended = []Suspension{until("a-web", 0, ""), until("b-web", 2, "a \"<restore>\" ü")}
	text := x.Encode()
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	compareIndex(t, x, got)
	if n := bytes.Count(text, []byte(`{"format":2,`)); n != 2 {
		t.Errorf("%d heads are for newer versions:\n%s", n, text)
	}
	if x.Seal().Digests.Plan == sampleIndex().Seal().Digests.Plan {
		t.Error("the plan doesn't tell the suspensions")
	}
	for _, s := range x.Suspended {
		x = x.Suspend(s.Node, nil)
	}
	if !bytes.Equal(x.Encode(), plain) {
		t.Errorf("resumed: %s", x.Encode())
	}
}

// TestMergedSuspensions reads an index that has the lines of two branches. The suspension that
// lasts longer counts, and the index still knows that others changed it.
func TestMergedSuspensions(t *testing.T) {
	for name, tt := range map[string]struct {
		one, other []Suspension
		want       []Suspension
	}{
		"one side suspends":    {[]Suspension{until("a-web", 2, "")}, nil, []Suspension{until("a-web", 2, "")}},
		"two nodes":            {[]Suspension{until("b-web", 2, "")}, []Suspension{until("a-web", 3, "")}, []Suspension{until("a-web", 3, ""), until("b-web", 2, "")}},
		"until different ends": {[]Suspension{until("a-web", 2, "x")}, []Suspension{until("a-web", 3, "y")}, []Suspension{until("a-web", 3, "y")}},
		"one without an end":   {[]Suspension{until("a-web", 0, "x")}, []Suspension{until("a-web", 3, "y")}, []Suspension{until("a-web", 0, "x")}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				tt.one, tt.other = tt.other, tt.one
				one, other := sampleIndex(), sampleIndex()
				one.Suspended, other.Suspended = tt.one, tt.other
				got, err := Decode(append(one.Encode(), other.Encode()...))
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Suspended, tt.want) {
					t.Errorf("%v", got.Suspended)
				}
			}
		})
	}
	x := sampleIndex()
	merged, err := Decode([]byte(strings.Replace(string(x.Encode()), "\n", "\n{\"format\":1}\n", 1)))
	if err != nil || !merged.Edited {
		t.Fatal(err, merged)
	}
	again, err := Decode(merged.Suspend(until("a-web", 0, "").Node, &inventory.Suspension{By: "ann"}).Encode())
	if err != nil || !again.Edited || len(again.Suspended) != 1 {
		t.Error(err, again)
	}
}

// TestBadSuspension refuses an index with a suspension that lynqctl can't read, because it
// must not do more than somebody allowed.
func TestBadSuspension(t *testing.T) {
	for text, want := range map[string]string{
		`{"suspended":{"by":"ann"}}`:                                               "line 2: it suspends no node",
		`{"suspended":{"until":"tomorrow"},"node":"a"}`:                            "line 2: it is no line of an index",
		`{"suspended":{"until":"9999-12-31T23:00:00-02:00"},"node":"a"}`:           "line 2: it has a time beyond the year 9999",
		`{"suspended":true,"node":"a"}`:                                            "line 2: it is no line of an index",
		`{"suspended":{"by":"ann"},"node":"a","path":"a","hub":"b"}`:               `line 2: sha256 "" is no digest`,
		`{"suspended":{"by":"ann","since":"-001-01-01T00:00:00Z"},"node":"a-web"}`: "line 2: it is no line of an index",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Decode([]byte(`{"format":2}` + "\n" + text + "\n" + `{"format":2,"last":true}` + "\n"))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		})
	}
}
