package applycmd

import (
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// rollouts returns the limits of every form's rollout. If the user named nodes, the run has
// no stages.
func (r *Rendered) rollouts() map[schedule.Form]schedule.Limits {
	m := map[schedule.Form]schedule.Limits{}
	for _, h := range r.Hubs {
		for _, p := range h.Programs {
			key := load.FormKey(p.Form, h.Key.Namespace)
			l := LimitsOf(p.Form)
			l.Resume, l.Last = r.Options.Resume, r.Options.LastStage
			l.Of = stagesOf(l.Stages, r.Nodes[h.Key], key)
			if len(r.Options.Settings.Nodes) > 0 {
				l.Staging = schedule.Staging{}
			}
			m[schedule.Form{Hub: h.Key, Form: key}] = l
		}
	}
	return m
}

// LimitsOf returns the rollout limits that a form sets.
func LimitsOf(f *form.Form) schedule.Limits {
	r := &f.Rollout
	l := schedule.Limits{MaxSkew: r.MaxSkew, Deadline: r.ProgressDeadline, Continue: r.OnFailure == form.ContinueOnFailure}
	l.MaxFailed, l.Stages = r.MaxFailed, load.Stages(f)
	return l
}

// stagesOf returns the stage of each node of a form.
func stagesOf(stages []schedule.Stage, nodes []*plan.Node, of lynq.FormKey) map[lynq.NodeKey]int {
	var keys []lynq.NodeKey
	var matches []int
	for _, n := range nodes {
		if n.Form == of {
			keys, matches = append(keys, n.Key()), append(matches, n.Match)
		}
	}
	assigned := map[lynq.NodeKey]int{}
	for i, stage := range schedule.Assign(stages, matches) {
		assigned[keys[i]] = stage
	}
	return assigned
}
