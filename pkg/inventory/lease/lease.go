package lease

import (
	"cmp"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// These are how long a Lease is valid after each renewal.
const (
	// DefaultLeaseDuration is for a run that ends by itself.
	DefaultLeaseDuration = 15 * time.Second
	// ContinuousLeaseDuration is for a holder that doesn't end by itself. Three properties
	// depend on it. Renewals every third of it cost 0.1 requests a second per hub, of the
	// 0.5 that an idle holder may cost. A renewal also shows the holder within 10 s that a
	// run waits. A standby looks every 3 s, and takes over 30 s after the last renewal
	// that it saw.
	ContinuousLeaseDuration = 30 * time.Second
)

// deferral divides a Lease's duration. For this part, continuous holders leave the Lease
// to a waiting run. That is long enough for a run that looks every 1.5 s.
const deferral = 3

// State says whether a run may take a Lease.
type State uint8

// These are the states.
const (
	Free        State = iota // any run may take it
	HeldByOther              // another run holds it
	Ours
	Reserved // no run holds it, but one waits for it
)

// Claimant is a run that wants a Lease.
type Claimant struct {
	Identity string
	// Continuous is set if the run keeps the Lease, and yields it to other runs.
	Continuous bool
	// Least is the minimum time that a Lease counts as valid. With 0, it is
	// DefaultLeaseDuration.
	Least time.Duration
}

// valid returns how long a claimant respects a Lease after each renewal. Anybody who may
// write Leases can change the duration. A longer one counts. A shorter one doesn't,
// because a living run renews only at the pace of its own duration.
func (c Claimant) valid(l *coordinationv1.Lease) time.Duration {
	return max(durationOf(l), cmp.Or(c.Least, DefaultLeaseDuration))
}

// Seen says since when a Lease is unchanged, by our own clock.
type Seen struct {
	// Since is when we first saw this holder, renewal and resource version. Waiting is
	// when we first saw the waiting run that it names.
	Since, Waiting time.Time
	// Ended is set if the holder has certainly ended. See the function Ended.
	Ended bool
}

// Decision says what a run does about a Lease.
type Decision struct {
	State State
	// Until is when a Lease becomes free if its holder doesn't renew it. For a reserved
	// one, it is when the reservation ends. Both use our own clock.
	Until time.Time
	// Stopped is set if the holder missed a renewal.
	Stopped bool
	// Ask means that we tell the holder to yield.
	Ask bool
	// GiveBack means that we release a reserved Lease, because only we know that its holder
	// ended. The waiting run would wait until the Lease expires.
	GiveBack bool
}

// Decide says whether me may take a Lease, or create it if l is nil. It is a pure
// function.
//
// A Lease is free if no run holds it. It is also free if nobody renewed it for its
// duration, or at least for me.Least. Only our own clock measures that, so wrong clocks of
// others don't matter. So a run must wait even for an old Lease of a dead run, unless this
// host knows that it ended. The same holds for a Lease whose holder's name somebody
// removed. That run notices this only at its next renewal.
//
// A continuous holder yields to a waiting run. All continuous runs then leave the free
// Lease to it for a part of the duration, but no longer, because it may have died. Other
// runs take the Lease in any order.
func Decide(l *coordinationv1.Lease, seen Seen, now time.Time, me Claimant) Decision {
	if l == nil {
		return Decision{State: Free}
	}
	free := seen.Since
	switch holder := holderOf(l); {
	case holder == "" && released(l):
	case holder == me.Identity:
		return Decision{State: Ours}
	default:
		if seen.Ended {
			break // as if it had released the Lease
		}
		free = free.Add(me.valid(l))
		if now.Before(free) {
			return Decision{State: HeldByOther, Until: free, Stopped: stopped(l, seen, now), Ask: asks(l, seen, now, me)}
		}
	}
	reserved := free.Add(me.valid(l) / deferral)
	if me.Continuous && waitingFor(l) != "" && now.Before(reserved) {
		return Decision{State: Reserved, Until: reserved, GiveBack: holderOf(l) != "" && seen.Ended}
	}
	return Decision{State: Free}
}

// asks reports whether me tells the holder that it waits. The Lease names only one waiting
// run, and the first one keeps its place. If that name is old, its run may have died, and
// me replaces it.
func asks(l *coordinationv1.Lease, seen Seen, now time.Time, me Claimant) bool {
	if me.Continuous || !isContinuous(l) {
		return false
	}
	return waitingFor(l) == "" || waitingFor(l) != me.Identity && me.outdated(l, seen, now)
}

// stopped reports whether the holder missed a renewal. It renews after a third of the
// duration, so two thirds without a renewal are late. Only our own clock counts.
func stopped(l *coordinationv1.Lease, seen Seen, now time.Time) bool {
	return now.Sub(seen.Since) >= durationOf(l)*2/renewals
}

// outdated reports whether the waiting run that a Lease names may have died.
func (c Claimant) outdated(l *coordinationv1.Lease, seen Seen, now time.Time) bool {
	return !now.Before(seen.Waiting.Add(c.valid(l)))
}

// Held reports whether a run holds a Lease, by the clocks of both. This is good enough for
// messages, but not for taking the Lease. It ignores continuous holders, because they hold
// it even when they do nothing.
func Held(l *coordinationv1.Lease, now time.Time) bool {
	return l != nil && holderOf(l) != "" && !isContinuous(l) && now.Before(renewedAt(l).Add(Claimant{}.valid(l)))
}

// Watched returns the continuous holder of a Lease, by the clocks of both, or "". It also
// returns when that ends without a renewal. It ignores a renewal in the future. Anybody
// who may write the Lease could otherwise keep it for ever.
func Watched(l *coordinationv1.Lease, now time.Time) (holder string, until time.Time) {
	if l == nil || !isContinuous(l) {
		return "", time.Time{}
	}
	valid := Claimant{Least: ContinuousLeaseDuration}.valid(l)
	until = renewedAt(l).Add(valid)
	if !now.Before(until) || until.Sub(now) > 2*valid {
		return "", time.Time{}
	}
	return NameOf(holderOf(l)), until
}

func holderOf(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// released reports whether the holder itself released a Lease. The holder removes the time
// of its renewal too.
func released(l *coordinationv1.Lease) bool { return l.Spec.RenewTime == nil }

// durationOf returns a Lease's duration, or 0.
func durationOf(l *coordinationv1.Lease) time.Duration {
	if s := l.Spec.LeaseDurationSeconds; s != nil && *s > 0 {
		return time.Duration(*s) * time.Second
	}
	return 0
}

// renewedAt returns the last renewal, or zero.
func renewedAt(l *coordinationv1.Lease) time.Time {
	switch {
	case l.Spec.RenewTime != nil:
		return l.Spec.RenewTime.Time
	case l.Spec.AcquireTime != nil:
		return l.Spec.AcquireTime.Time
	}
	return time.Time{}
}

func acquiredAt(l *coordinationv1.Lease) time.Time {
	if l.Spec.AcquireTime == nil {
		return time.Time{}
	}
	return l.Spec.AcquireTime.Time
}

// isContinuous reports whether the holder of a Lease yields it.
func isContinuous(l *coordinationv1.Lease) bool {
	return l.Annotations[wellknown.AnnotationHolder] == wellknown.HolderContinuous
}

// waitingFor returns the run that waits for a Lease, or "".
func waitingFor(l *coordinationv1.Lease) string { return l.Annotations[wellknown.AnnotationWaiting] }

// YieldedBy returns the identity of the continuous holder that released a Lease and comes
// back, or "". It may have died meanwhile.
func YieldedBy(l *coordinationv1.Lease) string {
	if l == nil {
		return ""
	}
	return l.Annotations[wellknown.AnnotationYielded]
}

// seenLease is a Lease, with the time since when it is unchanged.
type seenLease struct {
	holder, version, waiting string
	renewed                  time.Time
	// held is the Lease as it last named a run that had it, or nil.
	held *coordinationv1.Lease
	Seen
}

// look stores the Lease's current state, or nil.
func (s *seenLease) look(l *coordinationv1.Lease, now time.Time) Seen {
	next := seenLease{Seen: Seen{Since: now, Waiting: now}}
	if l != nil {
		next.holder, next.version, next.renewed, next.waiting = holderOf(l), l.ResourceVersion, renewedAt(l), waitingFor(l)
	}
	if !s.Since.IsZero() && next.waiting == s.waiting {
		next.Waiting = s.Waiting
	}
	if s.same(&next) {
		next.Since = s.Since
	}
	if l != nil && (next.holder != "" || !released(l)) {
		next.held = l
	}
	*s = next
	return s.Seen
}

// missing returns what counts in place of a Lease that doesn't exist. A run that had it
// learns only at its next renewal that somebody deleted it, and may write until then. So
// the Lease counts as long as if that run had died. It returns nil if no run had the Lease.
func (s *seenLease) missing() *coordinationv1.Lease {
	if s.held == nil {
		return nil
	}
	// A longer duration isn't the holder's own.
	held := s.held.DeepCopy()
	held.Spec.LeaseDurationSeconds = new(int32(min(durationOf(held), ContinuousLeaseDuration) / time.Second)) //nolint:gosec // the duration is short
	return held
}

// same reports whether the holder shows no sign of life. A change of the waiting run
// doesn't count, although it changes the resource version.
func (s *seenLease) same(next *seenLease) bool {
	return !s.Since.IsZero() && next.holder == s.holder && next.renewed.Equal(s.renewed) &&
		(next.version == s.version || next.waiting != s.waiting)
}
