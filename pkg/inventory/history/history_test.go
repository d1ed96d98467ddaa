package history

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

func crm() lynq.HubKey { return lynq.HubKey{Namespace: "shop", Name: "crm"} }

func at(second int) time.Time {
	return time.Date(2026, 3, 4, 4, 0, 0, 0, time.UTC).Add(time.Duration(second) * time.Second)
}

// run returns a run that creates objects, deletes the last one, and fails at one.
func run(second, objects int) *Entry {
	e := &Entry{
		Run: NameRun(at(second), "abcdef"), Time: at(second), Command: "apply", Outcome: OutcomeDone, Counts: Counts{Actions: map[string]int{"create": objects}},
		Inputs: Inputs{Forms: []Form{{"shop", "web", "0123456789abcdef"}}, Rows: &Rows{Rows: 3, Active: 2, Digest: "fedcba9876543210"}},
	}
	for i := range objects {
		o := Object{RefFields: lynq.RefFields{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("tenant-%08x-settings", rand.Uint32())}, ID: "settings", Action: "create", Reason: "New", Outcome: "done"}
		switch i {
		case objects - 1:
			o.Action, o.Reason, o.Name = "delete", "NodeGone", "last"
		case objects - 2:
			o.Outcome, o.Name = "failed", "bad"
		}
		e.Nodes = append(e.Nodes, Node{Namespace: "shop", Name: o.Name, Outcome: o.Outcome, Objects: []Object{o}})
	}
	return e
}

