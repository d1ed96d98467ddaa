package watchcmd

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// turnScene is a watch with hubs that it has the Leases of. Nobody has their turns.
type turnScene struct {
	log  *notes
	hubs []*hubWatch
	ends []context.CancelFunc // of their terms
	want []chan struct{}      // each closes when another run wants the hub
}

// newTurnScene returns a turnScene with hubs of these names. Each wants an object of its
// name.
func newTurnScene(t *testing.T, names ...string) *turnScene {
	t.Helper()
	s := &turnScene{log: &notes{}}
	w := &watching{engine: &session.Engine{View: s.log}}
	for _, name := range names {
		key := lynq.HubKey{Namespace: "shop", Name: name}
		ctx, end := context.WithCancel(t.Context())
		wanted := make(chan struct{})
		h := &hubWatch{
			w: w, inputs: newLatestInputs(&hubInputs{Loaded: &applycmd.Loaded{}}), hub: load.HubPrograms{Key: key}, changes: watch.NewChanges(), turn: newTurn(), reads: newRowReads(),
			term: &term{ctx: ctx, wanted: wanted},
		}
		h.reads.take(rowsOf(key, &plan.Node{Objects: []plan.Object{{Ref: movedRef(name)}}}))
		s.hubs, s.ends, s.want = append(s.hubs, h), append(s.ends, end), append(s.want, wanted)
	}
	w.hubs = sortedHubs(slices.Clone(s.hubs))
	return s
}

// TestTurnsInCircle wants every hub in a circle of hubs to have a round with its neighbours,
// and no hub to be in two rounds at once.
func TestTurnsInCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTurnScene(t, "a", "b", "c", "d")
		var mu sync.Mutex
		busy, most := map[*hubWatch]int{}, 0
		use := func(hubs []*hubWatch, by int) {
			mu.Lock()
			defer mu.Unlock()
			for _, h := range hubs {
				busy[h] += by
				most = max(most, busy[h])
			}
		}
		var rounds sync.WaitGroup
		for i, h := range s.hubs {
			others := []*hubWatch{s.hubs[(i+1)%len(s.hubs)], s.hubs[(i+3)%len(s.hubs)]}
			rounds.Go(func() {
				for range 5 {
					h.turn.wait()
					joined, blocked, err := h.takeTurns(t.Context(), h.term, others)
					if len(joined) != len(others) || blocked != nil || err != nil {
						t.Errorf("%d hubs, %v", len(joined), err)
					}
					all := append(slices.Clone(others), h)
					use(all, 1)
					<-time.After(time.Second)
					use(all, -1)
					for _, j := range joined {
						j.end()
					}
					h.turn.end()
				}
			})
		}
		rounds.Wait()
		if most != 1 {
			t.Errorf("a hub was in %d rounds at once", most)
		}
	})
}

// TestTurnsGiveUp checks when a hub stops waiting for others. It has its own turn then, and
// no other.
func TestTurnsGiveUp(t *testing.T) {
	for name, tt := range map[string]struct {
		has  int // the hub whose turn another round has
		then func(*turnScene)
		busy bool
		err  error
	}{
		"the other hub is busy for long":                {has: 2, busy: true},
		"another run wants the hub":                     {has: 2, then: func(s *turnScene) { close(s.want[1]) }, err: errYielded},
		"another run wants a hub that the round has":    {has: 2, then: func(s *turnScene) { close(s.want[0]) }, err: errJoinedHub},
		"a hub that the round has ends its term":        {has: 2, then: func(s *turnScene) { s.ends[0]() }, err: errJoinedHub},
		"a round of other hubs has the hub":             {has: 1, err: errNewChanges},
		"a hub that the round would have ends its term": {has: 2, then: func(s *turnScene) { s.ends[2](); s.hubs[2].turn.end() }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTurnScene(t, "a", "b", "c")
				first, h, last := s.hubs[0], s.hubs[1], s.hubs[2]
				h.turn.wait()
				if tt.has == 1 { // it gets the turn as soon as the hub gives it up
					go h.turn.wait()
					synctest.Wait()
					time.AfterFunc(2*joinWithin, h.turn.end)
				} else {
					last.turn.wait()
				}
				if tt.then != nil {
					time.AfterFunc(time.Second, func() { tt.then(s) })
				}
				joined, busy, err := h.takeTurns(t.Context(), h.term, []*hubWatch{first, last})
				if !errors.Is(err, tt.err) || (busy == last) != tt.busy {
					t.Errorf("busy: %t, %v", busy != nil, err)
				}
				for _, j := range joined {
					if j.hubWatch != first {
						t.Errorf("it took %s", j.hub.Key)
					}
					j.end()
				}
				if !first.turn.takeFree() || h.turn.takeFree() {
					t.Error("it has another turn, or not its own")
				}
				if tt.has == 2 && !last.changes.Any() {
					t.Error("a round that waits doesn't end")
				}
			})
		})
	}
}

// TestTermEnds wants the end of a term to wait for rounds that have the hub, and no round to
// get the hub after it.
func TestTermEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTurnScene(t, "a", "b")
		h, other := s.hubs[0], s.hubs[1]
		h.turn.wait()
		joined, _, err := h.takeTurns(t.Context(), h.term, []*hubWatch{other})
		if len(joined) != 1 || err != nil {
			t.Fatalf("%d hubs, %v", len(joined), err)
		}
		ended := make(chan struct{})
		go func() {
			other.begins(nil)
			close(ended)
		}()
		synctest.Wait()
		select {
		case <-ended:
			t.Error("the term ended during a round")
		default:
		}
		joined[0].end()
		<-ended
		if joined, busy, err := h.takeTurns(t.Context(), h.term, []*hubWatch{other}); len(joined) > 0 || busy != nil || err != nil {
			t.Errorf("after the term: %d hubs, %v", len(joined), err)
		}
	})
}
