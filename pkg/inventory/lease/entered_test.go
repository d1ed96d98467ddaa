package lease_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

func ofShard(o *lease.Options) { o.Shard = lynq.Shard{Index: 1, Count: 4} }

// TestEnter checks that the hub's Lease is free for other shards, and names the run that
// entered.
func TestEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := newServer()
		l := lockOf(hub, "a")
		acquire(t, l, 0)
		l.Hold(t.Context())
		want := []lease.Entered{{Index: 1, Count: 4, Holder: "a"}}
		if err := l.Enter(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		whole := lockOf(hub, "b")
		acquire(t, whole, 0)
		entered, err := whole.Entered()
		if diff := cmp.Diff(want, entered); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		whole.ForgetEntered()
		if err := whole.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if text, named := hub.now().Annotations[wellknown.AnnotationEntered]; named {
			t.Errorf("it still names %s", text)
		}
	})
}

// TestEnterLost checks that a run that lost the hub's Lease hasn't entered.
func TestEnterLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := newServer()
		l := lockOf(hub, "a")
		acquire(t, l, 0)
		other := "b"
		hub.edit(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &other })
		err := l.Enter(t.Context(), []lease.Entered{{Index: 1, Count: 4, Holder: "a"}})
		if lost := (*lease.LostError)(nil); !errors.As(err, &lost) {
			t.Errorf("got %v", err)
		}
		if len(hub.now().Annotations) > 0 {
			t.Errorf("the other's Lease has %v", hub.now().Annotations)
		}
	})
}

// TestEnteredUnreadable checks that an unreadable list counts as running runs.
func TestEnteredUnreadable(t *testing.T) {
	for _, text := range []string{`{`, `[{"index":4,"count":4}]`, `[{"index":-1,"count":4}]`, `[{"index":0,"count":100000}]`} {
		t.Run(text, func(t *testing.T) {
			hub := newServer()
			acquire(t, lockOf(hub, "a", func(o *lease.Options) { o.Duration = time.Second }), 0)
			hub.edit(func(l *coordinationv1.Lease) {
				l.Annotations = map[string]string{wellknown.AnnotationEntered: text}
				l.Spec.HolderIdentity, l.Spec.RenewTime = nil, nil
			})
			l := lockOf(hub, "b")
			acquire(t, l, 0)
			if _, err := l.Entered(); err == nil || !strings.Contains(err.Error(), wellknown.AnnotationEntered) {
				t.Errorf("%s: got %v", text, err)
			}
		})
	}
}

// TestAwaitEnd checks that a run of the whole hub waits for the run of a shard, and takes
// no Lease.
func TestAwaitEnd(t *testing.T) {
	name := func(s string) func(*coordinationv1.Lease) {
		return func(l *coordinationv1.Lease) {
			if l.Spec.HolderIdentity = nil; s != "" {
				l.Spec.HolderIdentity = &s
			}
		}
	}
	for what, tt := range map[string]struct {
		happens func(*testing.T, *server, *lease.Lock)
		after   time.Duration // when AwaitEnd returns; 0 for at once
	}{
		"it gives the Lease back": {func(t *testing.T, _ *server, l *lease.Lock) { _ = l.Release(t.Context()) }, 0},
		"somebody deletes it":     {func(_ *testing.T, s *server, _ *lease.Lock) { s.remove() }, lease.DefaultLeaseDuration},
		"it dies":                 {func(*testing.T, *server, *lease.Lock) {}, lease.DefaultLeaseDuration},
		"somebody removes its name": {func(_ *testing.T, s *server, _ *lease.Lock) { s.edit(name("")) },
			lease.DefaultLeaseDuration},
		"somebody writes another name": {func(_ *testing.T, s *server, _ *lease.Lock) { s.edit(name("c")) },
			lease.DefaultLeaseDuration},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				shard := lockOf(s, "a", ofShard)
				acquire(t, shard, 0)
				tt.happens(t, s, shard)
				before := s.took()
				if err := lockOf(s, "b", ofShard).AwaitEnd(t.Context(), "a", time.Minute); err != nil {
					t.Fatal(err)
				}
				if got := time.Since(s.start); got < tt.after || got > tt.after+2*time.Second {
					t.Errorf("returned after %s", got)
				}
				for _, request := range s.took() {
					if !strings.HasSuffix(request, " get") {
						t.Errorf("request %s (before: %v)", request, before)
					}
				}
			})
		})
	}
}

