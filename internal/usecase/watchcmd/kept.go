package watchcmd

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
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
	in := h.inputs()
	if len(h.hub.Programs) != len(other.hub.Programs) {
		return false
	}
	for i, p := range h.hub.Programs {
		if !reflect.DeepEqual(p.Form, other.hub.Programs[i].Form) {
			return false
		}
	}
	return reflect.DeepEqual(h.hub.Hub, other.hub.Hub) && reflect.DeepEqual(h.o.Sources, other.o.Sources) &&
		reflect.DeepEqual(in.Tombstones, other.in.Tombstones) &&
		reflect.DeepEqual(in.ClusterScoped, other.in.ClusterScoped) && reflect.DeepEqual(in.Plurals, other.in.Plurals)
}

// change changes to other inputs with the same hub. It ends a round that deletes, because
// other hubs may now render an object that the round would delete.
func (h *hubWatch) change(other *hubWatch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before := h.counting(); before.partial || other.in.partial {
		h.changes.NoteAll() // deletions of data may wait, or no longer wait, and the hub record says why
	}
	h.later = other.in
	if h.cancelRound != nil {
		h.cancelRound(errInputsChanged)
	}
}

// inputs returns the current inputs of the hub.
func (h *hubWatch) inputs() *hubInputs {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counting()
}

// counting returns the current inputs. The caller holds the lock.
func (h *hubWatch) counting() *hubInputs {
	if h.later != nil {
		return h.later
	}
	return h.in
}

// takeInputs takes over inputs that came since the last round.
func (h *hubWatch) takeInputs() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.later != nil {
		h.in, h.later = h.later, nil
	}
}

// begin notes the start of a round, and the function that stops it. It returns false if the
// round would delete by outdated inputs.
func (h *hubWatch) begin(deletes bool, stop context.CancelCauseFunc) bool {
	h.nodes.begin()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !deletes {
		return true
	}
	if h.later != nil {
		return false
	}
	h.cancelRound = stop
	return true
}

// done notes the end of a round, and returns the nodes that failed. It returns nil if that
// is unknown.
func (h *hubWatch) done() map[lynq.NodeKey]report.Outcome {
	h.mu.Lock()
	h.cancelRound = nil
	h.mu.Unlock()
	return h.nodes.failed()
}
