package watchcmd

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// surveyScene is a round of hub shop/us.
type surveyScene struct {
	*round
	hub  *hubWatch
	log  *notes
	asks int
}

func newSurveyScene(t *testing.T) *surveyScene {
	t.Helper()
	key := lynq.HubKey{Namespace: "shop", Name: "us"}
	s := &surveyScene{log: &notes{}}
	s.hub = &hubWatch{
		w: &watching{engine: &session.Engine{View: s.log}}, inputs: newLatestInputs(&hubInputs{Loaded: &applycmd.Loaded{}}), hub: load.HubPrograms{Key: key}, changes: watch.NewChanges(),
		reads: newRowReads(),
	}
	s.hub.reads.take(rowsOf(key, &plan.Node{}))
	s.hub.w.hubs = []*hubWatch{s.hub}
	s.hub.term = &term{ctx: t.Context(), watches: newHubWatches(s.hub, nil)}
	s.next("a")
	return s
}

// next begins another round, with rows that render some objects.
func (s *surveyScene) next(objects ...string) {
	rows := &hubRows{wanted: map[lynq.NodeKey]string{}}
	n := &plan.Node{NodeID: lynq.NodeID{Hub: s.hub.hub.Key, Namespace: "shop", Name: "x"}}
	for _, o := range objects {
		n.Objects = append(n.Objects, plan.Object{Ref: movedRef(o)})
	}
	rows.Nodes = map[lynq.HubKey][]*plan.Node{s.hub.hub.Key: {n}}
	rows.wanted[n.Key()] = digestOf(n)
	s.round = &round{parts: []*part{{hubWatch: s.hub, term: s.hub.term, in: s.hub.inputs.get(), rows: rows}}}
}

// reading returns a reading that takes this long.
func (s *surveyScene) reading(takes time.Duration, err error) func(context.Context) ([]*plan.Node, error) {
	return func(ctx context.Context) ([]*plan.Node, error) {
		s.asks++
		select {
		case <-time.After(takes):
			return []*plan.Node{{Objects: []plan.Object{{Ref: movedRef("elsewhere")}}}}, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// found returns the names of the objects in a survey.
func found(nodes []*plan.Node) []string {
	var names []string
	for _, n := range nodes {
		for i := range n.Objects {
			names = append(names, n.Objects[i].Name)
		}
	}
	return names
}

// TestSurveyQuick wants a round to wait for a quick reading, and to use it again.
func TestSurveyQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSurveyScene(t)
		for range 2 {
			nodes, err := s.survey(t.Context(), s.reading(time.Second, nil))
			if got := found(nodes); err != nil || s.unsurveyed || !slices.Equal(got, []string{"elsewhere", "a"}) {
				t.Errorf("it found %q, %v", got, err)
			}
		}
		if s.settleSurvey(); s.hub.surveying != nil || s.asks != 1 || len(s.log.lines) > 0 {
			t.Errorf("asked %d times, and logged %q", s.asks, s.log.lines)
		}
	})
}

// TestSurveySlow wants a round not to wait for a slow reading, and another round to use it.
// What the hub's rows rendered when it began counts too.
func TestSurveySlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSurveyScene(t)
		began := time.Now()
		slow := s.reading(time.Minute, nil)
		if _, err := s.survey(t.Context(), slow); !errors.Is(err, errSurveying) || !s.unsurveyed || time.Since(began) > surveyWithin {
			t.Errorf("after %s it said %v", time.Since(began), err)
		}
		s.settleSurvey()
		s.next("a")
		began = time.Now()
		if _, err := s.survey(t.Context(), slow); !errors.Is(err, errSurveying) || time.Since(began) > 0 {
			t.Errorf("the next round waited %s, and said %v", time.Since(began), err)
		}
		s.settleSurvey()
		if s.hub.surveyed() {
			t.Error("it is done too early")
		}
		<-s.hub.changes.Noted()
		if !s.hub.surveyed() || !s.parts[0].wholeDue(time.Now()) {
			t.Error("it is not done")
		}
		s.next("b") // object a left meanwhile, perhaps to a hub that was read before
		nodes, err := s.survey(t.Context(), slow)
		if got := found(nodes); err != nil || !slices.Equal(got, []string{"elsewhere", "a"}) {
			t.Errorf("it found %q, %v", got, err)
		}
		s.settleSurvey()
		synctest.Wait()
		if s.asks != 2 || s.hub.surveying == nil {
			t.Errorf("asked %d times: it must read again for what left since", s.asks)
		}
		<-s.hub.changes.Noted()
		s.next("b")
		nodes, err = s.survey(t.Context(), slow)
		if got := found(nodes); err != nil || !slices.Equal(got, []string{"elsewhere", "b"}) {
			t.Errorf("then it found %q, %v", got, err)
		}
		if s.settleSurvey(); s.hub.surveying != nil || !slices.Equal(s.log.lines, []string{surveyingNote(s.hub.hub.Key)}) {
			t.Errorf("it logged %q", s.log.lines)
		}
	})
}