// TestAwaitEndOfLive checks that AwaitEnd waits for a living run as long as the flag says.
func TestAwaitEndOfLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		shard := lockOf(s, "a", ofShard)
		acquire(t, shard, 0)
		ctx := shard.Hold(t.Context())
		told := 0
		err := lockOf(s, "b", ofShard, func(o *lease.Options) { o.Waiting = func(*lease.HeldError) { told++ } }).AwaitEnd(t.Context(), "a", time.Minute)
		held := (*lease.HeldError)(nil)
		if !errors.As(err, &held) || held.By() != "a run of shard 1/4" || held.Lease != "lynqshard-1-of-4-customers" || told != 1 {
			t.Errorf("got %v, told %d times", err, told)
		}
		if got := time.Since(s.start); got != time.Minute || ctx.Err() != nil {
			t.Errorf("after %s, %v", got, context.Cause(ctx))
		}
		_ = shard.Release(t.Context())
	})
}

// both has the Leases of a hub and of one of its shards.
type both struct{ hub, shard *server }

func (b both) of(name string) *server {
	if strings.HasPrefix(name, wellknown.ShardLeasePrefix) {
		return b.shard
	}
	return b.hub
}

func (b both) Get(ctx context.Context, namespace, name string) (*coordinationv1.Lease, error) {
	return b.of(name).Get(ctx, namespace, name)
}

func (b both) Create(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return b.of(l.Name).Create(ctx, l)
}

func (b both) Update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return b.of(l.Name).Update(ctx, l)
}

func (b both) Delete(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error {
	return b.of(name).Delete(ctx, namespace, name, uid, resourceVersion)
}

// TestRemovedFromTheHub checks that a run of a shard ends when the hub's Lease no longer
// names it. It continues while the Lease can't be read.
func TestRemovedFromTheHub(t *testing.T) {
	for what, tt := range map[string]struct {
		happens func(*server)
		ends    bool
	}{
		"nothing": {func(*server) {}, false},
		"another shard enters": {func(s *server) {
			s.edit(named(`[{"index":1,"count":4,"holder":"a"},{"index":2,"count":4,"holder":"b"}]`))
		}, false},
		"somebody removes the name":     {func(s *server) { s.edit(named("")) }, true},
		"somebody writes another name":  {func(s *server) { s.edit(named(`[{"index":1,"count":4,"holder":"b"}]`)) }, true},
		"somebody makes it unreadable":  {func(s *server) { s.edit(named(`[`)) }, true},
		"somebody deletes the Lease":    {func(s *server) { s.remove() }, true},
		"the server doesn't answer now": {func(s *server) { s.setFault(failsUntil(8 * time.Second)) }, false},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := both{newServer(), newServer()}
				shard, hub := lockOf(leases, "a", ofShard), lockOf(leases, "a")
				acquire(t, shard, 0)
				ctx := shard.Hold(t.Context())
				acquire(t, hub, 0)
				if err := hub.Enter(t.Context(), []lease.Entered{{Index: 1, Count: 4, Holder: "a"}}); err != nil {
					t.Fatal(err)
				}
				shard.Join()
				pass(6 * time.Second)
				tt.happens(leases.hub)
				pass(6 * time.Second)
				if lost := (*lease.LostError)(nil); tt.ends != errors.As(context.Cause(ctx), &lost) || tt.ends != (shard.Check() != nil) {
					t.Errorf("ended by %v", context.Cause(ctx))
				}
				_ = shard.Release(t.Context())
			})
		})
	}
}

func named(entered string) func(*coordinationv1.Lease) {
	return func(l *coordinationv1.Lease) { l.Annotations = map[string]string{wellknown.AnnotationEntered: entered} }
}

// failsUntil makes requests fail for some time of the bubble.
func failsUntil(d time.Duration) func(context.Context, string) (bool, error) {
	until := time.Now().Add(d - 6*time.Second)
	return func(context.Context, string) (bool, error) {
		if time.Now().Before(until) {
			return false, errors.New("no answer")
		}
		return false, nil
	}
}
