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
	// gone maps a hub to digests of tombstones. The run saw that their objects don't exist.
	gone map[lynq.HubKey][]string
}

// check refuses tombstones that would delete objects that nodes own or render.
func (s *hubStones) check(plans []plan.Plan) error {
	return decide.CheckTombstones(slices.Concat(s.all...), plans)
}

// lookAtTombstones checks the objects that tombstones name. A tombstone for an object of a
// node is bad input.
func (s *Seen) lookAtTombstones(ctx context.Context, plans []plan.Plan) (*hubStones, error) {
	stones := &hubStones{all: make([][]plan.Tombstone, len(s.Hubs)), open: make([][]plan.Tombstone, len(s.Hubs)), gone: map[lynq.HubKey][]string{}}
	if s.Adopting != nil || s.Options.Settings.Selector != nil || s.Concern != nil {
		return stones, nil
	}
	files := s.Tombstones
	if len(files) > 0 && len(s.Options.Settings.Nodes)+len(s.Options.Inputs.Forms) > 0 {
		s.Engine.Notef("this run skips the tombstones of --tombstones, because --node or --form narrows it: they need a run on all nodes")
		files = nil
	}
	if !s.Options.Shard.First() {
		files = nil // shard 0 handles them
	}
	for i, h := range s.Hubs {
		for _, n := range s.Nodes[h.Key] {
			stones.all[i] = append(stones.all[i], tombstonesOf(n.Key(), n.Tombstones)...)
		}
	}
	stones.all[0] = append(stones.all[0], tombstonesOf(lynq.NodeKey{}, files)...)
	if err := stones.check(plans); err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: s.Options.Nothing}
	}
	for i, h := range s.Hubs {
		if len(stones.all[i])+len(s.Records[h.Key].Tombstones) == 0 {
			continue
		}
		open, gone, err := s.lookAtStones(ctx, h, stones.all[i])
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		stones.open[i], stones.gone[h.Key] = open, gone
	}
	return stones, nil
}

// withTombstones adds the plans for the objects that tombstones name.
func (s *Seen) withTombstones(plans []plan.Plan, stones *hubStones) []plan.Plan {
	all := slices.Clone(plans)
	for i, h := range s.Hubs {
		if len(stones.open[i]) == 0 {
			continue
		}
		p := decide.Tombstones(h.Key, stones.open[i], plans, s.Options.IncludeData)
		if p.Record = s.Records[h.Key].UID; len(p.Nodes) > 0 {
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
func (s *Seen) lookAtStones(ctx context.Context, h load.HubPrograms, stones []plan.Tombstone) (open []plan.Tombstone, missing []string, err error) {
	record := s.Records[h.Key]
	recorded := map[string]bool{}
	for _, digest := range record.Tombstones {
		recorded[digest] = true
	}
	gone := map[string]bool{}
	if s.Failed != nil || !s.Options.Shard.IsZero() || len(s.Options.Settings.Nodes)+len(s.Options.Inputs.Forms) > 0 {
		gone = maps.Clone(recorded)
	}
	var known []plan.Tombstone
	for _, t := range stones {
		switch digest := t.Digest(); {
		case s.Options.Tombstones.Recheck || !recorded[digest]:
			open = append(open, t)
		default:
			gone[digest] = true
			known = append(known, t)
		}
	}
	if err := observe.Tombstones(ctx, s.Client, open); err != nil {
		return nil, nil, err
	}
	s.Engine.Meter().Tombstones(h.Key, slices.Concat(open, known))
	for i := range open {
		if t := &open[i]; t.Gone() {
			gone[t.Digest()] = true
		} else {
			delete(gone, t.Digest())
		}
	}
	return open, slices.Sorted(maps.Keys(gone)), nil
}
