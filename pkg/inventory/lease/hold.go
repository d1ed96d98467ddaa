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

// A holder renews a Lease of duration d after d/3. If that fails, it tries again every
// d/15. It treats the Lease as lost d/5 before others may take it, so that pending writes
// finish in time.
const (
	renewals      = 3
	renewalsAgain = 15
	margin        = 5
)

// Hold renews the Lease until Release, even after ctx ends, because a run finishes its
// work under the lock. The returned context ends with ctx, with Release, or shortly before
// the lock is lost. In the last case, its cause is a *LostError, and the run must not
// write any more. A busy process may see this late, but Check knows it at once.
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

// keep renews until quit closes, and then returns nil. It returns an error if the lock is
// lost.
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

// renew renews the Lease once. A *LostError means that this run no longer holds it. Other
// errors may be temporary.
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

// deleted finds out why the Lease is gone. A namespace in deletion loses its Leases first,
// and accepts no new ones. No other run can get the lock then, so the cleanup continues
// without a Lease. Elsewhere the lock is lost, because another run may have held it
// meanwhile.
func (l *Lock) deleted(ctx context.Context, sent time.Time) error {
	got, err := l.leases.Create(ctx, l.taken(nil))
	switch {
	case EndingNamespace(err):
		l.term.extend(sent)
		return nil
	case err == nil:
		_ = l.leases.Delete(ctx, got.Namespace, got.Name, got.UID, got.ResourceVersion) // it expires anyway
	case !apierrors.IsAlreadyExists(err):
		return err
	}
	return l.lost("", errors.New("it was deleted"))
}

// EndingNamespace reports whether an error means that the namespace is gone or in
// deletion.
func EndingNamespace(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err)
}

// reread checks a renewal that met a conflict. Either it succeeded and its answer was
// lost, or another client changed the Lease.
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

// renewed returns our Lease with a new renewal. It also sets our duration, because another
// client may have changed it.
func (l *Lock) renewed(lease *coordinationv1.Lease, renewal metav1.MicroTime) *coordinationv1.Lease {
	next := lease.DeepCopy()
	next.Spec.RenewTime, next.Spec.LeaseDurationSeconds = &renewal, l.seconds()
	return next
}

// LostError says why a run lost the Lease that it held.
type LostError struct {
	Hub    lynq.HubKey
	Lease  string
	Holder string // current holder; "" if unknown
	Err    error
}

func (l *Lock) lost(holder string, err error) error {
	return &LostError{Hub: l.Hub, Lease: l.name(), Holder: NameOf(holder), Err: err}
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

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }
