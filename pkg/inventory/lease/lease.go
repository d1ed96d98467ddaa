package lease

import (
	"cmp"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// How long a Lease is valid after it was renewed.
const (
	// DefaultLeaseDuration is for a run that ends.
	DefaultLeaseDuration = 15 * time.Second
	// ContinuousLeaseDuration is for a holder that does not end by itself. Three things
	// hang on it. A Lease is renewed every third of it: 0.1 requests a second for each
	// hub, of the 0.5 that a continuous holder may cost where nothing happens. The holder
	// learns with a renewal that a run waits: within 10 s. And who stands by takes over
	// when it saw the Lease unchanged for as long: 30 s after it saw the last renewal,
	// for which it looks every 3 s.
	ContinuousLeaseDuration = 30 * time.Second
)

// deferral is the part of a Lease's duration for which continuous holders leave it to
// a run that waits: more than enough for one that looks every 1.5 s.
const deferral = 3

// State says whether a run may take a Lease.
type State uint8

// The states.
const (
	Free        State = iota // it may be taken
	HeldByOther              // another run holds it
	Ours
	Reserved // no run holds it, and it is left to one that waits for it
)

// Claimant names a run that wants a Lease.
type Claimant struct {
	Identity string
	// Continuous: it wants the Lease for good, and yields it to runs by hand.
	Continuous bool
	// Least is how long a Lease is valid at least, whatever the Lease says; 0 is
	// DefaultLeaseDuration.
	Least time.Duration
}

// valid is how long a claimant leaves a Lease to its holder after each renewal. Whoever
// may write Leases may write any duration into one: a longer one counts, a shorter one
// doesn't, because a run that lives renews no faster than its own duration asks.
func (c Claimant) valid(l *coordinationv1.Lease) time.Duration {
	return max(durationOf(l), cmp.Or(c.Least, DefaultLeaseDuration))
}

// Seen is since when, by our own clock, a Lease is seen as it is.
type Seen struct {
	// Since is when we first saw this very holder, renewal and resource version, and
	// Waiting when we first saw the run that it names as waiting.
	Since, Waiting time.Time
	// Ended: the holder has certainly ended; see the function Ended.
	Ended bool
}

// Decision says what a run does about a Lease.
type Decision struct {
	State State
	// Until is when a Lease that is held, and not renewed, will be free, or when one
	// that is reserved is no longer so; by our own clock.
	Until time.Time
	// Stopped: its holder did not renew it when that was due.
	Stopped bool
	// Ask: its holder is to learn that we wait, for it yields then.
	Ask bool
}

// Decide says whether me may take a Lease, nil for one that does not
// exist. It is a pure function.
//
// A Lease is free if no run holds it, or if it was not renewed for as long as
// it is valid: as long as it says, and never less than me.Least. That is measured by our own clock alone, so that it
// does not matter what the clocks of others say. The Lease of a run that died
// has to be waited for, however old it is, unless this host knows that the run has
// ended. So has one that names no holder and was not released: its run learns only with
// its next renewal that somebody removed its name.
//
// A continuous holder yields to a run that waits. What is free then is left to that
// run by all that are continuous, for a part of its duration: a run that waits and
// dies keeps none of them off for longer. Runs by hand take it as they come.
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
			break // as if it had given the Lease back
		}
		free = free.Add(me.valid(l))
		if now.Before(free) {
			return Decision{State: HeldByOther, Until: free, Stopped: stopped(l, seen, now), Ask: asks(l, seen, now, me)}
		}
	}
	reserved := free.Add(me.valid(l) / deferral)
	if me.Continuous && waitingFor(l) != "" && now.Before(reserved) {
		return Decision{State: Reserved, Until: reserved}
	}
	return Decision{State: Free}
}

// asks tells whether the holder of a Lease is to learn that me waits. One name is
// enough for it, and the first one stays, unless it stands there for so long
// that its run may have died.
func asks(l *coordinationv1.Lease, seen Seen, now time.Time, me Claimant) bool {
	if me.Continuous || !isContinuous(l) {
		return false
	}
	return waitingFor(l) == "" || waitingFor(l) != me.Identity && me.outdated(l, seen, now)
}

// stopped tells whether the holder missed a renewal: it renews a Lease each third of its
// duration, so that after two thirds one is late. Only our own clock counts.
func stopped(l *coordinationv1.Lease, seen Seen, now time.Time) bool {
	return now.Sub(seen.Since) >= durationOf(l)*2/renewals
}

// outdated tells whether the run that a Lease names as waiting may have died.
func (c Claimant) outdated(l *coordinationv1.Lease, seen Seen, now time.Time) bool {
	return !now.Before(seen.Waiting.Add(c.valid(l)))
}

// Held tells whether a run is at work that holds a Lease, by the clocks of both.
// That is good enough to tell people, and not to take the Lease. A continuous
// holder has it at all times, which does not tell whether it is at work.
func Held(l *coordinationv1.Lease, now time.Time) bool {
	return l != nil && holderOf(l) != "" && !isContinuous(l) && now.Before(renewedAt(l).Add(Claimant{}.valid(l)))
}

// Watched names who keeps a hub continuously, by the clocks of both, "" for nobody, and
// until when that counts unless the Lease is renewed. A renewal from the future counts
// for nothing: whoever may write a Lease could keep it for ever so.
func Watched(l *coordinationv1.Lease, now time.Time) (holder string, until time.Time) {
	if l == nil || !isContinuous(l) {
		return "", time.Time{}
	}
	valid := Claimant{Least: ContinuousLeaseDuration}.valid(l)
	until = renewedAt(l).Add(valid)
	if !now.Before(until) || until.Sub(now) > 2*valid {
		return "", time.Time{}
	}
	return holderOf(l), until
}

func holderOf(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// released tells whether the last holder itself gave a Lease back: it removes the time of
// its renewal with its name.
func released(l *coordinationv1.Lease) bool { return l.Spec.RenewTime == nil }

// durationOf is what a Lease says, 0 where it says nothing.
func durationOf(l *coordinationv1.Lease) time.Duration {
	if s := l.Spec.LeaseDurationSeconds; s != nil && *s > 0 {
		return time.Duration(*s) * time.Second
	}
	return 0
}

// renewedAt is zero where it is not known.
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

// isContinuous tells whether a Lease is held by one that yields it.
func isContinuous(l *coordinationv1.Lease) bool {
	return l.Annotations[wellknown.AnnotationHolder] == wellknown.HolderContinuous
}

// waitingFor names a run that waits for a Lease, "" for none.
func waitingFor(l *coordinationv1.Lease) string { return l.Annotations[wellknown.AnnotationWaiting] }

// seenLease is a Lease as it was seen, and since when it is so.
type seenLease struct {
	holder, version, waiting string
	renewed                  time.Time
	Seen
}

// look takes note of a Lease, nil for none, as it is seen now.
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
	*s = next
	return s.Seen
}

// same tells whether nothing shows that the holder is alive. A run that begins to
// wait, or no longer waits, changes the resource version too.
func (s *seenLease) same(next *seenLease) bool {
	return !s.Since.IsZero() && next.holder == s.holder && next.renewed.Equal(s.renewed) &&
		(next.version == s.version || next.waiting != s.waiting)
}
