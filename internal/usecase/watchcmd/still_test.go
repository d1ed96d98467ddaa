package watchcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// notes is a View that keeps its notes.
type notes struct {
	session.View
	lines []string
}

func (n *notes) Note(line string) { n.lines = append(n.lines, line) }

// TestSparing wants lynqctl to leave out the deletion of a claim until a third reading of
// inputs and rows is the same.
func TestSparing(t *testing.T) {
	dir := t.TempDir()
	inputs, table := filepath.Join(dir, "form.yaml"), filepath.Join(dir, "rows.csv")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(inputs, "cut")
	write(table, "id")
	o := &Options{}
	o.Apply.Inputs.Paths = []string{inputs}
	said := &notes{}
	h := &hubWatch{w: &watching{engine: &session.Engine{View: said}, o: o}}
	hub := &form.Hub{Name: "crm", Source: endpoint.Connection{Type: endpoint.SourceCSV, Path: table}}
	h.inputs = newLatestInputs(&hubInputs{Loaded: &applycmd.Loaded{Inputs: &load.Inputs{Hubs: []load.HubPrograms{{Hub: hub}}}}})
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := &part{hubWatch: h, in: h.inputs.get(), rows: &hubRows{file: new(watch.NewReading(h.rowFile(), began.Add(time.Second)))}}
	p.in.files = watch.NewReading(h.w.digest(), began)

	claim := inventory.Entry{Ref: lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "acme"}}
	takes := []plan.Plan{
		{Nodes: []plan.NodePlan{{NodeID: lynq.NodeID{Namespace: "ns", Name: "acme-web"}, Steps: []plan.Step{{Action: plan.ActionDelete, Entry: &claim}}}}},
		{After: true},
	}
	harmless := []plan.Plan{{}, {After: true}}
	for _, step := range []struct {
		after   time.Duration
		do      func()
		plans   []plan.Plan
		whole   bool
		carried int           // plans that lynqctl carries out: those of tombstones wait, too
		third   time.Duration // 0 for none
	}{
		{after: time.Second, plans: harmless, whole: true, carried: 2},
		{after: time.Second, plans: takes, whole: true, carried: 1, third: 6 * time.Second},
		{after: 2 * time.Second, plans: harmless, carried: 2, third: 6 * time.Second},
		{after: 6 * time.Second, do: func() { write(inputs, "whole") }, plans: takes, whole: true, carried: 1, third: 11 * time.Second},
		{after: 11 * time.Second, do: func() { write(inputs, "cut") }, plans: takes, whole: true, carried: 2},
		{after: 12 * time.Second, do: func() { write(table, "id\n1") }, plans: takes, whole: true, carried: 2},
	} {
		if step.do != nil {
			step.do()
		}
		run := p.sparing(step.plans, step.whole, began.Add(step.after))
		want := time.Time{}
		if step.third > 0 {
			want = began.Add(step.third)
		}
		if len(run) != step.carried || !h.times.rereadFiles.Equal(want) {
			t.Errorf("after %s: %d plans are carried out, third reading at %s; want %d and %s", step.after, len(run), h.times.rereadFiles, step.carried, want)
		}
		if spared := len(run[0].Nodes) == 0; len(step.plans[0].Nodes) > 0 && spared != (step.carried == 1) {
			t.Errorf("after %s: the deletion is spared: %t", step.after, spared)
		}
	}
	if len(said.lines) != 1 {
		t.Errorf("notes %q, want one", said.lines)
	}
}

// writing is a file that a program writes, with its content over time.
type writing struct {
	began time.Time
	steps []step
	reads int
}

type step struct {
	after time.Duration
	text  string
}

func (w *writing) read() string {
	w.reads++
	text := ""
	for _, s := range w.steps {
		if time.Since(w.began) >= s.after {
			text = s.text
		}
	}
	return text
}

func TestStill(t *testing.T) {
	for name, test := range map[string]struct {
		known string
		steps []step
		want  string
		reads int
		took  time.Duration
	}{
		"known":                 {"a", []step{{0, "a"}}, "a", 1, 0},
		"no files":              {"", nil, "", 1, 0},
		"new":                   {"a", []step{{0, "b"}}, "b", 2, 500 * time.Millisecond},
		"in the middle":         {"a", []step{{0, "b"}, {400 * time.Millisecond, "c"}}, "c", 3, time.Second},
		"back to what is known": {"a", []step{{0, "b"}, {400 * time.Millisecond, "a"}}, "a", 3, time.Second},
		"written for long": {"a", []step{{0, "b"}, {400 * time.Millisecond, "bc"}, {900 * time.Millisecond, "bcd"}, {1300 * time.Millisecond, "bcde"}},
			"bcde", 5, 2 * time.Second},
		"gone for a moment": {"a", []step{{0, ""}, {300 * time.Millisecond, "b"}}, "b", 3, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &writing{began: time.Now(), steps: test.steps}
				got, err := still(t.Context(), test.known, w.read)
				if took := time.Since(w.began); err != nil || got != test.want || w.reads != test.reads || took != test.took {
					t.Errorf("%q after %s and %d reads (%v), want %q after %s and %d", got, took, w.reads, err, test.want, test.took, test.reads)
				}
			})
		})
	}
}

func TestStillEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("stopped")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { stop(why) })
		n := 0
		if _, err := still(ctx, "", func() string { n++; return string(rune('a' + n)) }); !errors.Is(err, why) {
			t.Errorf("a file that never keeps still: %v", err)
		}
	})
}

// TestReadStill changes a file between the check that it keeps still and the end of a read.
// That read must not count, whether it failed or not.
func TestReadStill(t *testing.T) {
	broken := errors.New("line 2 breaks off")
	for name, failed := range map[string]error{"read": nil, "failed": broken} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &writing{began: time.Now(), steps: []step{{0, "b"}, {600 * time.Millisecond, "cut"}, {2 * time.Second, "whole"}}}
				var got []string
				digest, err := readStill(t.Context(), "a", w.read, func() error {
					got = append(got, w.read())
					if len(got) > 1 {
						return nil
					}
					<-time.After(time.Until(w.began.Add(2 * time.Second))) // the read takes until then
					return failed
				})
				if err != nil || digest != "whole" || !slices.Equal(got, []string{"b", "whole"}) {
					t.Errorf("%q after the reads %q: %v", digest, got, err)
				}
			})
		})
	}
	if _, err := readStill(t.Context(), "a", func() string { return "a" }, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the error of a whole read is %v", err)
	}
}

// TestReadingCut gives two readings a form that ends after its first resource. The rest
// comes a second later, and the third reading sees it.
func TestReadingCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writing{began: time.Now(), steps: []step{{0, "cut"}, {time.Second, "whole"}}}
		digest, err := still(t.Context(), "before", w.read)
		if err != nil || digest != "cut" {
			t.Fatal(digest, err)
		}
		r := watch.NewReading(digest, time.Now())
		for range 10 {
			again := r.Again(time.Now(), w.read)
			if again.IsZero() {
				t.Fatalf("the cut file is taken for whole after %s", time.Since(w.began))
			}
			<-time.After(time.Until(again))
		}
	})
}
