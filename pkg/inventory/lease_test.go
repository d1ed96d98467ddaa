package inventory_test

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// leaseOf is a Lease of 10 s.
func leaseOf(holder string, renewed time.Time) *coordinationv1.Lease {
	l := &coordinationv1.Lease{}
	seconds := int32(10)
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &holder, &seconds
	if !renewed.IsZero() {
		l.Spec.RenewTime = &metav1.MicroTime{Time: renewed}
	}
	return l
}

func TestDecideLease(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	edited := func(l *coordinationv1.Lease, f func(*coordinationv1.LeaseSpec)) *coordinationv1.Lease {
		f(&l.Spec)
		return l
	}
	zero := int32(0)
	// It is noon, and the Lease was first seen as it is some seconds ago.
	for name, tt := range map[string]struct {
		lease *coordinationv1.Lease
		seen  int
		want  inventory.LeaseState
		until time.Time
	}{
		"none":                        {nil, 0, inventory.LeaseFree, time.Time{}},
		"no holder":                   {&coordinationv1.Lease{}, 0, inventory.LeaseFree, time.Time{}},
		"released":                    {leaseOf("", at(0)), 0, inventory.LeaseFree, time.Time{}},
		"ours":                        {leaseOf("me", at(-999)), 99, inventory.LeaseOurs, time.Time{}},
		"just seen":                   {leaseOf("a", at(-1)), 0, inventory.LeaseHeld, at(10)},
		"seen a while":                {leaseOf("a", at(-1)), 9, inventory.LeaseHeld, at(1)},
		"seen long enough":            {leaseOf("a", at(-1)), 10, inventory.LeaseFree, time.Time{}},
		"expired by a clock, unseen":  {leaseOf("a", at(-11)), 0, inventory.LeaseHeld, at(10)},
		"old by a clock":              {leaseOf("a", at(-35)), 0, inventory.LeaseHeld, at(10)},
		"a year old by a clock":       {leaseOf("a", at(-365*24*3600)), 0, inventory.LeaseHeld, at(10)},
		"a clock that is ahead":       {leaseOf("a", at(3600)), 9, inventory.LeaseHeld, at(1)},
		"a clock that is ahead, dead": {leaseOf("a", at(3600)), 10, inventory.LeaseFree, time.Time{}},
		"never renewed":               {leaseOf("a", time.Time{}), 9, inventory.LeaseHeld, at(1)},
		"acquired long ago": {edited(leaseOf("a", time.Time{}), func(s *coordinationv1.LeaseSpec) {
			s.AcquireTime = &metav1.MicroTime{Time: at(-40)}
		}), 0, inventory.LeaseHeld, at(10)},
		"no duration": {edited(leaseOf("a", at(0)), func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = nil }), 14, inventory.LeaseHeld, at(1)},
		"duration 0":  {edited(leaseOf("a", at(0)), func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = &zero }), 14, inventory.LeaseHeld, at(1)},
	} {
		got := inventory.DecideLease(tt.lease, at(-tt.seen), noon, "me")
		if got.State != tt.want || !got.Until.Equal(tt.until) {
			t.Errorf("%s: got %+v, want %v until %s", name, got, tt.want, tt.until)
		}
	}
}
