package inventory

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// DefaultLeaseDuration is how long a Lease is valid after it was renewed.
const DefaultLeaseDuration = 15 * time.Second

// LeaseName is the name of the Lease that keeps two runs off one hub. It is in
// the hub's namespace.
func LeaseName(hub string) string { return lynq.LeasePrefix + hub }

// LeaseState is what a Lease means to a run that wants it.
type LeaseState uint8

// The states.
const (
	LeaseFree LeaseState = iota // it may be taken
	LeaseHeld                   // another run holds it
	LeaseOurs
)

// LeaseDecision is what to make of a Lease.
type LeaseDecision struct {
	State LeaseState
	// Until is when a Lease that is held, and not renewed, will be free; by our
	// own clock.
	Until time.Time
}

// DecideLease says whether me may take a Lease, nil for one that does not
// exist. It is a pure function.
//
// A Lease is free if no run holds it, or if it was not renewed for as long as
// it says that it is valid. That is measured by our own clock alone: observed is
// when we first saw this very holder, renewal and resource version, so that it
// does not matter what the clocks of others say. The Lease of a run that died
// has to be waited for, however old it is.
func DecideLease(l *coordinationv1.Lease, observed, now time.Time, me string) LeaseDecision {
	holder := ""
	if l != nil {
		holder = holderOf(l)
	}
	switch holder {
	case "":
		return LeaseDecision{State: LeaseFree}
	case me:
		return LeaseDecision{State: LeaseOurs}
	}
	until := observed.Add(durationOf(l))
	if now.Before(until) {
		return LeaseDecision{State: LeaseHeld, Until: until}
	}
	return LeaseDecision{State: LeaseFree}
}

// Held tells whether a run is at work that holds a Lease, by the clocks of both.
// That is good enough to tell people, and not to take the Lease.
func Held(l *coordinationv1.Lease, now time.Time) bool {
	return l != nil && holderOf(l) != "" && now.Before(renewedAt(l).Add(durationOf(l)))
}

func holderOf(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func durationOf(l *coordinationv1.Lease) time.Duration {
	if s := l.Spec.LeaseDurationSeconds; s != nil && *s > 0 {
		return time.Duration(*s) * time.Second
	}
	return DefaultLeaseDuration
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

// sighting is when a Lease was first seen as it is.
type sighting struct {
	holder, version string
	renewed, since  time.Time
}

// look takes note of a Lease, nil for none, as it is seen now.
func (s *sighting) look(l *coordinationv1.Lease, now time.Time) {
	next := sighting{since: now}
	if l != nil {
		next.holder, next.version, next.renewed = holderOf(l), l.ResourceVersion, renewedAt(l)
	}
	if s.since.IsZero() || next.holder != s.holder || next.version != s.version || !next.renewed.Equal(s.renewed) {
		*s = next
	}
}
