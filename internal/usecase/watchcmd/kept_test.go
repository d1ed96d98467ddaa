package watchcmd

import (
	"context"
	"errors"
	"testing"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
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
	h := &hubWatch{hub: hub, in: &hubInputs{Loaded: &applycmd.Loaded{Inputs: &load.Inputs{Inputs: &form.Inputs{}, Hubs: []load.HubPrograms{hub}}}}}
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
			h.in.Forms = []*form.Form{{Name: "other"}}
		}},
		"its document":     {change: func(h *hubWatch) { h.hub.Hub.SyncInterval = 1 }},
		"its form":         {change: func(h *hubWatch) { h.hub.Programs[0].Form.Rollout.MaxSkew = 1 }},
		"a form more":      {change: func(h *hubWatch) { h.hub.Programs = append(h.hub.Programs, h.hub.Programs[0]) }},
		"its source":       {change: func(h *hubWatch) { h.o.Sources = []string{"csv:a"} }},
		"tombstones":       {change: func(h *hubWatch) { h.in.Tombstones = make([]lynq.Tombstone, 1) }},
		"scopes of kinds":  {change: func(h *hubWatch) { h.in.ClusterScoped = map[form.GroupKind]bool{{Kind: "A"}: true} }},
		"plurals of kinds": {change: func(h *hubWatch) { h.in.Plurals = map[form.GroupKind]string{{Kind: "A"}: "as"} }},
	} {
		t.Run(name, func(t *testing.T) {
			if got := keptHubOf(nil).same(keptHubOf(tt.change)); got != tt.want {
				t.Errorf("%s: same = %t, want %t", name, got, tt.want)
			}
		})
	}
}

// TestTurnEndsDeletions wants other inputs to end a round that deletes, and no other round.
func TestTurnEndsDeletions(t *testing.T) {
	for _, deletes := range []bool{false, true} {
		h, next := keptHubOf(nil), keptHubOf(nil)
		ctx, stop := context.WithCancelCause(t.Context())
		if !h.begin(deletes, stop) {
			t.Fatalf("deletes %t: the round did not begin", deletes)
		}
		h.change(next)
		if ended := errors.Is(context.Cause(ctx), errInputsChanged); ended != deletes {
			t.Errorf("deletes %t: ended %t", deletes, ended)
		}
		if h.inputs() != next.in {
			t.Errorf("deletes %t: the earlier inputs count", deletes)
		}
		if h.begin(true, stop) {
			t.Errorf("deletes %t: a round deletes by the earlier inputs", deletes)
		}
		if h.takeInputs(); !h.begin(true, stop) {
			t.Errorf("deletes %t: the next round does not begin", deletes)
		}
	}
}
