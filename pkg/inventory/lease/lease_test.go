package lease_test

import (
	"cmp"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// leaseOf returns a Lease of 10 s. Without a holder, it was released.
func leaseOf(holder string, renewed time.Time) *coordinationv1.Lease {
	l := &coordinationv1.Lease{}
	seconds := int32(10)
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &holder, &seconds
	if !renewed.IsZero() && holder != "" {
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
	zero, one := int32(0), int32(1)
	const full = lease.DefaultLeaseDuration
	// It is noon, and the Lease has been unchanged for some seconds.
	for name, tt := range map[string]struct {
		lease   *coordinationv1.Lease
		seen    int
		want    lease.State
		until   time.Time
		stopped bool
		least   time.Duration
	}{
		"none":                        {nil, 0, lease.Free, time.Time{}, false, 0},
		"no holder":                   {&coordinationv1.Lease{}, 0, lease.Free, time.Time{}, false, 0},
		"released":                    {leaseOf("", at(0)), 0, lease.Free, time.Time{}, false, 0},
		"its holder's name removed":   {edited(leaseOf("a", at(-1)), func(s *coordinationv1.LeaseSpec) { s.HolderIdentity = nil }), 9, lease.HeldByOther, at(1), true, 0},
		"the same, seen long enough":  {edited(leaseOf("a", at(-1)), func(s *coordinationv1.LeaseSpec) { s.HolderIdentity = nil }), 10, lease.Free, time.Time{}, false, 0},
		"ours":                        {leaseOf("me", at(-999)), 99, lease.Ours, time.Time{}, false, 0},
		"just seen":                   {leaseOf("a", at(-1)), 0, lease.HeldByOther, at(10), false, 0},
		"one renewal late":            {leaseOf("a", at(-1)), 6, lease.HeldByOther, at(4), false, 0},
		"two renewals late":           {leaseOf("a", at(-1)), 7, lease.HeldByOther, at(3), true, 0},
		"seen a while":                {leaseOf("a", at(-1)), 9, lease.HeldByOther, at(1), true, 0},
		"seen long enough":            {leaseOf("a", at(-1)), 10, lease.Free, time.Time{}, false, 0},
		"expired by a clock, unseen":  {leaseOf("a", at(-11)), 0, lease.HeldByOther, at(10), false, 0},
		"old by a clock":              {leaseOf("a", at(-35)), 0, lease.HeldByOther, at(10), false, 0},
		"a year old by a clock":       {leaseOf("a", at(-365*24*3600)), 0, lease.HeldByOther, at(10), false, 0},
		"a clock that is ahead":       {leaseOf("a", at(3600)), 9, lease.HeldByOther, at(1), true, 0},
		"a clock that is ahead, dead": {leaseOf("a", at(3600)), 10, lease.Free, time.Time{}, false, 0},
		"never renewed":               {leaseOf("a", time.Time{}), 9, lease.HeldByOther, at(1), true, 0},
		"acquired long ago": {edited(leaseOf("a", time.Time{}), func(s *coordinationv1.LeaseSpec) {
			s.AcquireTime = &metav1.MicroTime{Time: at(-40)}
		}), 0, lease.HeldByOther, at(10), false, 0},
		"no duration":       {edited(leaseOf("a", at(0)), func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = nil }), 14, lease.HeldByOther, at(1), true, full},
		"duration 0":        {edited(leaseOf("a", at(0)), func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = &zero }), 14, lease.HeldByOther, at(1), true, full},
		"forged duration":   {edited(leaseOf("a", at(0)), func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = &one }), 14, lease.HeldByOther, at(1), true, full},
		"forged, and dead":  {edited(leaseOf("a", at(0)), func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = &one }), 15, lease.Free, time.Time{}, false, full},
		"shorter than ours": {leaseOf("a", at(0)), 10, lease.HeldByOther, at(5), true, full},
	} {
		t.Run(name, func(t *testing.T) {
			got := lease.Decide(tt.lease, lease.Seen{Since: at(-tt.seen)}, noon, lease.Claimant{Identity: "me", Least: cmp.Or(tt.least, 5*time.Second)})
			if got.State != tt.want || !got.Until.Equal(tt.until) || got.Stopped != tt.stopped {
				t.Errorf("got %+v, want %v until %s, stopped %t", got, tt.want, tt.until, tt.stopped)
			}
		})
	}
}

