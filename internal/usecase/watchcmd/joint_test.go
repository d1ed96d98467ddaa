package watchcmd

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
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

// TestMovingBusy wants a hub to continue if the source of another one never answers. It then
// ignores the other hub for a while. A hub that answers counts.
func TestMovingBusy(t *testing.T) {
	for name, answers := range map[string]bool{"its source doesn't answer": false, "it does": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTurnScene(t, "eu", "ap", "us")
				eu, ap, us := s.hubs[0], s.hubs[1], s.hubs[2]
				go answerRead(eu)
				if answers {
					go answerRead(ap)
				}
				shared := []sharedObject{{ref: movedRef("ap"), to: ap.hub.Key}, {ref: movedRef("eu"), to: eu.hub.Key}, {ref: movedRef("x"), to: eu.hub.Key}}
				others, err := us.moving(t.Context(), us.term, shared)
				want, log := []*hubWatch{eu}, []string{busyNote(us.hub.Key, ap.hub.Key)}
				if answers {
					want, log = []*hubWatch{ap, eu}, nil
				}
				if err != nil || !slices.Equal(others, want) {
					t.Errorf("%d hubs, %v", len(others), err)
				}
				if d := cmp.Diff(log, s.log.lines); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
				if ignores := time.Now().Before(us.times.joinsFrom); ignores == answers {
					t.Errorf("it ignores the other hub: %t", ignores)
				}
			})
		})
	}
}

// TestMovingElsewhere wants no round with a hub that another run has. The hub wakes this one
// once this process has it.
func TestMovingElsewhere(t *testing.T) {
	s := newTurnScene(t, "eu", "us")
	eu, us := s.hubs[0], s.hubs[1]
	eu.begins(nil)
	others, err := us.moving(t.Context(), us.term, []sharedObject{{ref: movedRef("eu"), to: eu.hub.Key}})
	if len(others) > 0 || err != nil {
		t.Errorf("%d hubs, %v", len(others), err)
	}
	if eu.wakeJoiners(); !us.changes.Any() {
		t.Error("nobody wakes the hub")
	}
}
