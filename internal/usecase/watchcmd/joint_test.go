package watchcmd

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

func movedRef(name string) lynq.Ref {
	return lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// TestSharedObjects wants an object to count if another hub renders it, or if its labels name
// another hub.
func TestSharedObjects(t *testing.T) {
	us, eu := lynq.HubKey{Namespace: "shop", Name: "us"}, lynq.HubKey{Namespace: "shop", Name: "eu"}
	blocked := func(name, hub string) plan.Step {
		ref := movedRef(name)
		return plan.Step{Action: plan.ActionBlock, Object: &plan.Object{Ref: ref}, Live: &tracking.Live{Ref: ref, Hub: hub}}
	}
	leaving := func(name string, hub *lynq.HubKey) plan.Step {
		return plan.Step{Action: plan.ActionSkip, Entry: &inventory.Entry{Ref: movedRef(name)}, Elsewhere: hub}
	}
	plans := []plan.Plan{{Hub: us, Nodes: []plan.NodePlan{
		{Steps: []plan.Step{leaving("a", &eu), leaving("b", nil), blocked("c", "eu")}},
		{Steps: []plan.Step{blocked("d", "us"), blocked("e", ""), blocked("f", "ap")}},
	}}}
	var got []string
	for _, s := range sharedObjectsOf(plans) {
		got = append(got, s.String())
	}
	want := []string{"ConfigMap/shop/a shop/eu ", "ConfigMap/shop/c  eu", "ConfigMap/shop/f  ap"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestMoves wants an object to move to a hub whose rows want it, and away from a hub whose
// rows don't.
func TestMoves(t *testing.T) {
	us, eu := lynq.HubKey{Namespace: "shop", Name: "us"}, lynq.HubKey{Namespace: "shop", Name: "eu"}
	node := &plan.Node{Objects: []plan.Object{{Ref: movedRef("rendered")}}, Claims: plan.Claims{Refs: []lynq.Ref{movedRef("claimed")}}}
	for name, tt := range map[string]struct {
		shared sharedObject
		hub    lynq.HubKey
		want   bool
	}{
		"to a hub that renders it":     {sharedObject{ref: movedRef("rendered"), to: eu}, eu, true},
		"to one that may":              {sharedObject{ref: movedRef("claimed"), to: eu}, eu, true},
		"to one that doesn't any more": {sharedObject{ref: movedRef("x"), to: eu}, eu, false},
		"to another one":               {sharedObject{ref: movedRef("rendered"), to: us}, eu, false},
		"from a hub that drops it":     {sharedObject{ref: movedRef("x"), from: "eu"}, eu, true},
		"from one that wants it":       {sharedObject{ref: movedRef("rendered"), from: "eu"}, eu, false},
		"from one that may":            {sharedObject{ref: movedRef("claimed"), from: "eu"}, eu, false},
		"from another one":             {sharedObject{ref: movedRef("x"), from: "us"}, eu, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := moves([]sharedObject{tt.shared}, tt.hub, []*plan.Node{node}); got != tt.want {
				t.Errorf("%s: moves: %t", name, got)
			}
		})
	}
}

// TestJoin lets two hubs join each other at the same time, and wants one of them to get
// the other. A waiting hub gives up for another run, and at the end of a term.
func TestJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := func() (*hubWatch, *term, context.CancelFunc) {
			ctx, stop := context.WithCancel(t.Context())
			return &hubWatch{joins: make(chan chan struct{})}, &term{ctx: ctx, wanted: make(chan struct{})}, stop
		}
		us, usTerm, _ := hub()
		eu, euTerm, stop := hub()
		met := make(chan bool, 2)
		join := func(h, other *hubWatch, own, t *term) {
			over := make(chan struct{})
			defer close(over)
			got, err := offer(own.ctx, h, own, t, other.joins, over)
			if !got && !errors.Is(err, errNewChanges) {
				met <- true // one too many
			}
			met <- got
			<-time.After(time.Second)
		}
		go join(us, eu, usTerm, euTerm)
		go join(eu, us, euTerm, usTerm)
		if first, second := <-met, <-met; first == second {
			t.Errorf("each of them got the other: %t", first)
		}
		time.AfterFunc(time.Second, stop)
		if got, err := offer(usTerm.ctx, us, usTerm, euTerm, eu.joins, make(chan struct{})); got || err != nil {
			t.Errorf("the term ended: met %t, %v", got, err)
		}
		wanted := make(chan struct{})
		close(wanted)
		ap, apTerm, _ := hub()
		if got, err := offer(usTerm.ctx, us, &term{ctx: usTerm.ctx, wanted: wanted}, apTerm, ap.joins, make(chan struct{})); got || !errors.Is(err, errYielded) {
			t.Errorf("another run wants the hub: met %t, %v", got, err)
		}
	})
}

