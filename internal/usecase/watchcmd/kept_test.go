package watchcmd

import (
	"context"
	"errors"
	"testing"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// keptHubOf returns a hub as a load of the same files gives it, with a change.
func keptHubOf(change func(h *hubWatch)) *hubWatch {
	hub := load.HubPrograms{
		Key: lynq.HubKey{Namespace: "shop", Name: "crm"}, Hub: &form.Hub{Name: "crm"},
		Programs: []*render.Program{{Form: &form.Form{Name: "web", HubID: "crm"}}},
	}
	h := &hubWatch{hub: hub, inputs: newLatestInputs(&hubInputs{Loaded: &applycmd.Loaded{Inputs: &load.Inputs{Inputs: &form.Inputs{}, Hubs: []load.HubPrograms{hub}}}})}
	if change != nil {
		change(h)
	}
	return h
}

func TestSameHub(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(h *hubWatch)
		want   bool
	}{
		"loaded again": {want: true},
		"other forms of other hubs": {want: true, change: func(h *hubWatch) {
			h.inputs.get().Forms = []*form.Form{{Name: "other"}}
		}},
		"its document":     {change: func(h *hubWatch) { h.hub.Hub.SyncInterval = 1 }},
		"its form":         {change: func(h *hubWatch) { h.hub.Programs[0].Form.Rollout.MaxSkew = 1 }},
		"a form more":      {change: func(h *hubWatch) { h.hub.Programs = append(h.hub.Programs, h.hub.Programs[0]) }},
		"its source":       {change: func(h *hubWatch) { h.o.Sources = []string{"csv:a"} }},
		"tombstones":       {change: func(h *hubWatch) { h.inputs.get().Tombstones = make([]lynq.Tombstone, 1) }},
		"scopes of kinds":  {change: func(h *hubWatch) { h.inputs.get().ClusterScoped = map[form.GroupKind]bool{{Kind: "A"}: true} }},
		"plurals of kinds": {change: func(h *hubWatch) { h.inputs.get().Plurals = map[form.GroupKind]string{{Kind: "A"}: "as"} }},
	} {
		t.Run(name, func(t *testing.T) {
			if got := keptHubOf(nil).same(keptHubOf(tt.change)); got != tt.want {
				t.Errorf("%s: same = %t, want %t", name, got, tt.want)
			}
		})
	}
}

// TestInputsEndDeletions wants other inputs to end a round that deletes, and no other round.
func TestInputsEndDeletions(t *testing.T) {
	for _, deletes := range []bool{false, true} {
		h, next := keptHubOf(nil), keptHubOf(nil)
		ctx, stop := context.WithCancelCause(t.Context())
		earlier := h.inputs.get()
		if deletes && !h.inputs.deletes(earlier, stop) {
			t.Fatal("the round did not begin")
		}
		h.change(next)
		if ended := errors.Is(context.Cause(ctx), errInputsChanged); ended != deletes {
			t.Errorf("deletes %t: ended %t", deletes, ended)
		}
		if h.inputs.get() != next.inputs.get() {
			t.Errorf("deletes %t: the earlier inputs count", deletes)
		}
		if h.inputs.ended(); h.inputs.deletes(earlier, stop) {
			t.Errorf("deletes %t: a round deletes by the earlier inputs", deletes)
		}
		if !h.inputs.deletes(h.inputs.get(), stop) {
			t.Errorf("deletes %t: the next round does not begin", deletes)
		}
	}
}

// TestRoundByOutdatedInputs wants a round of two hubs not to begin if it deletes and one of
// them has other inputs. No later inputs end it then.
func TestRoundByOutdatedInputs(t *testing.T) {
	first, second := keptHubOf(nil), keptHubOf(nil)
	r := &round{plans: []plan.Plan{{Nodes: []plan.NodePlan{{Steps: []plan.Step{{Action: plan.ActionDelete, Live: &tracking.Live{}}}}}}}}
	for _, h := range []*hubWatch{first, second} {
		r.parts = append(r.parts, &part{hubWatch: h, in: h.inputs.get()})
	}
	second.change(keptHubOf(nil))
	ctx, stop := context.WithCancelCause(t.Context())
	if r.begin(stop) {
		t.Error("it begins")
	}
	if first.change(keptHubOf(nil)); context.Cause(ctx) != nil {
		t.Error("the inputs of the first hub end a round that did not begin")
	}
}
