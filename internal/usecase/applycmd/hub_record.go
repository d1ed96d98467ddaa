package applycmd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// hubTries is how often a run at least tries to write its hub record, which runs of other
// shards, approvals and people write too. Further tries end with the lock timeout. Between
// two tries, it waits at most hubPause.
const (
	hubTries = 64
	hubPause = 200 * time.Millisecond
)

// updateHub saves the hub record that next makes from the one in Records. If next returns
// nil, updateHub saves nothing. After a conflict, updateHub reads the record again and
// calls next again.
func (s *Seen) updateHub(ctx context.Context, hub lynq.HubKey, next func() *inventory.Hub) error {
	until := time.Now().Add(s.RunOptions.LockTimeout)
	for try := 1; ; try++ {
		record := next()
		if record == nil {
			return nil
		}
		saved, err := s.Store.SaveHub(ctx, record)
		if err == nil {
			s.Records[hub] = saved
			return nil
		}
		if was := (*store.ChangedError)(nil); !errors.As(err, &was) || try >= hubTries && !time.Now().Before(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(rand.N(hubPause)): //nolint:gosec // so that two shards don't meet again
		}
		there, loadErr := s.Store.LoadHub(ctx, hub.Namespace, hub.Name)
		if loadErr != nil {
			return loadErr
		}
		if there == nil || there.Deleting {
			return err // nobody deletes it while we hold a Lease
		}
		s.Records[hub] = there
	}
}

// newHub returns the record of a hub that has none.
func (j *Job) newHub(hub lynq.HubKey) *inventory.Hub {
	return &inventory.Hub{Name: hub.Name, Namespace: hub.Namespace, Finalizer: !j.Options.NoFinalizer}
}

// remember sets what the hub record says of earlier runs.
func (s *Seen) remember(h load.HubPrograms, in *decide.Input) {
	s.endHub(h.Key, len(in.Recorded.Inventories)+len(in.Recorded.Broken))
	if r := s.Records[h.Key]; r != nil {
		in.Recorded.HubDeleting, in.Recorded.Deletions = r.Deleting && r.Finalizer, r.Deletions
		in.Recorded.Leaving, in.Recorded.LastRun = r.Leaving, r.Time
	}
	in.Desired.Evidence, in.Desired.Used = s.evidence(h), s.used(h)
}

// endHub begins a new record if somebody deleted the old one and the hub has no node left,
// for example because a run was killed while it deleted the hub. The deletion then deletes
// nothing else, so the run completes it before its first write.
func (s *Seen) endHub(hub lynq.HubKey, nodes int) {
	r := s.Records[hub]
	if r == nil || !r.Deleting || !r.Finalizer || nodes > 0 {
		return
	}
	s.WarnOnce(fmt.Sprintf("hub %s: its record, ConfigMap %s/%s, was deleted, and no node is left: apply completes the deletion, and writes a new record", hub, hub.Namespace, inventory.HubName(hub.Name)))
	s.ended[hub], s.Records[hub] = r, s.newHub(hub)
}

// completeHub completes the deletion of a hub without nodes, the history first, as delete
// and finalize do.
func (s *Seen) completeHub(ctx context.Context, h load.HubPrograms) error {
	old := s.ended[h.Key]
	if old == nil {
		return nil
	}
	known, err := s.Recorded(ctx, h.Key, old, h.Namespaces())
	if err != nil {
		return err
	}
	nodes := len(known.Inventories) + len(known.Broken)
	permit, err := decide.PermitHub(old, nodes)
	if err != nil {
		return err
	}
	err = s.Store.RemoveHistory(ctx, h.Key, func(uid types.UID) (decide.Permit, error) { return decide.PermitHistory(h.Key, nodes, uid) })
	if err != nil {
		return err
	}
	delete(s.ended, h.Key)
	return s.Store.CompleteHub(ctx, old, permit)
}

// saveHub records what the run saw of a hub, and its result.
func (p *Planned) saveHub(ctx context.Context, h load.HubPrograms, s *report.Summary, w Waiting) error {
	return p.updateHub(ctx, h.Key, func() *inventory.Hub {
		record := p.record(h, s, w)
		if s.Settled[h.Key] {
			record.Version = p.Engine.Version
		}
		return record
	})
}

// record returns the hub record with what the run saw, and its result. It returns nil if the
// result isn't known yet.
func (p *Planned) record(h load.HubPrograms, s *report.Summary, w Waiting) *inventory.Hub {
	record := *p.Records[h.Key]
	r := p.reports[h.Key]
	record.Rows, record.Active, record.Inactive, record.Nodes = r.Rows, r.Active, r.Rows-r.Active, len(p.Nodes[h.Key])
	record.Namespaces, record.NamespaceDefaults = p.namespaces[h.Key], h.Hub.NamespaceDefaults
	record.Columns, record.Time, record.Interrupted = render.Columns(h.Hub), p.read.UTC().Truncate(time.Second), time.Time{}
	p.noteRows(&record, h.Key)
	record.SetUnrendered(Unrendered(p.Nodes[h.Key]))
	if gone, looked := p.gone[h.Key]; looked {
		record.Tombstones = gone
	}
	if s != nil {
		if rollouts, whole := s.Rollouts[h.Key]; whole {
			record.Rollouts = rollouts
		}
		if note, looked := s.Sighted[h.Key]; looked && !p.narrowed() {
			record.Sighted = note
		}
		switch {
		case !s.Interrupted && !p.narrowed():
			settle(&record, w.Held)
			record.Troubles = w.Troubles
		case w.Held != nil: // held deletions count, however the run ended
			record.Held = w.Held
		}
	}
	return &record
}

// settle notes in the hub record the deletions that a full run held back, nil for none. An
// approval works once. It ends when the run carries out its deletions, or when the run
// holds others.
func settle(record *inventory.Hub, held *inventory.HeldDeletions) {
	record.Held = held
	if held == nil || record.Approved != held.Digest {
		record.Approved = ""
	}
}
