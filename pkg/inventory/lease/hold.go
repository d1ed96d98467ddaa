package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A Lease of duration d is renewed d/3 after its last renewal, and, where that
// fails, every d/15 from then on. It counts as lost d/5 before others may take
// it, so that writes under way end in time.
const (
	renewals      = 3
	renewalsAgain = 15
	margin        = 5
)

// Hold renews the Lease that Acquire took until Release is called, also when
// ctx has ended: what a run finishes then is done under the lock too. The
// context that it gives ends with ctx, with Release, and, with a *LostError as
// its cause, before the lock is lost: nothing may be written from then on. That
// context ends when this process comes to it; Check knows at once.
func (l *Lock) Hold(ctx context.Context) context.Context {
	held, cancel := context.WithCancelCause(ctx)
	quit, ended := make(chan struct{}), make(chan struct{})
	l.quit, l.ended = quit, ended
	l.term.endsWith(cancel)
	go func() {
		defer close(ended)
		cancel(l.keep(context.WithoutCancel(ctx), quit))
	}()
	return held
}

// keep renews until quit closes, then gives nil, or until the lock is lost.
func (l *Lock) keep(ctx context.Context, quit <-chan struct{}) error {
	next := l.Duration/renewals - elapsed(l.term.since(), l.Now())
	for {
		select {
		case <-quit:
			return nil
		case <-time.After(min(next, l.left())):
		}
		if err := l.Check(); err != nil {
			return err
		}
		err := l.renewWithin(ctx, l.left())
		if lost := (*LostError)(nil); errors.As(err, &lost) {
			return l.lose(err)
		}
		next = l.Duration/renewals - elapsed(l.term.since(), l.Now())
		if err != nil {
			l.term.failed(err)
			next = l.Duration / renewalsAgain
		}
	}
}

func (l *Lock) renewWithin(ctx context.Context, left time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	return l.renew(ctx)
}

// renew renews the Lease once. After a *LostError another run holds it, or
// none; any other error may pass.
func (l *Lock) renew(ctx context.Context) error {
	sent := l.Now()
	now := metav1.NewMicroTime(sent)
	got, err := l.leases.Update(ctx, l.renewed(l.lease, now))
	if apierrors.IsConflict(err) {
		got, err = l.reread(ctx, now)
	}
	switch {
	case apierrors.IsNotFound(err):
		return l.deleted(ctx, sent)
	case err != nil:
		return err
	}
	l.lease = got
	if err := l.stillNamed(ctx); err != nil {
		return err
	}
	l.term.extend(sent)
	l.notice(got)
	return nil
}

// deleted looks why the Lease is gone. A namespace that is being deleted loses its
// Leases first, and takes no new one: no other run can have the lock then, and what
// cleans the namespace up goes on without a Lease. Anywhere else the lock is lost,
// for another run may have had it meanwhile.
func (l *Lock) deleted(ctx context.Context, sent time.Time) error {
	got, err := l.leases.Create(ctx, l.taken(nil))
	switch {
	case EndingNamespace(err):
		l.term.extend(sent)
		return nil
	case err == nil:
		_ = l.leases.Delete(ctx, got.Namespace, got.Name, got.UID, got.ResourceVersion) // it becomes free by itself
	case !apierrors.IsAlreadyExists(err):
		return err
	}
	return l.lost("", errors.New("it was deleted"))
}

// EndingNamespace tells whether nothing could be created, for its namespace is being
// deleted, or gone.
func EndingNamespace(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err)
}

// reread looks what became of a renewal that met a conflict: it took effect and
// its answer was lost, or another client changed the Lease.
func (l *Lock) reread(ctx context.Context, renewal metav1.MicroTime) (*coordinationv1.Lease, error) {
	there, err := l.leases.Get(ctx, l.Hub.Namespace, l.name())
	switch {
	case err != nil:
		return nil, err
	case holderOf(there) != l.Identity:
		return nil, l.lost(holderOf(there), errors.New("it is no longer ours"))
	case renewedAt(there).Equal(renewal.Truncate(time.Microsecond)):
		return there, nil
	}
	return l.leases.Update(ctx, l.renewed(there, renewal))
}

// renewed is our Lease with another renewal, and with our duration: another client may
// have written another one.
func (l *Lock) renewed(lease *coordinationv1.Lease, renewal metav1.MicroTime) *coordinationv1.Lease {
	next := lease.DeepCopy()
	next.Spec.RenewTime, next.Spec.LeaseDurationSeconds = &renewal, l.seconds()
	return next
}

// LostError says why a run lost the Lease of a hub that it held.
type LostError struct {
	Hub    lynq.HubKey
	Lease  string
	Holder string // who has it now, "" where that is not known
	Err    error
}

func (l *Lock) lost(holder string, err error) error {
	return &LostError{Hub: l.Hub, Lease: l.name(), Holder: nameOf(holder), Err: err}
}

// Error implements error.
func (e *LostError) Error() string {
	holder := ""
	if e.Holder != "" {
		holder = " (" + e.Holder + ")"
	}
	return fmt.Sprintf("lost Lease %s/%s, which keeps other runs off hub %q: %v%s; lynqctl writes nothing more (run again)",
		e.Hub.Namespace, e.Lease, e.Hub.Name, e.Err, holder)
}

// Unwrap gives the reason.
func (e *LostError) Unwrap() error { return e.Err }
