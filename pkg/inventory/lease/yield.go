package lease

import (
	"context"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// wanted is that another run waits for a Lease that we hold.
type wanted struct {
	yes  chan struct{}
	once sync.Once
}

func newWanted() *wanted { return &wanted{yes: make(chan struct{})} }

// Wanted is closed when a renewal shows that another run waits for the Lease that we
// hold continuously. It stays ours until it is released. Each Acquire makes a new one.
func (l *Lock) Wanted() <-chan struct{} { return l.wanted.yes }

// notice looks who waits for a Lease as it was renewed.
func (l *Lock) notice(lease *coordinationv1.Lease) {
	if l.Continuous && waitingFor(lease) != "" {
		l.wanted.once.Do(func() { close(l.wanted.yes) })
	}
}

// mark says on a Lease that is to be ours who holds it. What waited for it has it now,
// or may have died; another run by hand still waits.
func (l *Lock) mark(lease *coordinationv1.Lease, outdated bool) {
	if l.Continuous || outdated || waitingFor(lease) == l.Identity {
		delete(lease.Annotations, wellknown.AnnotationWaiting)
	}
	if l.Continuous {
		annotate(lease, wellknown.AnnotationHolder, wellknown.HolderContinuous)
	} else {
		delete(lease.Annotations, wellknown.AnnotationHolder)
	}
}

// ask tells a continuous holder that we wait, where the decision says so. What another
// client's write came before is asked for at the next look.
func (l *Lock) ask(ctx context.Context, lease *coordinationv1.Lease, d Decision) error {
	if !d.Ask {
		return nil
	}
	next := lease.DeepCopy()
	annotate(next, wellknown.AnnotationWaiting, l.Identity)
	l.asked = true
	_, err := l.leases.Update(ctx, next)
	if err == nil || apierrors.IsNotFound(err) || passes(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

// withdraw is that we wait no more, so that no one yields for nothing. It is a
// courtesy: a run that is named and does not come is not waited for for long.
func (l *Lock) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonGrace)
	defer cancel()
	for range takes {
		lease, err := l.get(ctx)
		if err != nil || lease == nil || waitingFor(lease) != l.Identity {
			return
		}
		delete(lease.Annotations, wellknown.AnnotationWaiting)
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
