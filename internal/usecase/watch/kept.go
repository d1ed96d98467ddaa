package watch

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// keptHubs are the hubs that a watch keeps. One goroutine uses it.
type keptHubs struct {
	running map[lynq.HubKey]*keptHub
}

// keptHub is a hub that a goroutine keeps.
type keptHub struct {
	watch *hubWatch
	stop  context.CancelCauseFunc
	ended chan struct{}
}

// turn goes on with other inputs. Hubs that are in them as before keep running.
func (k *keptHubs) turn(ctx context.Context, w *watching, in *watchInputs) {
	next := map[lynq.HubKey]*hubWatch{}
	for i := range in.Hubs {
		next[in.Hubs[i].Key] = newHubWatch(w, in, i)
	}
	left := map[lynq.HubKey]*keptHub{}
	for key, had := range k.running {
		if n := next[key]; n != nil && !in.forced && had.watch.same(n) {
			had.watch.turn(n)
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

// keeps notes the hubs that are kept.
func (w *watching) keeps(hubs []*hubWatch) {
	slices.SortFunc(hubs, func(a, b *hubWatch) int { return a.hub.Key.Compare(b.hub.Key) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hubs = hubs
}

// wait waits until no hub is kept any more: their context has ended.
func (k *keptHubs) wait() {
	for _, had := range k.running {
		<-had.ended
		had.stop(nil)
	}
}

// start keeps a hub until the context ends, or it is stopped.
func (h *hubWatch) start(ctx context.Context) *keptHub {
	within, stop := context.WithCancelCause(ctx)
	k := &keptHub{watch: h, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(k.ended)
		h.run(within)
	}()
	return k
}

// same tells whether other inputs say the same of the hub: its document, its forms, the
// place of its rows, and the tombstones that its rounds look at.
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

// turn has other inputs count that say the same of the hub. A round that deletes ends: what
// the other hubs render may keep an object now.
func (h *hubWatch) turn(other *hubWatch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if before := h.counting(); before.partial || other.partial {
		h.changes.NoteAll() // deletions of data begin or end to wait, and the record tells why
	}
	h.later = other
	if h.cut != nil {
		h.cut(errInputsChanged)
	}
}

// inputs are the inputs that count for the hub.
func (h *hubWatch) inputs() *apply.Loaded {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counting().in
}

// counting has the inputs that count. It is called under the lock.
func (h *hubWatch) counting() *hubWatch {
	if h.later != nil {
		return h.later
	}
	return h
}

// takeInputs takes the inputs that came since the last round.
func (h *hubWatch) takeInputs() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.later != nil {
		h.in, h.files, h.partial, h.invalid, h.later = h.later.in, h.later.files, h.later.partial, h.later.invalid, nil
	}
}

// begin notes that a round carries its plans out, and how it is ended. It is false where the
// round would delete by inputs that no longer count.
func (h *hubWatch) begin(deletes bool, stop context.CancelCauseFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended, h.failing, h.waits = nil, map[lynq.NodeKey]bool{}, map[lynq.Ref]lynq.NodeKey{}
	if !deletes {
		return true
	}
	if h.later != nil {
		return false
	}
	h.cut = stop
	return true
}

// done notes that the round is at work no more, and gives how its nodes ended that did not
// end well, nil where that is not known.
func (h *hubWatch) done() map[lynq.NodeKey]report.Outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut = nil
	return h.ended
}
