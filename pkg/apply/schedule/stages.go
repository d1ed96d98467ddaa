package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Stage selects some nodes of a form. They change after all earlier stages are ready.
type Stage struct {
	// Match is set if the stage's template selects the rows.
	Match bool
	lynq.Stage
}

// Assign returns the stage of each node, counted from 0. Nodes without a stage come after
// the last one. matches has the first stage with a matching template for each node, counted
// from 1, or 0. The nodes are in the order of their rows.
func Assign(stages []Stage, matches []int) []int {
	const open = -1
	of := make([]int, len(matches))
	for i := range of {
		of[i] = open
	}
	take := func(stage int, fits func(i int) bool) {
		for i := range of {
			if of[i] == open && fits(i) {
				of[i] = stage
			}
		}
	}
	for k, s := range stages {
		left := s.Rows
		if s.Percent > 0 {
			left = (len(matches)*s.Percent + 99) / 100
		}
		take(k, func(i int) bool {
			if s.Match {
				return matches[i] == k+1
			}
			left--
			return left >= 0
		})
	}
	take(len(stages), func(int) bool { return true })
	return of
}

// Staging has the stages of a form's nodes, and how far a run may continue.
type Staging struct {
	Stages []Stage
	// Of is the stage of each node, from Assign.
	Of map[lynq.NodeKey]int
	// MaxFailed limits the degraded nodes of a stage.
	MaxFailed int
	// Resume ends the pause at which the rollout waits. Last is the run's last stage,
	// counted from 1, or 0 for all.
	Resume bool
	Last   int
}

// stages is the progress of a form's stages in a run. The zero value has no stages.
type stages struct {
	Staging
	// gated are the nodes that wait for their stage, because the form changes them.
	gated map[lynq.NodeKey]bool
	// degraded are the gated nodes that failed in their last run.
	degraded map[lynq.NodeKey]bool
	// reached is the last stage with a node that the rollout has changed before, -1 for
	// none.
	reached int
	// ended is the stage with the pause that the run ends, -1 for none.
	ended int
	// open counts the unfinished nodes of each stage. paused counts those of them that wait
	// for another node.
	open, paused map[int]int
	failed       map[int][]lynq.NodeKey
}

func newStages(s Staging) stages {
	return stages{Staging: s, gated: map[lynq.NodeKey]bool{}, degraded: map[lynq.NodeKey]bool{}, reached: -1, ended: -1, open: map[int]int{}, paused: map[int]int{}, failed: map[int][]lynq.NodeKey{}}
}

// note finds out which nodes wait for their stage, and how far the rollout is. It reads
// that from inventories, because lynqctl keeps no counter.
func (s *stages) note(nodes []*plan.NodePlan, shares []Share) {
	fresh := map[int]bool{} // stages with a new node
	changed := map[string]bool{}
	settled := -1
	for i, n := range nodes {
		stage := s.Of[n.Key()]
		switch {
		case shares[i] == ShareForm, shares[i] == ShareRow && recorded(n) && !known(n):
			s.gate(n, changed)
		case shares[i] == ShareRow && !known(n):
			fresh[stage] = true
		case known(n):
			settled = max(settled, stage)
		}
	}
	for i, n := range nodes { // a new node in a stage that the rollout hasn't reached
		if stage := s.Of[n.Key()]; shares[i] == ShareRow && fresh[stage] && !known(n) && stage > settled {
			s.gate(n, changed)
		}
	}
	for _, n := range nodes {
		if stage := s.Of[n.Key()]; !s.gated[n.Key()] && stage > s.reached && changedBefore(n, changed) {
			s.reached = stage
		}
	}
	s.resume()
}

// resume ends the next pause if the user continues and the rollout waits there: earlier runs
// have changed all nodes up to it, or tried and failed. Otherwise the user hasn't seen these
// stages, and the run stops at that pause.
func (s *stages) resume() {
	from := max(s.reached, 0)
	next := slices.IndexFunc(s.Stages[from:], func(s Stage) bool { return s.Pause })
	if !s.Resume || next < 0 {
		return
	}
	next += from
	left := map[int]int{}
	for n := range s.gated {
		stage := s.Of[n]
		if left[stage]++; stage <= next && (left[stage] > s.MaxFailed || !s.degraded[n]) {
			return
		}
	}
	s.ended = next
}