// continuous returns a Lease of 9 s with a continuous holder. waiting is the waiting run,
// or "".
func continuous(holder, waiting string) *coordinationv1.Lease {
	l := leaseOf(holder, noon)
	seconds := int32(9)
	l.Spec.LeaseDurationSeconds = &seconds
	l.Annotations = map[string]string{}
	if holder != "" {
		l.Annotations[wellknown.AnnotationHolder] = wellknown.HolderContinuous
	}
	if waiting != "" {
		l.Annotations[wellknown.AnnotationWaiting] = waiting
	}
	return l
}

// TestDecideLeaseOfContinuousHolders checks who asks, who yields, and for how long.
func TestDecideLeaseOfContinuousHolders(t *testing.T) {
	ago := func(seconds int) time.Time { return noon.Add(-time.Duration(seconds) * time.Second) }
	held := func(in int, ask bool) lease.Decision {
		return lease.Decision{State: lease.HeldByOther, Until: ago(-in), Ask: ask}
	}
	reserved := func(in int) lease.Decision {
		return lease.Decision{State: lease.Reserved, Until: ago(-in)}
	}
	byHand := leaseOf("a", noon)
	free := lease.Decision{State: lease.Free}
	// It is noon, and the Lease and its waiting run have been unchanged for some seconds.
	// The test decides for both kinds of runs.
	for name, tt := range map[string]struct {
		lease          *coordinationv1.Lease
		seen, waits    int
		hand, standsBy lease.Decision
	}{
		"none":                             {nil, 0, 0, free, free},
		"a run by hand":                    {byHand, 2, 2, held(8, false), held(8, false)},
		"no one waits":                     {continuous("a", ""), 2, 2, held(7, true), held(7, false)},
		"no one waits, for long":           {continuous("a", ""), 2, 99, held(7, true), held(7, false)},
		"we wait":                          {continuous("a", "me"), 2, 8, held(7, false), held(7, false)},
		"we wait for long":                 {continuous("a", "me"), 2, 99, held(7, false), held(7, false)},
		"another waits":                    {continuous("a", "b"), 2, 8, held(7, false), held(7, false)},
		"another waits, or died":           {continuous("a", "b"), 2, 9, held(7, true), held(7, false)},
		"died":                             {continuous("a", ""), 9, 9, free, free},
		"died, and another waits":          {continuous("a", "b"), 9, 1, free, reserved(3)},
		"died, and another waited":         {continuous("a", "b"), 12, 1, free, free},
		"released":                         {continuous("", ""), 0, 0, free, free},
		"released, and another waits":      {continuous("", "b"), 0, 9, free, reserved(3)},
		"released, and another still is":   {continuous("", "b"), 2, 9, free, reserved(1)},
		"released, and another died since": {continuous("", "b"), 3, 9, free, free},
		"ours":                             {continuous("me", "b"), 2, 2, lease.Decision{State: lease.Ours}, lease.Decision{State: lease.Ours}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, me := range []lease.Claimant{{Identity: "me", Least: time.Second}, {Identity: "me", Continuous: true, Least: time.Second}} {
				want := tt.hand
				if me.Continuous {
					want = tt.standsBy
				}
				got := lease.Decide(tt.lease, lease.Seen{Since: ago(tt.seen), Waiting: ago(tt.waits)}, noon, me)
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("%+v (-want +got):\n%s", me, diff)
				}
			}
		})
	}
}

// TestHeldTells checks whether a run is at work. A continuous holder's Lease doesn't show
// that.
func TestHeldTells(t *testing.T) {
	for name, tt := range map[string]struct {
		lease *coordinationv1.Lease
		want  bool
	}{
		"none":       {nil, false},
		"released":   {leaseOf("", noon), false},
		"at work":    {leaseOf("a", noon.Add(-9*time.Second)), true},
		"not sure":   {leaseOf("a", noon.Add(-14*time.Second)), true},
		"ended":      {leaseOf("a", noon.Add(-15*time.Second)), false},
		"continuous": {continuous("a", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lease.Held(tt.lease, noon); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