// TestSurveyUnneeded wants a reading to end if a round of all nodes doesn't need it, or
// other inputs came. An old one doesn't count.
func TestSurveyUnneeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSurveyScene(t)
		slow := s.reading(time.Minute, nil)
		_, _ = s.survey(t.Context(), slow)
		s.settleSurvey()
		s.next("a")
		if s.settleSurvey(); s.hub.surveying == nil {
			t.Error("a round of some nodes ended it")
		}
		s.next("a")
		s.whole = true
		if s.settleSurvey(); s.hub.surveying != nil {
			t.Error("a round of all nodes didn't end it")
		}

		s.next("a")
		_, _ = s.survey(t.Context(), slow)
		s.hub.inputs.change(&hubInputs{Loaded: &applycmd.Loaded{}})
		s.next("a")
		_, _ = s.survey(t.Context(), slow)
		synctest.Wait()
		if s.asks != 3 {
			t.Errorf("asked %d times", s.asks)
		}
		<-time.After(2*time.Minute + surveyFor)
		if _, err := s.survey(t.Context(), slow); !errors.Is(err, errSurveying) {
			t.Errorf("an old one: %v", err)
		}
		s.hub.endSurvey()
		synctest.Wait()
	})
}

// TestSurveyFailed wants one line in the log about rows that can't be read. If they can be
// read again, the hub looks again.
func TestSurveyFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSurveyScene(t)
		down := errors.New("the server is down")
		for range 2 {
			if _, err := s.survey(t.Context(), s.reading(0, down)); !errors.Is(err, down) {
				t.Errorf("it said %v", err)
			}
			s.settleSurvey()
			s.next("a")
		}
		if !slices.Equal(s.log.lines, []string{unsurveyedNote(s.hub.hub.Key, down)}) {
			t.Errorf("it logged %q", s.log.lines)
		}
		s.hub.changes.Take()
		s.hub.tellReadable()
		if _, all := s.hub.changes.Take(); !all {
			t.Error("it doesn't look again")
		}
		s.hub.tellReadable()
		if _, all := s.hub.changes.Take(); all {
			t.Error("it looks again without need")
		}
	})
}

// TestWithoutSurvey wants a plan without deletions. Held deletions stay held, and other
// refusals stay.
func TestWithoutSurvey(t *testing.T) {
	held := &inventory.HeldDeletions{Guard: "max-delete", Digest: "d"}
	record := &inventory.Hub{Held: held, Approved: "d"}
	refused := goingPlan("a", "b")
	free := goingPlan("a", "b")
	free.Refusals = nil
	operated := goingPlan("a")
	operated.Refusals = append(operated.Refusals, plan.Refusal{Guard: plan.GuardOperator})
	for name, tt := range map[string]struct {
		plan     plan.Plan
		nodes    int
		refusals int
		held     *inventory.HeldDeletions
	}{
		"nothing is refused":         {free, 1, 0, held},
		"a guard refuses them":       {refused, 1, 0, held},
		"refused for more than that": {operated, 2, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hubWatch{hub: load.HubPrograms{Key: tt.plan.Hub}}
			got, stay := h.withoutSurvey([]plan.Plan{tt.plan}, record)
			if len(got) != 1 || len(got[0].Nodes) != tt.nodes || len(got[0].Refusals) != tt.refusals || stay != tt.held {
				t.Errorf("%s: %d plans, %+v; %v", name, len(got), got, stay)
			}
		})
	}
}

// TestSlowly wants a line in the log about rows whose reading takes long.
func TestSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSurveyScene(t)
		for _, takes := range []time.Duration{time.Second, 3 * time.Minute} {
			err := s.hub.slowly(time.Minute, func() error {
				<-time.After(takes)
				synctest.Wait()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		if want := []string{slowNote(s.hub.hub.Key, time.Minute, "the last good rows count")}; !slices.Equal(s.log.lines, want) {
			t.Errorf("it logged %q", s.log.lines)
		}
	})
}