// pauses reports whether the rollout pauses after a stage.
func (s *stages) pauses(stage int) bool {
	return stage < len(s.Stages) && s.Stages[stage].Pause && stage >= s.reached && stage != s.ended
}

// known reports whether a node's inventory has the form's templates of the last write. A
// new node has none, and neither has a node that a user rebuilt or that adopted orphans.
// The latter isn't new, and waits for its stage as if the form had changed.
func known(n *plan.NodePlan) bool {
	return n.Inventory != nil && slices.ContainsFunc(n.Inventory.Entries, func(e inventory.Entry) bool { return e.UID != "" && e.Template != "" })
}

// gate makes a node wait for its stage, and notes which resources the form changes.
func (s *stages) gate(n *plan.NodePlan, changed map[string]bool) {
	s.gated[n.Key()] = true
	s.degraded[n.Key()] = n.Inventory != nil && n.Inventory.Status.Is(inventory.ConditionDegraded)
	before := templatesOf(n)
	for i := range n.Steps {
		if o := n.Steps[i].Object; o != nil && before[o.ID] != o.Template {
			changed[o.ID] = true
		}
	}
}

// changedBefore reports whether an earlier run already wrote a changed resource to a node
// in the form's new version.
func changedBefore(n *plan.NodePlan, changed map[string]bool) bool {
	before := templatesOf(n)
	return slices.ContainsFunc(n.Steps, func(s plan.Step) bool {
		return s.Object != nil && changed[s.Object.ID] && s.Object.Template != "" && before[s.Object.ID] == s.Object.Template
	})
}

// templatesOf returns the templates of a node's objects at their last write.
func templatesOf(n *plan.NodePlan) map[string]string {
	said := map[string]string{}
	if n.Inventory != nil {
		for i := range n.Inventory.Entries {
			said[n.Inventory.Entries[i].ID] = n.Inventory.Entries[i].Template
		}
	}
	return said
}

// ask reports whether a node may begin. If it may not begin in this run, ask says why.
func (s *stages) ask(form string, n lynq.NodeKey) (Turn, string) {
	if !s.gated[n] {
		return TurnNow, ""
	}
	mine := s.Of[n]
	for k := range mine {
		switch {
		case len(s.failed[k]) > s.MaxFailed:
			return TurnNever, fmt.Sprintf("stage %d of the rollout of form %s failed: %s", k+1, form, named(s.failed[k]))
		case s.open[k] > s.paused[k]:
			return TurnLater, ""
		case s.pauses(k):
			return TurnNext, fmt.Sprintf("the rollout of form %s pauses after stage %d (to go on, run lynqctl apply --continue)", form, k+1)
		}
	}
	if s.Last > 0 && mine >= s.Last {
		return TurnNext, fmt.Sprintf("this run ends with stage %d (--stage)", s.Last)
	}
	return TurnNow, ""
}

// pause notes that a node begins or ends to wait for another one, which may be in a later
// stage.
func (s *stages) pause(n lynq.NodeKey, by int) {
	if stage, staged := s.Of[n]; staged {
		s.paused[stage] += by
	}
}

// end notes the result of a node in its stage.
func (s *stages) end(n lynq.NodeKey, well bool) {
	stage, staged := s.Of[n]
	if !staged {
		return
	}
	s.open[stage]--
	if !well {
		s.failed[stage] = append(s.failed[stage], n)
	}
}

// named lists some nodes, and counts the others.
func named(nodes []lynq.NodeKey) string {
	const most = 3
	nodes = slices.SortedFunc(slices.Values(nodes), func(a, b lynq.NodeKey) int { return strings.Compare(a.String(), b.String()) })
	var names []string
	for _, n := range nodes[:min(len(nodes), most)] {
		names = append(names, n.Name)
	}
	if more := len(nodes) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return phrase.Count(len(nodes), "failed node") + " (" + strings.Join(names, ", ") + ")"
}
