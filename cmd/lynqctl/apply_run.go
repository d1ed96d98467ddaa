package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply"
)

// runPlans carries the plans of apply out. Nodes whose records somebody deleted
// are cleaned up by that; those whose rows want them are made anew then.
func (j *applyJob) runPlans(ctx context.Context, plans []apply.Plan) error {
	o := apply.Options{Wait: j.flags.wait, Finalizer: !j.flags.noFinalizer, Rollouts: rollouts(j.hubs)}
	returning := j.returning(plans)
	if !returning || j.run.dryRun != "none" {
		return j.clusterRun.runPlans(ctx, plans, o, j.saveHubs)
	}
	first := j.clusterRun.runPlans(ctx, plans, o, nil)
	if first != nil && context.Cause(ctx) != nil {
		return first
	}
	again, err := j.planAll(ctx)
	if err != nil {
		return errors.Join(first, err)
	}
	if j.returning(again) {
		return first // what could not be cleaned up is told
	}
	if err := j.refused(again); err != nil {
		return err
	}
	return errors.Join(first, j.clusterRun.runPlans(ctx, again, o, j.saveHubs))
}

// returning tells whether nodes are to be made anew after this plan, and which.
func (j *applyJob) returning(plans []apply.Plan) bool {
	some := false
	for i := range plans {
		for _, n := range plans[i].Nodes {
			if n.Returns {
				some = true
				_, _ = fmt.Fprintf(j.stderr, "node %s: somebody deleted its record: its objects go as their deletionPolicy says, and it is made anew, for its row is active\n", n.NodeKey)
			}
		}
	}
	return some
}

// saveHubs records what the run saw of each hub.
func (j *applyJob) saveHubs(ctx context.Context) error {
	var errs []error
	for _, h := range j.hubs {
		errs = append(errs, j.saveHub(ctx, h))
	}
	return errors.Join(errs...)
}
