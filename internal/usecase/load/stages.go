package load

import (
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Stages returns the stages of a form's rollout.
func Stages(f *form.Form) []schedule.Stage {
	var stages []schedule.Stage
	for _, s := range f.Rollout.Stages {
		stages = append(stages, schedule.Stage{Match: s.Match.IsSet(), Stage: s.Stage})
	}
	return stages
}

// CheckShard refuses a shard's run if a form has stages, because no shard knows when the
// nodes of other shards are ready.
func (in *Inputs) CheckShard(shard lynq.Shard, nothing string) error {
	if shard.IsZero() {
		return nil
	}
	var problems lynq.Problems
	for _, p := range AllPrograms(in.Hubs) {
		if len(p.Form.Rollout.Stages) > 0 {
			problems.Add(p.Form.Pos, "run without --shard, or remove rollout.stages", "form %q has rollout.stages, and a shard doesn't know when nodes of other shards are ready", p.Form.Name)
		}
	}
	if len(problems) > 0 {
		return session.BadInputs(problems, nothing)
	}
	return nil
}

// CheckStage refuses --stage and --continue if no form has stages, because the run would
// change all nodes. last counts from 1. It is 0 without --stage.
func (in *Inputs) CheckStage(last int, resume bool, nothing string) error {
	flag := "--stage"
	switch {
	case last > 0:
	case resume:
		flag = "--continue"
	default:
		return nil
	}
	for _, p := range AllPrograms(in.Hubs) {
		if len(p.Form.Rollout.Stages) > 0 {
			return nil
		}
	}
	return &session.Error{Outcome: session.BadInput, Err: fmt.Errorf("%[1]s: no form of this run has rollout.stages (leave out %[1]s)", flag), Summary: nothing}
}
