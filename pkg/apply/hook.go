package apply

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// hooks has a node's hooks: their entries, and the steps that run them.
type hooks struct {
	requests  *requests
	decisions *decisions
	record    *record
	steps     *Steps
}

// manifests returns the stored manifests of the node's hooks.
func (h *hooks) manifests() *Manifests {
	return &Manifests{Cluster: h.requests.cluster, Ctx: h.requests.ctx, Node: h.record.plan.NodeID, Inventory: h.record.saved}
}

// begin records that the run is about to create a hook.
func (h *hooks) begin(s *Step) error {
	if h.requests.dryRun {
		return nil
	}
	return h.note(s, s.Begins())
}

// note saves the entry of a hook.
func (h *hooks) note(s *Step, r inventory.Entry) error {
	s.Becomes(s.Recorded(&r))
	s.Record = &r
	next := h.record.saved.Clone()
	next.Activate = "false"
	for i := range next.Hooks {
		if next.Hooks[i].Ref == r.Ref {
			next.Hooks[i] = r
		}
	}
	if inventory.Equal(h.record.saved, next) {
		return nil
	}
	return h.record.save(next)
}

// complete records that all hooks of a deleted node have completed, before lynqctl deletes
// anything else. Afterwards, objects that the hooks need may be gone. lynqctl deletes the
// hooks' own objects next. If the record fails, complete returns the hook and the error.
func (h *hooks) complete() (*Step, error) {
	if h.record.plan.Desired != nil || h.requests.dryRun || !h.steps.Worst().Well() {
		return nil, nil
	}
	for i := range h.steps.Of {
		s := &h.steps.Of[i]
		of := h.steps.HookOf(s)
		if of == nil || of.Record == nil {
			continue
		}
		r := *of.Record
		r.Phase, r.Ready = inventory.PhaseCompleted, false
		if err := h.note(s, r); err != nil {
			s.Record = nil
			return of, err
		}
		of.Record = nil
	}
	return nil, nil
}

// look reads an object that a hook of this run created and that lynqctl must delete now. It
// returns true if the step ends with the move.
func (h *hooks) look(s *Step) (move, bool) {
	if h.steps.HookOf(s) == nil || s.Live != nil || s.Action != plan.ActionDelete {
		return move{}, false
	}
	now, err := observe.Entry(h.requests.ctx, h.requests.cluster, s.Entry)
	if err != nil {
		return fails(err), true
	}
	if now == nil {
		s.Record = nil
		return endsAs(report.OutcomeDone, ""), true
	}
	h.decisions.again(s, now)
	return move{}, false
}

// change reports whether the inventory must record other hooks. It must also do so if the
// Secret may not belong to it.
func (h *hooks) change(next *inventory.Inventory) bool {
	if !h.record.exists() || h.record.plan.Replacement != nil {
		return len(next.Hooks) > 0
	}
	return !slices.Equal(h.record.saved.Hooks, inventory.SortedHooks(next))
}

// save saves an intent with other hooks. It stores the manifests before the inventory names
// them, because the row may be gone in the next run.
func (h *hooks) save(next *inventory.Inventory) error {
	hooks := next.Hooks
	if !h.record.exists() {
		next.Hooks = nil
		if err := h.record.save(next); err != nil { // the Secret needs it as owner
			return err
		}
		next = h.record.saved.Clone()
	}
	if err := h.manifests().Write(h.record.plan.Desired.Hooks); err != nil {
		return fmt.Errorf("record the resources with runOn: Delete in Secret %s: %w", inventory.HooksName(h.record.plan.Name), err)
	}
	next.Hooks = hooks
	return h.record.save(next)
}

// drop removes the manifests that the inventory no longer names. If it fails, the next
// change does it.
func (h *hooks) drop() error {
	m, p := h.manifests(), h.record.plan
	if p.Desired == nil || p.Inventory == nil || !slices.ContainsFunc(p.Inventory.Hooks, func(r inventory.Entry) bool { return !m.Names(r.Digest) }) {
		return nil
	}
	return m.Drop()
}

// load reads the manifests of a deleted node's hooks.
func (h *hooks) load() error {
	if h.record.plan.Desired != nil || !slices.ContainsFunc(h.steps.Of, func(s Step) bool { return s.Hook() }) {
		return nil
	}
	m := h.manifests()
	recorded, err := m.Read()
	if err != nil {
		return fmt.Errorf("read the hooks of the node from Secret %s: %w", inventory.HooksName(h.record.plan.Name), err)
	}
	for i := range h.steps.Of {
		s := &h.steps.Of[i]
		if !s.Hook() || s.Action == plan.ActionBlock {
			continue
		}
		o, err := m.Object(h.decisions.of, h.record.owner(), s.Entry, recorded)
		if err != nil {
			return err
		}
		s.Becomes(s.Making(o))
	}
	return nil
}
