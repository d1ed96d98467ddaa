package schedule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func rows(n int) Stage { return Stage{Stage: lynq.Stage{Rows: n}} }

func percent(n int) Stage { return Stage{Stage: lynq.Stage{Percent: n}} }

// TestAssign checks that each stage takes nodes that no earlier stage has, and that the
// rest come last.
func TestAssign(t *testing.T) {
	for name, tt := range map[string]struct {
		stages  []Stage
		matches []int
		want    []int
	}{
		"none":                  {nil, []int{0, 0}, []int{0, 0}},
		"no nodes":              {[]Stage{rows(1)}, nil, []int{}},
		"one row, then half":    {[]Stage{rows(1), percent(50)}, []int{0, 0, 0, 0}, []int{0, 1, 1, 2}},
		"percent rounds up":     {[]Stage{percent(1)}, []int{0, 0, 0}, []int{0, 1, 1}},
		"more rows than nodes":  {[]Stage{rows(9), rows(1)}, []int{0, 0}, []int{0, 0}},
		"a template":            {[]Stage{{Match: true}, rows(1)}, []int{0, 1, 0, 1}, []int{1, 0, 2, 0}},
		"rows before templates": {[]Stage{rows(2), {Match: true}}, []int{2, 0, 2}, []int{0, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Assign(tt.stages, tt.matches); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func node(i int) lynq.NodeKey { return lynq.NodeKey{Namespace: "ns", Name: fmt.Sprintf("n%d", i)} }

// staged returns six nodes in three stages of two. The form changes all of them.
func staged(change func(*Staging)) *Rollout {
	s := Staging{Stages: []Stage{rows(2), rows(2)}, Of: map[lynq.NodeKey]int{}}
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
	o.stages.resume()
	return o
}

// TestStages checks that a stage begins when all nodes before it have succeeded.
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
	o.Pause(ShareForm, node(0)) // they wait for nodes of later stages
	o.Pause(ShareForm, node(1))
	if ask(o, 2) != TurnNow {
		t.Error("two stages wait for each other for ever")
	}
}

// TestPauses checks that a pause lasts until the user continues, unless a later stage has
// begun already.
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
	both := func(s *Staging) { s.Stages[0].Pause, s.Stages[1].Pause, s.Resume = true, true, true }
	o := resumed(both, 2)
	if turn, _ := begin(o); turn != TurnNow {
		t.Error("--continue doesn't end the first of two pauses")
	}
	o.Ended(node(2), true)
	o.Ended(node(3), true)
	if turn, _ := o.Begin(context.Background(), ShareForm, node(4)); turn != TurnNext {
		t.Error("--continue ends two pauses")
	}
	o = staged(pause)
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

// resumed returns six nodes in three stages. An earlier run has changed the first nodes.
func resumed(change func(*Staging), done int) *Rollout {
	o := staged(change)
	o.stages.reached, o.stages.ended = (done+1)/2-1, -1
	for i := range done {
		delete(o.stages.gated, node(i))
	}
	o.stages.resume()
	return o
}

// TestContinue checks that --continue ends only a pause at which the rollout waits. It
// waits if earlier runs have changed all nodes of the stages before, or if as many as
// allowed failed.
func TestContinue(t *testing.T) {
	pauses := func(stages ...int) func(*Staging) {
		return func(s *Staging) {
			s.Resume = true
			for _, stage := range stages {
				s.Stages[stage].Pause = true
			}
		}
	}
	for name, tt := range map[string]struct {
		stages    func(*Staging)
		done      int
		degraded  []int
		maxFailed int
		want      int // the stage whose pause ends, -1 for none
	}{
		"nothing is done":            {pauses(0), 0, nil, 0, -1},
		"nothing, and two may fail":  {pauses(0), 0, nil, 2, -1},
		"a part":                     {pauses(0), 1, nil, 0, -1},
		"a part, and one may fail":   {pauses(0), 1, nil, 1, -1},
		"one failed":                 {pauses(0), 1, []int{1}, 0, -1},
		"one failed, and one may":    {pauses(0), 1, []int{1}, 1, 0},
		"the first stage":            {pauses(0), 2, nil, 0, 0},
		"the first, of two pauses":   {pauses(0, 1), 2, nil, 0, 0},
		"a part of the second":       {pauses(0, 1), 3, nil, 0, -1},
		"the second":                 {pauses(0, 1), 4, nil, 0, 1},
		"the first, before no pause": {pauses(1), 2, nil, 0, -1},
		"one failed in each stage":   {pauses(1), 4, []int{1, 3}, 1, 1},
		"two failed in a stage":      {pauses(1), 4, []int{2, 3}, 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			o := resumed(func(s *Staging) { tt.stages(s); s.MaxFailed = tt.maxFailed }, tt.done)
			for _, i := range tt.degraded {
				o.stages.gated[node(i)], o.stages.degraded[node(i)] = true, true
			}
			o.stages.ended = -1
			if o.stages.resume(); o.stages.ended != tt.want {
				t.Errorf("--continue ends the pause of stage %d, want %d", o.stages.ended, tt.want)
			}
		})
	}
}

// TestReached checks that a node's inventory shows whether the rollout has reached its
// stage. Anybody who may write the inventory can forge that.
func TestReached(t *testing.T) {
	of := func(i int, recorded string) *plan.NodePlan {
		n := &plan.NodePlan{NodeID: lynq.NodeID{Namespace: "ns", Name: node(i).Name}, Desired: &plan.Node{}}
		o := &plan.Object{ID: "config", Template: "now"}
		n.Steps = []plan.Step{{Object: o}}
		if recorded != "" {
			n.Inventory = &inventory.Inventory{Entries: []inventory.Entry{{ID: "config", UID: "u", Template: strings.TrimPrefix(recorded, "?")}}}
		}
		return n
	}
	for name, tt := range map[string]struct {
		recorded []string // by node, each in its own stage: "" for a new one, "?" if it isn't known
		shares   []Share
		gated    int
		reached  int
	}{
		"the form changes all":       {[]string{"before", "before", "before"}, []Share{ShareForm, ShareForm, ShareForm}, 3, -1},
		"one was changed before":     {[]string{"now", "before", "before"}, []Share{ShareNone, ShareForm, ShareForm}, 2, 0},
		"the pause is over":          {[]string{"now", "now", "before"}, []Share{ShareNone, ShareNone, ShareForm}, 1, 1},
		"all are new":                {[]string{"", "", ""}, []Share{ShareForm, ShareForm, ShareForm}, 3, -1},
		"a new stage":                {[]string{"now", "", ""}, []Share{ShareNone, ShareRow, ShareRow}, 2, 0},
		"a rebuilt record":           {[]string{"now", "before", "?"}, []Share{ShareNone, ShareForm, ShareRow}, 2, 0},
		"a rebuilt record, at last":  {[]string{"now", "?", "now"}, []Share{ShareNone, ShareRow, ShareNone}, 1, 2},
		"a new tenant":               {[]string{"", "now", "now"}, []Share{ShareRow, ShareNone, ShareNone}, 0, -1},
		"a row changes":              {[]string{"now", "now", "now"}, []Share{ShareRow, ShareNone, ShareNone}, 0, -1},
		"a later stage is ahead":     {[]string{"before", "before", "now"}, []Share{ShareForm, ShareForm, ShareNone}, 2, 2},
		"one that the form left out": {[]string{"before", "other", "before"}, []Share{ShareForm, ShareNone, ShareForm}, 2, -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStages(Staging{Stages: []Stage{rows(1), rows(1)}, Of: map[lynq.NodeKey]int{}})
			var nodes []*plan.NodePlan
			for i, recorded := range tt.recorded {
				s.Of[node(i)] = i
				nodes = append(nodes, of(i, recorded))
			}
			if s.note(nodes, tt.shares); len(s.gated) != tt.gated || s.reached != tt.reached {
				t.Errorf("%d nodes wait, and the rollout has come to stage %d; want %d and %d", len(s.gated), s.reached, tt.gated, tt.reached)
			}
		})
	}
}
