package lease

import (
	"context"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// wanted says whether another run waits for our Lease.
type wanted struct {
	yes  chan struct{}
	once sync.Once
}

func newWanted() *wanted { return &wanted{yes: make(chan struct{})} }

// Wanted returns a channel that closes when a renewal shows a waiting run. The Lease
// remains ours until its release. Each Acquire starts a new channel.
func (l *Lock) Wanted() <-chan struct{} { return l.wanted.yes }

// notice checks whether a run waits for our renewed Lease.
func (l *Lock) notice(lease *coordinationv1.Lease) {
	if l.Continuous && waitingFor(lease) != "" {
		l.wanted.once.Do(func() { close(l.wanted.yes) })
	}
}

// mark writes the holder into a Lease. It removes the waiting run if that run is the
// holder now or may have died.
func (l *Lock) mark(lease *coordinationv1.Lease, outdated bool) {
	if l.Continuous || outdated || waitingFor(lease) == l.Identity {
		delete(lease.Annotations, wellknown.AnnotationWaiting)
	}
	if l.Continuous {
		annotate(lease, wellknown.AnnotationHolder, wellknown.HolderContinuous)
		delete(lease.Annotations, wellknown.AnnotationYielded)
	} else {
		delete(lease.Annotations, wellknown.AnnotationHolder)
	}
}

// ask tells a continuous holder that we wait, or releases the Lease of one that ended, if
// the decision says so. If another write came first, the next look tries again.
func (l *Lock) ask(ctx context.Context, lease *coordinationv1.Lease, d Decision) error {
	next := lease.DeepCopy()
	switch {
	case d.Ask:
		annotate(next, wellknown.AnnotationWaiting, l.Identity)
		l.asked = true
	case d.GiveBack:
		free(next)
	default:
		return nil
	}
	_, err := l.leases.Update(ctx, next)
	if err == nil || apierrors.IsNotFound(err) || passes(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

// withdraw removes our name as waiting, so that nobody yields without need. A continuous
// holder removes the name of its earlier term, because it doesn't come back. This is a
// courtesy, because others wait only briefly for a run that doesn't come.
func (l *Lock) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonGrace)
	defer cancel()
	for range takes {
		lease, err := l.get(ctx)
		if err != nil || lease == nil {
			return
		}
		waits := waitingFor(lease) == l.Identity
		returns := l.Continuous && YieldedBy(lease) != "" && l.Ended != nil && l.Ended(YieldedBy(lease))
		if !waits && !returns {
			return
		}
		if waits {
			delete(lease.Annotations, wellknown.AnnotationWaiting)
		}
		if returns {
			delete(lease.Annotations, wellknown.AnnotationYielded)
		}
		if _, err = l.leases.Update(ctx, lease); !apierrors.IsConflict(err) {
			return
		}
	}
}

func annotate(lease *coordinationv1.Lease, key, value string) {
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	lease.Annotations[key] = value
}
