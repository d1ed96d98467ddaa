package watchcmd

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// keptHubs are the hubs that a watch keeps up to date. One goroutine uses it.
type keptHubs struct {
	running map[lynq.HubKey]*keptHub
}

// keptHub is a hub that a goroutine keeps up to date.
type keptHub struct {
	watch *hubWatch
	stop  context.CancelCauseFunc
	ended chan struct{}
}

// change changes to other inputs. Hubs that are the same in both keep running.
func (k *keptHubs) change(ctx context.Context, w *watching, in *watchInputs) {
	next := map[lynq.HubKey]*hubWatch{}
	for i := range in.Hubs {
		next[in.Hubs[i].Key] = newHubWatch(w, in, i)
	}
	left := map[lynq.HubKey]*keptHub{}
	for key, had := range k.running {
		if n := next[key]; n != nil && !in.forced && had.watch.same(n) {
			had.watch.change(n)
			left[key] = had
			continue
		}
		had.stop(errInputsChanged)
	}
	for key, had := range k.running {
		if left[key] == nil {
			<-had.ended
		}
	}
	k.running = left
	for key, had := range left {
		next[key] = had.watch
	}
	w.keeps(slices.Collect(maps.Values(next)))
	for key, n := range next {
		if left[key] == nil {
			left[key] = n.start(ctx)
		}
	}
}

// keeps sets the hubs of this watch.
func (w *watching) keeps(hubs []*hubWatch) {
	slices.SortFunc(hubs, func(a, b *hubWatch) int { return a.hub.Key.Compare(b.hub.Key) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hubs = hubs
}

// wait waits until all hubs have stopped. Their context has ended before.
func (k *keptHubs) wait() {
	for _, had := range k.running {
		<-had.ended
		had.stop(nil)
	}
}

// start keeps a hub up to date in a goroutine, until the context ends or someone stops it.
func (h *hubWatch) start(ctx context.Context) *keptHub {
	within, stop := context.WithCancelCause(ctx)
	k := &keptHub{watch: h, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(k.ended)
		h.run(within)
	}()
	return k
}

// same reports whether other inputs have the same hub: its document, its forms, the place
// of its rows, and its tombstones.
func (h *hubWatch) same(other *hubWatch) bool {
	in, next := h.inputs.get(), other.inputs.get()
	if len(h.hub.Programs) != len(other.hub.Programs) {
		return false
	}
	for i, p := range h.hub.Programs {
		if !reflect.DeepEqual(p.Form, other.hub.Programs[i].Form) {
			return false
		}
	}
	return reflect.DeepEqual(h.hub.Hub, other.hub.Hub) && reflect.DeepEqual(h.o.Sources, other.o.Sources) &&
		reflect.DeepEqual(in.Tombstones, next.Tombstones) &&
		reflect.DeepEqual(in.ClusterScoped, next.ClusterScoped) && reflect.DeepEqual(in.Plurals, next.Plurals)
}

// change changes to other inputs with the same hub.
func (h *hubWatch) change(other *hubWatch) {
	next := other.inputs.get()
	if before := h.inputs.change(next); before.partial || next.partial {
		h.changes.NoteAll() // deletions of data may wait, or no longer wait, and the hub record says why
	}
}
