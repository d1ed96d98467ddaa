package watchcmd

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// TestInterrupt checks what ends a round that waits. The first list of a watch that the round
// began doesn't end it, but the next round still looks at the listed objects.
func TestInterrupt(t *testing.T) {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}
	for name, tt := range map[string]struct {
		note func(*watch.Changes, *watch.Kind)
		cut  bool
	}{
		"nothing":                 {func(*watch.Changes, *watch.Kind) {}, false},
		"the first list":          {func(_ *watch.Changes, k *watch.Kind) { k.Synced() }, false},
		"a watch starts again":    {func(_ *watch.Changes, k *watch.Kind) { k.Synced(); k.Synced() }, true},
		"an object, after a list": {func(c *watch.Changes, k *watch.Kind) { k.Synced(); c.Note(ref) }, true},
		"rows":                    {func(c *watch.Changes, _ *watch.Kind) { c.Wake() }, true},
		"files":                   {func(c *watch.Changes, _ *watch.Kind) { c.NoteAll() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hubWatch{
					w: &watching{engine: &session.Engine{View: &notes{}}}, hub: load.HubPrograms{Key: lynq.HubKey{Namespace: "shop", Name: "us"}},
					changes: watch.NewChanges(), times: roundTimes{whole: time.Now()}, reminders: reminders{toldWaiting: time.Now()},
				}
				never := func(*watch.Fingerprint, watch.Fingerprint) bool { return false }
				kind := h.changes.NewKind(lynq.APIResource{Kind: "ConfigMap"}, never, func(lynq.Ref) bool { return false })
				round, stop := context.WithCancelCause(t.Context())
				ended := h.interrupt(round, stop, nil, time.Now(), false)
				<-time.After(time.Second)
				tt.note(h.changes, kind)
				<-time.After(10 * time.Second)
				synctest.Wait()
				if cut := errors.Is(context.Cause(round), errNewChanges); cut != tt.cut {
					t.Errorf("the round was cut: %t, want %t", cut, tt.cut)
				}
				stop(nil)
				<-ended
				if due := h.changes.Any(); due != (name != "nothing") {
					t.Errorf("the next round is due: %t", due)
				}
			})
		})
	}
}