func with(t *testing.T, cm *corev1.ConfigMap, e *Entry) *corev1.ConfigMap {
	t.Helper()
	next, err := With(cm, e)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func size(cm *corev1.ConfigMap) int {
	n := 0
	for _, v := range cm.BinaryData {
		n += len(v)
	}
	return n
}

// TestHistory checks that added runs read back, newest first, and that the old ConfigMap
// doesn't change.
func TestHistory(t *testing.T) {
	t.Parallel()
	empty := New(crm())
	first, second := run(1, 3), run(2, 2)
	cm := with(t, with(t, empty, first), second)
	got, err := Entries(cm)
	if diff := cmp.Diff([]*Entry{second, first}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if hub, err := HubOf(cm); hub != crm() || err != nil {
		t.Errorf("it is of hub %s: %v", hub, err)
	}
	if !Has(cm, first.Run) || Has(cm, "other") || len(empty.BinaryData) > 0 {
		t.Error("Has doesn't tell what there is, or With changed its argument")
	}
}

// TestRefusedAgain checks that a refusal replaces the same one just before it, and nothing
// else.
func TestRefusedAgain(t *testing.T) {
	t.Parallel()
	refused := func(second int, guard string) *Entry {
		e := run(second, 0)
		e.Outcome, e.Refusals = OutcomeRefused, []Refusal{{Guard: guard, What: "5 of 8 nodes would be deleted"}}
		return e
	}
	cm := New(crm())
	for _, e := range []*Entry{refused(1, "max-delete"), refused(2, "max-delete"), refused(3, "allow-empty"), run(4, 1), run(5, 1), refused(6, "allow-empty")} {
		cm = with(t, cm, e)
	}
	got, err := Entries(cm)
	var seconds []int
	for _, e := range got {
		seconds = append(seconds, e.Time.Second())
	}
	if want := []int{6, 5, 4, 3, 2}; !cmp.Equal(want, seconds) || err != nil {
		t.Errorf("got the runs of seconds %v (%v), want %v", seconds, err, want)
	}
}

// TestBounds checks that a history has the newest 50 runs, and far fewer bytes than a
// ConfigMap allows.
func TestBounds(t *testing.T) {
	t.Parallel()
	cm := New(crm())
	for i := range 60 {
		cm = with(t, cm, run(i, 2))
	}
	entries, err := Entries(cm)
	if err != nil || len(entries) != Max || !entries[0].Time.Equal(at(59)) || !entries[Max-1].Time.Equal(at(10)) {
		t.Errorf("there are %d runs, of %v to %v: %v", len(entries), entries[0].Time, entries[len(entries)-1].Time, err)
	}
	for i := range 60 {
		cm = with(t, cm, run(100+i, 2*maxLines))
		if n := size(cm); n > maxAll {
			t.Fatalf("%d bytes", n)
		}
	}
	if entries, err = Entries(cm); err != nil || len(entries) < maxAll/maxEntry || !entries[0].Time.Equal(at(159)) {
		t.Errorf("there are %d runs: %v", len(entries), err)
	}
	// A run whose clock is slow is added too.
	if old := run(0, 1); !Has(with(t, cm, old), old.Run) {
		t.Error("a run of a clock that is behind is missing")
	}
}

// TestShortened checks that a large run keeps its deleted and failed objects, and counts
// the others.
func TestShortened(t *testing.T) {
	t.Parallel()
	large := run(1, 10_000)
	large.Refusals = []Refusal{{"max-delete", strings.Repeat("x", 2*maxText)}}
	cm := with(t, New(crm()), large)
	if n := size(cm); n > maxEntry {
		t.Errorf("%d bytes", n)
	}
	entries, err := Entries(cm)
	if err != nil {
		t.Fatal(err)
	}
	e := entries[0]
	names := map[string]bool{}
	for _, n := range e.Nodes {
		names[n.Name] = true
	}
	if n := len(e.Nodes); n < 100 || n > maxLines || n+e.MoreNodes != 10_000 || e.MoreObjects != e.MoreNodes || !names["last"] || !names["bad"] {
		t.Errorf("%d nodes, %d more, %d more objects: %v", n, e.MoreNodes, e.MoreObjects, names["last"])
	}
	if n := len(e.Refusals[0].What); n > maxText+len("…") {
		t.Errorf("a refusal has %d bytes", n)
	}
	// A node with only some of its objects counts the rest.
	one := &Entry{Nodes: []Node{{Name: "n", Outcome: "done"}}}
	for i := range 5 {
		one.Nodes[0].Objects = append(one.Nodes[0].Objects, Object{RefFields: lynq.RefFields{Name: fmt.Sprint(i)}, Action: "create", Outcome: "done"})
	}
	if got := one.shortened(2).Nodes[0]; len(got.Objects) != 2 || got.MoreObjects != 3 {
		t.Errorf("got %+v", got)
	}
}

// TestUnreadable checks that lynqctl never overwrites an unreadable history. A broken
// entry doesn't hide others.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*corev1.ConfigMap)
		want   string
	}{
		"newer":      {func(cm *corev1.ConfigMap) { cm.Data["format"] = "2" }, "ConfigMap shop/lynqhistory-crm: data.format: a newer lynqctl wrote it: it has format 2, and this lynqctl knows 1 (use that lynqctl)"},
		"no format":  {func(cm *corev1.ConfigMap) { cm.Data = nil }, `data.format: "" is no format (restore it as it was, or delete it: the next run begins a new history)`},
		"no label":   {func(cm *corev1.ConfigMap) { delete(cm.Labels, wellknown.LabelRecord) }, "metadata.labels: they are not those of a hub's history"},
		"other name": {func(cm *corev1.ConfigMap) { cm.Name = "lynqhistory-erp" }, "metadata.labels"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cm := New(crm())
			test.change(cm)
			_, addErr := With(cm, run(1, 1))
			_, readErr := Entries(cm)
			for _, err := range []error{addErr, readErr} {
				if wrong := (*UnreadableError)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	good := run(1, 1)
	cm := with(t, New(crm()), good)
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, _ = w.Write(bytes.Repeat([]byte(" "), maxPlain+1))
	_ = w.Close()
	for i, bad := range [][]byte{nil, []byte("torn"), bomb.Bytes(), cm.BinaryData[good.Run]} {
		cm.BinaryData[NameRun(at(10+i), "bbbb")] = bad
	}
	entries, err := Entries(cm)
	if len(entries) != 1 || err == nil || strings.Count(err.Error(), "binaryData.") != 4 || !strings.Contains(err.Error(), "it is too large") {
		t.Errorf("%d runs: %v", len(entries), err)
	}
	if next := with(t, cm, run(50, 1)); len(next.BinaryData) != 6 {
		t.Errorf("there are %d entries", len(next.BinaryData))
	}
}
