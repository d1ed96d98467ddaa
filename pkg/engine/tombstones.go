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

// hubStones are the tombstones of a run, for each of its hubs.
type hubStones struct {
	all [][]plan.Tombstone
	// open are those that were looked at.
	open [][]plan.Tombstone
}

// check refuses tombstones that would delete what nodes have or render.
func (s *hubStones) check(plans []plan.Plan) error {
	return plan.CheckTombstones(slices.Concat(s.all...), plans)
}

// lookAtTombstones looks at the objects that tombstones name. Tombstones of objects that
// nodes have are bad input.
func (j *applyJob) lookAtTombstones(ctx context.Context, plans []plan.Plan) (*hubStones, error) {
	stones := &hubStones{all: make([][]plan.Tombstone, len(j.hubs)), open: make([][]plan.Tombstone, len(j.hubs))}
	if j.adopting != nil || j.o.Settings.Selector != nil || j.concern != nil {
		return stones, nil
	}
	files := j.tombstones
	if len(files) > 0 && len(j.o.Settings.Nodes)+len(j.o.Forms) > 0 {
		j.notef("the tombstones of --tombstones stay for a run on all nodes: --node and --form narrow this one")
		files = nil
	}
	for i, h := range j.hubs {
		for _, n := range j.nodes[h.Key] {
			stones.all[i] = append(stones.all[i], tombstonesOf(n.NodeKey, n.Tombstones)...)
		}
	}
	stones.all[0] = append(stones.all[0], tombstonesOf(plan.NodeKey{}, files)...)
	if err := stones.check(plans); err != nil {
		return nil, &Error{Outcome: BadInput, Err: err, Summary: j.o.Nothing}
	}
	for i, h := range j.hubs {
		if len(stones.all[i])+len(j.records[h.Key].Tombstones) == 0 {
			continue
		}
		open, err := j.lookAtStones(ctx, h, stones.all[i])
		if err != nil {
			return nil, untouched(ctx, err)
		}
		stones.open[i] = open
	}
	return stones, nil
}

// withTombstones adds the plans of what becomes of the objects that tombstones name.
func (j *applyJob) withTombstones(plans []plan.Plan, stones *hubStones) []plan.Plan {
	all := slices.Clone(plans)
	for i, h := range j.hubs {
		if len(stones.open[i]) == 0 {
			continue
		}
		p := plan.Tombstones(h.Key, stones.open[i], plans, j.o.IncludeData)
		if p.Record = j.records[h.Key].UID; len(p.Nodes) > 0 {
			all = append(all, *p)
		}
	}
	return all
}

func tombstonesOf(k plan.NodeKey, stones []lynq.Tombstone) []plan.Tombstone {
	all := make([]plan.Tombstone, len(stones))
	for i := range stones {
		all[i] = plan.Tombstone{Tombstone: stones[i], Node: k}
	}
	return all
}

// lookAtStones looks at the objects of a hub's tombstones that are not known to be gone,
// and notes which are gone. A narrowed run, and one of which a row did not render, keeps
// what the record knows.
func (j *applyJob) lookAtStones(ctx context.Context, h HubPrograms, stones []plan.Tombstone) ([]plan.Tombstone, error) {
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
	return open, nil
}
