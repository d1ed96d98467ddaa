package lease

import (
	"cmp"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// HeldError tells that another run holds the Lease of a hub.
type HeldError struct {
	Hub           lynq.HubKey
	Shard         lynq.Shard // that the Lease is of, zero for the whole hub
	Lease, Holder string
	// Continuous: the holder yields the Lease between its rounds.
	Continuous bool
	// Since is what the holder's clock said when it took the Lease, zero where
	// that is not known. Valid is for how long it must be seen unchanged before
	// others can take it.
	Since time.Time
	Valid time.Duration
	// Until is when others can take the Lease unless it is renewed, by our own clock.
	// Renewed is when the holder last renewed it, by the holder's.
	Until, Renewed time.Time
	// Stopped: the holder missed its last renewals, so that it has probably died.
	// Reserved: no run holds the Lease, and it is left to the run that Holder names.
	Stopped, Reserved bool
	// Waited is how long it was waited for.
	Waited time.Duration
}

// removed stands for a holder whose name somebody removed from its Lease.
const removed = "whose name somebody removed from the Lease"

// held is the error for a Lease that another run holds, or that is left to one.
func (l *Lock) held(lease *coordinationv1.Lease, d Decision, waited time.Duration) *HeldError {
	return &HeldError{
		Hub: l.Hub, Shard: l.Shard, Lease: l.name(), Holder: cmp.Or(nameOf(cmp.Or(holderOf(lease), waitingFor(lease))), removed),
		Continuous: isContinuous(lease), Since: acquiredAt(lease), Valid: l.claimant().valid(lease), Waited: waited,
		Until: d.Until, Renewed: renewedAt(lease), Stopped: d.Stopped, Reserved: d.State == Reserved,
	}
}

// Ends says when the Lease of the holder ends, in a sentence.
func (e *HeldError) Ends() string {
	until := clockTime(e.Until)
	switch {
	case e.Reserved:
		return "the Lease is kept for that run until " + until
	case e.Stopped:
		return fmt.Sprintf("the holder stopped renewing its Lease at %s, and the Lease ends at %s", clockTime(e.Renewed), until)
	}
	return "its Lease ends at " + until + " unless the holder renews it"
}

// Error implements error.
func (e *HeldError) Error() string {
	return fmt.Sprintf("hub %q %s (%s)", e.Hub.Name, e.What(), e.Fix())
}

// What says who has the hub.
func (e *HeldError) What() string {
	what := fmt.Sprintf("is locked by %s, %s, since %s; waited %s", e.By(), e.Holder, clockTime(e.Since), e.Waited.Round(time.Second))
	if e.Stopped {
		what += "; " + e.Ends()
	}
	return what
}

// By says what the holder is.
func (e *HeldError) By() string {
	if e.Continuous {
		return "lynqctl watch"
	}
	if !e.Shard.IsZero() {
		return "a run of shard " + e.Shard.String()
	}
	return "another run"
}

// Fix says what to do about it.
func (e *HeldError) Fix() string {
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
