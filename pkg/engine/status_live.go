package engine

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
)

// How long a watch of nodes lets objects be between two looks at them: so long, and
// for a small part of its time at most; where an inventory changed, not as long.
const (
	lookEvery   = 5 * time.Second
	lookAgain   = time.Second
	lookingPart = 10
)

// liveNodes is what a StatusWatch knows of looks at objects. It is used under the
// watch's lock. A nil one is of a watch that looks at none.
type liveNodes struct {
	there    map[types.NamespacedName]bool // inventories that can be read
	stale    chan struct{}                 // has room for one: an inventory changed
	looked   bool
	warnings []string
}

func newLiveNodes() *liveNodes {
	return &liveNodes{there: map[types.NamespacedName]bool{}, stale: make(chan struct{}, 1)}
}

func (l *liveNodes) changed(key types.NamespacedName) {
	l.there[key] = true
	l.wake()
}

func (l *liveNodes) gone(key types.NamespacedName) {
	if l != nil {
		delete(l.there, key)
	}
}

// wake has the objects looked at soon.
func (l *liveNodes) wake() {
	if l == nil {
		return
	}
	select {
	case l.stale <- struct{}{}:
	default:
	}
}

func (l *liveNodes) told() []string {
	if l == nil {
		return nil
	}
	return l.warnings
}

// known tells whether all nodes are, under the lock.
func (w *StatusWatch) known() bool { return w.synced && (w.live == nil || w.live.looked) }

// lookOn looks at the objects until the context ends.
func (w *StatusWatch) lookOn(ctx context.Context, client *kube.Client) error {
	for {
		began := time.Now()
		if w.ready() {
			if err := w.lookOnce(ctx, client); err != nil && ctx.Err() == nil {
				return err
			}
		}
		if !w.pause(ctx, time.Since(began)) {
			return nil
		}
	}
}

// ready tells whether the watch has told of all inventories.
func (w *StatusWatch) ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.synced
}

// pause waits until it is time for another look, after one that took so long; false
// means that the context ended.
func (w *StatusWatch) pause(ctx context.Context, took time.Duration) bool {
	soon := time.NewTimer(max(lookAgain, took))
	defer soon.Stop()
	late := time.NewTimer(max(lookEvery, lookingPart*took))
	defer late.Stop()
	if w.ready() {
		select {
		case <-ctx.Done():
			return false
		case <-soon.C:
		}
	}
	select {
	case <-ctx.Done():
		return false
	case <-w.live.stale:
	case <-late.C:
	}
	return true
}

// lookOnce reads all inventories, which may be newer than what the watch has told of,
// and looks at their objects.
func (w *StatusWatch) lookOnce(ctx context.Context, client *kube.Client) error {
	r, err := w.o.readAll(ctx, newHubRecords(store.New(client.ConfigMaps()), w.o.Namespace))
	if err != nil {
		return err
	}
	now, warnings, err := nodesNow(ctx, client, r)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, inv := range r.Chosen {
		key := types.NamespacedName{Namespace: inv.Namespace, Name: inventory.Name(inv.Node)}
		if w.live.there[key] {
			w.note(key, now.Of(inv))
		}
	}
	w.live.looked, w.live.warnings = true, warnings
	w.notify()
	return nil
}
