package applycmd

import (
	"context"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TombstoneOptions select objects to delete that no inventory lists, in addition to those
// in forms.
type TombstoneOptions struct {
	// Paths are files and directories of tombstones, in addition to those of forms.
	Paths []string
	// Recheck also checks tombstones whose objects are known to be gone.
	Recheck bool
}

// hubStones holds the tombstones of a run, for each of its hubs.
type hubStones struct {
	all [][]plan.Tombstone
	// open has the tombstones that the run checked.
	open [][]plan.Tombstone
}

// check refuses tombstones that would delete objects that nodes own or render.
func (s *hubStones) check(plans []plan.Plan) error {
	return decide.CheckTombstones(slices.Concat(s.all...), plans)
}

// lookAtTombstones checks the objects that tombstones name. A tombstone for an object of a
// node is bad input.
func lookAtTombstones(ctx context.Context, j *Job, plans []plan.Plan) (*hubStones, error) {
	stones := &hubStones{all: make([][]plan.Tombstone, len(j.Hubs)), open: make([][]plan.Tombstone, len(j.Hubs))}
	if j.Adopting != nil || j.Options.Settings.Selector != nil || j.Concern != nil {
		return stones, nil
	}
	files := j.Tombstones
	if len(files) > 0 && len(j.Options.Settings.Nodes)+len(j.Options.Inputs.Forms) > 0 {
		j.Engine.Notef("this run skips the tombstones of --tombstones, because --node or --form narrows it: they need a run on all nodes")
		files = nil
	}
	if !j.Options.Shard.First() {
		files = nil // shard 0 handles them
	}
	for i, h := range j.Hubs {
		for _, n := range j.Nodes[h.Key] {
			stones.all[i] = append(stones.all[i], tombstonesOf(n.Key(), n.Tombstones)...)
		}
	}
	stones.all[0] = append(stones.all[0], tombstonesOf(lynq.NodeKey{}, files)...)
	if err := stones.check(plans); err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: j.Options.Nothing}
	}
	for i, h := range j.Hubs {
		if len(stones.all[i])+len(j.Records[h.Key].Tombstones) == 0 {
			continue
		}
		open, err := lookAtStones(ctx, j, h, stones.all[i])
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		stones.open[i] = open
	}
	return stones, nil
}

// withTombstones adds the plans for the objects that tombstones name.
func withTombstones(j *Job, plans []plan.Plan, stones *hubStones) []plan.Plan {
	all := slices.Clone(plans)
	for i, h := range j.Hubs {
		if len(stones.open[i]) == 0 {
			continue
		}
		p := decide.Tombstones(h.Key, stones.open[i], plans, j.Options.IncludeData)
		if p.Record = j.Records[h.Key].UID; len(p.Nodes) > 0 {
			all = append(all, *p)
		}
	}
	return all
}

func tombstonesOf(k lynq.NodeKey, stones []lynq.Tombstone) []plan.Tombstone {
	all := make([]plan.Tombstone, len(stones))
	for i := range stones {
		all[i] = plan.Tombstone{Tombstone: stones[i], Node: k}
	}
	return all
}

// lookAtStones checks the objects of a hub's tombstones that aren't known to be gone, and
// notes which are gone. A narrowed run, and one with a failed row, keeps what the record
// knows.
func lookAtStones(ctx context.Context, j *Job, h load.HubPrograms, stones []plan.Tombstone) ([]plan.Tombstone, error) {
	record := j.Records[h.Key]
	recorded := map[string]bool{}
	for _, digest := range record.Tombstones {
		recorded[digest] = true
	}
	gone := map[string]bool{}
	if j.Failed != nil || !j.Options.Shard.IsZero() || len(j.Options.Settings.Nodes)+len(j.Options.Inputs.Forms) > 0 {
		gone = maps.Clone(recorded)
	}
	var open, known []plan.Tombstone
	for _, t := range stones {
		switch digest := t.Digest(); {
		case j.Options.Tombstones.Recheck || !recorded[digest]:
			open = append(open, t)
		default:
			gone[digest] = true
			known = append(known, t)
		}
	}
	if err := observe.Tombstones(ctx, j.Client, open); err != nil {
		return nil, err
	}
	j.Engine.Meter().Tombstones(h.Key, slices.Concat(open, known))
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
