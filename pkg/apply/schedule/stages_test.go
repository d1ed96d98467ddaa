package schedule

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAssign: each stage takes its nodes from those that no earlier one has, and the rest
// come last.
func TestAssign(t *testing.T) {
	for name, tt := range map[string]struct {
		stages  []Stage
		matches []int
		want    []int
	}{
		"none":                  {nil, []int{0, 0}, []int{0, 0}},
		"no nodes":              {[]Stage{{Rows: 1}}, nil, []int{}},
		"one row, then half":    {[]Stage{{Rows: 1}, {Percent: 50}}, []int{0, 0, 0, 0}, []int{0, 1, 1, 2}},
		"percent rounds up":     {[]Stage{{Percent: 1}}, []int{0, 0, 0}, []int{0, 1, 1}},
		"more rows than nodes":  {[]Stage{{Rows: 9}, {Rows: 1}}, []int{0, 0}, []int{0, 0}},
		"a template":            {[]Stage{{Match: true}, {Rows: 1}}, []int{0, 1, 0, 1}, []int{1, 0, 2, 0}},
		"rows before templates": {[]Stage{{Rows: 2}, {Match: true}}, []int{2, 0, 2}, []int{0, 0, 1}},
	} {
		if got := Assign(tt.stages, tt.matches); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func node(i int) lynq.NodeKey { return lynq.NodeKey{Namespace: "ns", Name: fmt.Sprintf("n%d", i)} }

// staged has six nodes in three stages of two, all of which the form changes.
func staged(change func(*Staging)) *Rollout {
	s := Staging{Stages: []Stage{{Rows: 2}, {Rows: 2}}, Of: map[lynq.NodeKey]int{}}
	for i := range 6 {
		s.Of[node(i)] = i / 2
	}
	if change != nil {
		change(&s)
	}
	o := NewRollouts(map[Form]Limits{{}: {Staging: s}})[Form{}]
	for i := range 6 {
		o.stages.gated[node(i)] = true
		o.Open(node(i))
	}
	return o
}

// TestStages: a stage begins when all nodes before have ended well.
func TestStages(t *testing.T) {
	ask := func(o *Rollout, i int) Turn {
		turn, _ := o.stages.ask("web", node(i))
		return turn
	}
	o := staged(nil)
	if ask(o, 1) != TurnNow || ask(o, 2) != TurnLater || ask(o, 5) != TurnLater {
		t.Error("the first stage doesn't go first")
	}
	o.Ended(node(0), true)
	if ask(o, 2) != TurnLater {
		t.Error("the second stage begins before the first is ready")
	}
	o.Ended(node(1), true)
	if ask(o, 2) != TurnNow || ask(o, 4) != TurnLater {
		t.Error("the second stage doesn't follow on the first")
	}
	o.Ended(node(2), false)
	if ask(o, 3) != TurnNow || ask(o, 4) != TurnNever {
		t.Error("a failed node holds back its own stage, or not the next")
	}
	o = staged(func(s *Staging) { s.MaxFailed = 1 })
	o.Ended(node(0), true)
	o.Ended(node(1), false)
	if ask(o, 2) != TurnNow {
		t.Error("one failure is one too many, though the form allows it")
	}
	o = staged(nil)
	o.Lend(ShareForm, node(0)) // they wait for nodes of later stages
	o.Lend(ShareForm, node(1))
	if ask(o, 2) != TurnNow {
		t.Error("two stages wait for each other for ever")
	}
}

// TestPauses: a pause holds until a person continues, or a later stage has begun before.
func TestPauses(t *testing.T) {
	begin := func(o *Rollout) (Turn, string) {
		o.Ended(node(0), true)
		o.Ended(node(1), true)
		return o.Begin(context.Background(), ShareForm, node(2))
	}
	pause := func(s *Staging) { s.Stages[0].Pause = true }
	if turn, why := begin(staged(pause)); turn != TurnNext || why == "" {
		t.Errorf("no pause: %v %q", turn, why)
	}
	if turn, _ := begin(staged(func(s *Staging) { pause(s); s.Resume = true })); turn != TurnNow {
		t.Error("--continue doesn't end the pause")
	}
	o := staged(pause)
	o.stages.reached = 1
	if turn, _ := begin(o); turn != TurnNow {
		t.Error("the pause comes again though the next stage has begun")
	}
	if turn, _ := begin(staged(func(s *Staging) { s.Last = 1 })); turn != TurnNext {
		t.Error("the run goes past its last stage")
	}
	if turn, _ := begin(staged(func(s *Staging) { s.Last = 2 })); turn != TurnNow {
		t.Error("the run doesn't come to its last stage")
	}
}