// TestJoinInCircle wants every hub in a circle of joiners to have its round.
func TestJoinInCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 4
		hubs, terms := make([]*hubWatch, count), make([]*term, count)
		for i := range hubs {
			hubs[i] = &hubWatch{joins: make(chan chan struct{})}
			terms[i] = &term{ctx: t.Context(), wanted: make(chan struct{})}
		}
		had, end := make(chan int), make(chan struct{})
		keep := func(i int) {
			next := (i + 1) % count
			for met := false; !met; {
				over := make(chan struct{})
				met, _ = offer(t.Context(), hubs[i], terms[i], terms[next], hubs[next].joins, over)
				<-time.After(time.Second) // a round, of both hubs or of one
				close(over)
			}
			had <- i
			for {
				select {
				case over := <-hubs[i].joins:
					<-over
				case <-end:
					return
				}
			}
		}
		for i := range hubs {
			go keep(i)
		}
		for range hubs {
			<-had
		}
		close(end)
	})
}

// rowsOf returns rows that give a hub one node.
func rowsOf(hub lynq.HubKey, n *plan.Node) *hubRows {
	return &hubRows{
		Rendering: applycmd.Rendering{Nodes: map[lynq.HubKey][]*plan.Node{hub: {n}}},
		file:      new(watch.NewReading("", time.Now())), wanted: map[lynq.NodeKey]string{n.Key(): digestOf(n)},
	}
}

// answerRead waits until somebody asks for a read of a hub's rows, and says that it
// succeeded.
func answerRead(h *hubWatch) {
	<-h.reads.asking
	for _, result := range h.reads.begin() {
		result <- nil
	}
}

// TestBorrowBusy wants a hub to continue if the source of another one never answers, or
// that one has a long round. It then ignores the other hub for a while.
func TestBorrowBusy(t *testing.T) {
	for name, readable := range map[string]bool{"its source doesn't answer": false, "its round is long": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &notes{}
				w := &watching{engine: &session.Engine{View: log}}
				us, eu := lynq.HubKey{Namespace: "shop", Name: "us"}, lynq.HubKey{Namespace: "shop", Name: "eu"}
				hub := func(key lynq.HubKey) *hubWatch {
					return &hubWatch{
						w: w, hub: load.HubPrograms{Key: key}, changes: watch.NewChanges(), term: &term{ctx: t.Context(), wanted: make(chan struct{})},
						joins: make(chan chan struct{}), reads: newRowReads(),
					}
				}
				h, other := hub(us), hub(eu)
				node := &plan.Node{Objects: []plan.Object{{Ref: movedRef("x")}}}
				other.reads.take(rowsOf(eu, node))
				if readable {
					go answerRead(other)
				}
				got, err := h.joinInTime(t.Context(), h.term, other, []sharedObject{{ref: movedRef("x"), to: eu}}, make(chan struct{}))
				if got != nil || err != nil {
					t.Errorf("joined %v, %v", got, err)
				}
				if d := cmp.Diff([]string{busyNote(us, eu)}, log.lines); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
				if now := time.Now(); !now.Before(h.times.joinsFrom) {
					t.Errorf("at %s it waits again", now)
				}
			})
		})
	}
}

// TestJoinOthersYields wants a hub that waits for another one to give up a joined hub if
// another run wants it.
func TestJoinOthersYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watching{engine: &session.Engine{View: &notes{}}}
		wanted := make(chan struct{})
		hub := func(name string) *hubWatch {
			key := lynq.HubKey{Namespace: "shop", Name: name}
			h := &hubWatch{
				w: w, in: &hubInputs{Loaded: &applycmd.Loaded{}}, hub: load.HubPrograms{Key: key}, changes: watch.NewChanges(), term: &term{ctx: t.Context(), wanted: wanted},
				joins: make(chan chan struct{}), reads: newRowReads(),
			}
			h.reads.take(rowsOf(key, &plan.Node{Objects: []plan.Object{{Ref: movedRef(name)}}}))
			w.hubs = append(w.hubs, h)
			return h
		}
		joined, busy, h := hub("eu"), hub("ap"), hub("us")
		h.term.wanted = make(chan struct{})
		w.hubs = []*hubWatch{joined, busy, h}
		go func() {
			answerRead(joined)
			<-joined.joins
			<-time.After(time.Second)
			close(wanted)
		}()
		shared := []sharedObject{{ref: movedRef("eu"), to: joined.hub.Key}, {ref: movedRef("ap"), to: busy.hub.Key}}
		r := &round{parts: []*part{{hubWatch: h, term: h.term}}}
		if err := r.joinOthers(t.Context(), shared, make(chan struct{})); !errors.Is(err, errJoinedHub) {
			t.Errorf("it ended with %v", err)
		}
		if len(r.parts) != 2 {
			t.Errorf("it had %d hubs", len(r.parts))
		}
	})
}
