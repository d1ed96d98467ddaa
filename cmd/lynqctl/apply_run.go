package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply"
)

// runPlans carries the plans of apply out. Nodes whose records somebody deleted
// are cleaned up by that; those whose rows want them are made anew then.
func (j *applyJob) runPlans(ctx context.Context, plans []apply.Plan) error {
	if err := j.forgetVersions(ctx); err != nil {
		return untouched(ctx, err)
	}
	o := apply.Options{Wait: j.flags.wait, Finalizer: !j.flags.noFinalizer, Rollouts: rollouts(j.hubs)}
	if j.taking != nil {
		return j.clusterRun.runPlans(ctx, plans, o, nil)
	}
	returning := returning(plans)
	j.tellReturning(returning)
	if len(returning) == 0 || j.run.dryRun != "none" {
		return j.clusterRun.runPlans(ctx, plans, o, j.saveHubs)
	}
	first := j.clusterRun.runPlans(ctx, plans, o, nil)
	if first != nil && context.Cause(ctx) != nil {
		return first
	}
	again, err := j.planAll(ctx)
	if err == nil {
		err = j.refused(again)
	}
	if err != nil {
		err = &exitError{code: exitFailed, err: err, summary: "the nodes whose records somebody deleted are not made anew yet; run it again when that is mended"}
		return errors.Join(first, err)
	}
	return errors.Join(first, j.clusterRun.runPlans(ctx, comeBack(again, returning), o, j.saveHubs))
}

// returning are the nodes that are to be made anew after these plans.
func returning(plans []apply.Plan) map[apply.NodeKey]bool {
	nodes := map[apply.NodeKey]bool{}
	for i := range plans {
		for _, n := range plans[i].Nodes {
			if n.Returns {
				nodes[n.NodeKey] = true
			}
		}
	}
	return nodes
}

// tellReturning tells which nodes they are.
func (j *applyJob) tellReturning(nodes map[apply.NodeKey]bool) {
	keys := slices.SortedFunc(maps.Keys(nodes), func(a, b apply.NodeKey) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		_, _ = fmt.Fprintf(j.stderr, "node %s: somebody deleted its record: its objects go as their deletionPolicy says, and it is made anew, for its row is active\n", key)
	}
}

// comeBack leaves only the nodes in plans that were to return and can: what could
// not be cleaned up has been told, and all others have had their turn.
func comeBack(plans []apply.Plan, returning map[apply.NodeKey]bool) []apply.Plan {
	for i := range plans {
		p := &plans[i]
		p.Whole = false
		p.Nodes = slices.DeleteFunc(p.Nodes, func(n apply.NodePlan) bool { return n.Returns || !returning[n.NodeKey] })
		p.Counts = map[apply.Action]int{}
		for j := range p.Nodes {
			for k := range p.Nodes[j].Steps {
				p.Counts[p.Nodes[j].Steps[k].Action]++
			}
		}
	}
	return plans
}

// saveHubs records what the run saw of each hub.
func (j *applyJob) saveHubs(ctx context.Context, s *apply.Summary) error {
	var errs []error
	for _, h := range j.hubs {
		errs = append(errs, j.saveHub(ctx, h, s.Settled[h.hub.Name]))
	}
	return errors.Join(errs...)
}

// forgetVersions records that no version is known any more to render what is
// recorded of the hubs' nodes, where another one did: this run writes otherwise,
// if it is killed, too.
func (j *applyJob) forgetVersions(ctx context.Context) error {
	for _, h := range j.hubs {
		known := j.records[h.hub.Name]
		if known == nil { // records are made anew, and nothing of the hub is written
			continue
		}
		record := *known
		if record.Version == "" || record.Version == buildVersion() || j.run.dryRun != "none" {
			continue
		}
		record.Version = ""
		saved, err := j.store.SaveHub(ctx, &record)
		if err != nil {
			return err
		}
		j.records[h.hub.Name] = saved
	}
	return nil
}
