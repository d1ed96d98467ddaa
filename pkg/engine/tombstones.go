package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TombstoneOptions say which objects go that no inventory has, beside what the forms
// say.
type TombstoneOptions struct {
	// Paths are files and directories of tombstones, beside those of forms.
	Paths []string
	// Recheck: those that are known to be gone are looked at too.
	Recheck bool
}

// planTombstones adds what becomes of the objects that tombstones name to the plans of
// the hubs, one plan for each hub that has any. Tombstones that would delete what nodes
// have are bad input.
func (j *applyJob) planTombstones(ctx context.Context, plans []plan.Plan) ([]plan.Plan, error) {
	if j.adopting != nil || j.o.Settings.Selector != nil || j.concern != nil {
		return plans, nil
	}
	files := j.tombstones
	if len(files) > 0 && len(j.o.Settings.Nodes)+len(j.o.Forms) > 0 {
		j.notef("the tombstones of --tombstones stay for a run on all nodes: --node and --form narrow this one")
		files = nil
	}
	all := make([][]plan.Tombstone, len(j.hubs))
	for i, h := range j.hubs {
		for _, n := range j.nodes[h.Key] {
			all[i] = append(all[i], tombstonesOf(n.NodeKey, n.Tombstones)...)
		}
	}
	all[0] = append(all[0], tombstonesOf(plan.NodeKey{}, files)...)
	if err := plan.CheckTombstones(slices.Concat(all...), plans); err != nil {
		return nil, &Error{Outcome: BadInput, Err: err, Summary: j.o.Nothing}
	}
	for i, h := range j.hubs {
		if len(all[i])+len(j.records[h.Key].Tombstones) == 0 {
			continue
		}
		p, err := j.hubTombstones(ctx, h, all[i])
		if err != nil {
			return nil, untouched(ctx, err)
		}
		if len(p.Nodes) > 0 {
			plans = append(plans, *p)
		}
	}
	return plans, nil
}

func tombstonesOf(k plan.NodeKey, stones []lynq.Tombstone) []plan.Tombstone {
	all := make([]plan.Tombstone, len(stones))
	for i := range stones {
		all[i] = plan.Tombstone{Tombstone: stones[i], Node: k}
	}
	return all
}

// hubTombstones looks at the objects of a hub's tombstones that are not known to be gone,
// plans what becomes of them, and notes which are gone. What the run does not know, for
// it is narrowed or a row did not render, stays known.
func (j *applyJob) hubTombstones(ctx context.Context, h HubPrograms, stones []plan.Tombstone) (*plan.Plan, error) {
	record := j.records[h.Key]
	recorded := map[string]bool{}
	for _, digest := range record.Tombstones {
		recorded[digest] = true
	}
	gone := map[string]bool{}
	if j.failed != nil || len(j.o.Settings.Nodes)+len(j.o.Forms) > 0 {
		gone = maps.Clone(recorded)
	}
	var open, known []plan.Tombstone
	for _, t := range stones {
		switch digest := t.Digest(); {
		case j.o.Tombstones.Recheck || !recorded[digest]:
			open = append(open, t)
		default:
			gone[digest] = true
			known = append(known, t)
		}
	}
	if err := observe.Tombstones(ctx, j.client, open); err != nil {
		return nil, err
	}
	j.metrics().Tombstones(h.Key, slices.Concat(open, known))
	for i := range open {
		if t := &open[i]; t.Gone() {
			gone[t.Digest()] = true
		} else {
			delete(gone, t.Digest())
		}
	}
	if j.gone == nil {
		j.gone = map[lynq.HubKey][]string{}
	}
	j.gone[h.Key] = slices.Sorted(maps.Keys(gone))
	p := plan.Tombstones(h.Key, open, j.o.IncludeData)
	p.Record = record.UID
	return p, nil
}
