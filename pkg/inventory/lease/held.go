package lease

import (
	"cmp"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// HeldError means that another run holds the Lease of a hub.
type HeldError struct {
	Hub           lynq.HubKey
	Shard         lynq.Shard // shard of the Lease; zero for the whole hub
	Lease, Holder string
	// Continuous is set if the holder yields the Lease between its rounds.
	Continuous bool
	// Since is when the holder took the Lease, by the holder's clock, or zero. Valid is
	// how long others must see the Lease unchanged before they can take it.
	Since time.Time
	Valid time.Duration
	// Until is when others can take the Lease if it isn't renewed, by our own clock.
	// Renewed is the last renewal, by the holder's clock.
	Until, Renewed time.Time
	// Stopped is set if the holder missed its last renewals and has probably died.
	// Reserved is set if no run holds the Lease, but it waits for the run in Holder.
	Stopped, Reserved bool
	// Deleted is set if somebody deleted the Lease. Its holder may write until it notices.
	Deleted bool
	// Waited is how long this run waited.
	Waited time.Duration
}

// removed replaces the name of a holder that somebody removed from its Lease.
const removed = "whose name somebody removed from the Lease"

// held returns the error for a Lease that another run holds or that waits for one.
func (l *Lock) held(lease *coordinationv1.Lease, d Decision, waited time.Duration) *HeldError {
	reserved, holder := d.State == Reserved, holderOf(lease)
	if reserved {
		holder = waitingFor(lease) // the holder has ended
	}
	return &HeldError{
		Hub: l.Hub, Shard: l.Shard, Lease: l.name(), Holder: cmp.Or(NameOf(holder), removed),
		Continuous: isContinuous(lease) && !reserved, Since: acquiredAt(lease), Valid: l.claimant().valid(lease), Waited: waited,
		Until: d.Until, Renewed: renewedAt(lease), Stopped: d.Stopped, Reserved: reserved,
	}
}

// Ends says in a sentence when the holder's Lease ends.
func (e *HeldError) Ends() string {
	until := clockTime(e.Until)
	switch {
	case e.Reserved:
		return "the Lease is kept for that run until " + until
	case e.Deleted:
		return "somebody deleted its Lease, and the holder may write until " + until
	case e.Stopped:
		return fmt.Sprintf("the holder stopped renewing its Lease at %s, and the Lease ends at %s", clockTime(e.Renewed), until)
	}
	return "its Lease ends at " + until + " unless the holder renews it"
}

// Error implements error.
func (e *HeldError) Error() string {
	return fmt.Sprintf("hub %q %s (%s)", e.Hub.Name, e.What(), e.Fix())
}

// What names the run that has locked the hub.
func (e *HeldError) What() string {
	what := fmt.Sprintf("is locked by %s, %s, since %s; waited %s", e.By(), e.Holder, clockTime(e.Since), e.Waited.Round(time.Second))
	if e.Stopped || e.Deleted {
		what += "; " + e.Ends()
	}
	return what
}

// By names the kind of holder.
func (e *HeldError) By() string {
	if e.Continuous {
		return "lynqctl watch"
	}
	if !e.Shard.IsZero() {
		return "a run of shard " + e.Shard.String()
	}
	return "another run"
}

// Fix says what the user can do.
func (e *HeldError) Fix() string {
	if e.Valid > ContinuousLeaseDuration {
		return fmt.Sprintf("lynqctl holds a Lease for at most %s, so another client changed this one, and it expires after you waited %s. If no run is at work, delete it: kubectl delete lease %s -n %s",
			ContinuousLeaseDuration, e.Valid, e.Lease, e.Hub.Namespace)
	}
	wait := "wait longer with --lock-timeout"
	if e.Continuous {
		wait = "lynqctl watch yields to waiting runs between its rounds: " + wait
	}
	return fmt.Sprintf("%s; if that run died, Lease %s/%s expires after you waited %s",
		wait, e.Hub.Namespace, e.Lease, e.Valid)
}

func clockTime(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

// UnreleasedError says why a run that ended couldn't give its Lease back.
type UnreleasedError struct {
	Hub   lynq.HubKey
	Lease string
	// Valid is how long the next run waits for the Lease. It uses its own clock, from when
	// it first sees the Lease.
	Valid time.Duration
	Err   error
}

// Error implements error.
func (e *UnreleasedError) Error() string {
	return fmt.Sprintf("couldn't give Lease %s/%s back: %v. The next run on hub %q may wait %s for it", e.Hub.Namespace, e.Lease, e.Err, e.Hub.Name, e.Valid)
}

// Unwrap returns the cause.
func (e *UnreleasedError) Unwrap() error { return e.Err }

// ContendedError means that other clients wrote a free Lease first in each attempt, until
// the lock timeout.
type ContendedError struct {
	Hub   lynq.HubKey
	Lease string
	Tries int
	Err   error // of the last attempt
}

// Error implements error.
func (e *ContendedError) Error() string {
	return fmt.Sprintf("hub %q %s (%s)", e.Hub.Name, e.What(), e.Fix())
}

// What says what happened.
func (e *ContendedError) What() string {
	return fmt.Sprintf("is wanted by other runs too: they changed Lease %s/%s first in all %d attempts", e.Hub.Namespace, e.Lease, e.Tries)
}

// Fix says what the user can do.
func (*ContendedError) Fix() string { return "run again, or wait longer with --lock-timeout" }

// Unwrap returns the error of the last attempt.
func (e *ContendedError) Unwrap() error { return e.Err }
