package plan_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestStepNames checks that the form names an object first, then its entry, and then the
// object itself.
func TestStepNames(t *testing.T) {
	t.Parallel()
	ref := func(name string) lynq.Ref { return lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name} }
	object := &plan.Object{Ref: ref("form"), ID: "form", Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Conflict: lynq.ConflictForce}}}
	bare := &plan.Object{Ref: ref("form"), ID: "form"}
	entry := &inventory.Entry{Ref: ref("entry"), ID: "entry", Lifecycle: lynq.Lifecycle{Conflict: lynq.ConflictStuck}}
	live := &tracking.Live{Ref: ref("live"), ResourceID: "live", UID: "u1"}
	for name, tt := range map[string]struct {
		step   plan.Step
		want   string // its name and its id
		policy lynq.ConflictPolicy
		uid    types.UID
	}{
		"all":                      {plan.Step{Object: object, Entry: entry, Live: live}, "form", lynq.ConflictForce, "u1"},
		"a form alone":             {plan.Step{Object: object}, "form", lynq.ConflictForce, ""},
		"a form without policies":  {plan.Step{Object: bare, Entry: entry}, "form", lynq.ConflictStuck, ""},
		"a form without an entry":  {plan.Step{Object: bare, Live: live}, "form", "", "u1"},
		"an entry, and it exists":  {plan.Step{Entry: entry, Live: live}, "entry", lynq.ConflictStuck, "u1"},
		"an entry alone":           {plan.Step{Entry: entry}, "entry", lynq.ConflictStuck, ""},
		"an object that is listed": {plan.Step{Live: live}, "live", "", "u1"},
		"nothing":                  {plan.Step{}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := tt.step
			if s.Ref().Name != tt.want || s.ID() != tt.want || s.ConflictPolicy() != tt.policy || s.UID() != tt.uid {
				t.Errorf("%s: %s with id %q, policy %q, uid %q", name, s.Ref(), s.ID(), s.ConflictPolicy(), s.UID())
			}
		})
	}
}

// TestApplies checks which strategies use server-side apply, for adopted objects and for
// others.
func TestApplies(t *testing.T) {
	t.Parallel()
	for patch, want := range map[lynq.PatchStrategy][2]bool{
		lynq.PatchApply: {true, true}, lynq.PatchOverride: {true, true}, lynq.PatchRecreate: {true, true},
		lynq.PatchReplace: {false, true}, lynq.PatchMerge: {false, false},
	} {
		t.Run(string(patch), func(t *testing.T) {
			t.Parallel()

			for i, adopted := range []bool{false, true} {
				s := stepOf(plan.ActionUpdate, config())
				s.Object.Policy.Patch, s.Adopted, s.Entry.Adopted = patch, adopted, !adopted
				if s.Applies() != want[i] || s.Object.Applied(adopted) != want[i] {
					t.Errorf("%s, adopted %t: it applies: %t", patch, adopted, s.Applies())
				}
			}
		})
	}
}

// TestCount checks that a plan counts its steps by action, and separately the adopted
// objects that leave.
func TestCount(t *testing.T) {
	t.Parallel()
	step := func(a plan.Action, wanted, adopted bool) plan.Step {
		s := stepOf(a, config())
		if s.Adopted = adopted; !wanted {
			s.Object = nil
		}
		return s
	}
	p := &plan.Plan{Nodes: []plan.NodePlan{
		{Steps: []plan.Step{step(plan.ActionKeep, true, true), step(plan.ActionDelete, false, false)}},
		{Steps: []plan.Step{step(plan.ActionOrphan, false, true), step(plan.ActionDelete, false, true)}},
	}}
	for range 2 {
		p.Count()
		for _, a := range actions() {
			counts := map[plan.Action]int{plan.ActionKeep: 1, plan.ActionDelete: 2, plan.ActionOrphan: 1}
			adopted := map[plan.Action]int{plan.ActionDelete: 1, plan.ActionOrphan: 1}
			if p.Counts[a] != counts[a] || p.Adopted[a] != adopted[a] {
				t.Errorf("%s: %d steps, of which %d adopted", a, p.Counts[a], p.Adopted[a])
			}
		}
	}
}

// TestNextSteps checks that a step gets the results of the run in a copy.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	s := stepOf(plan.ActionUpdate, config())
	before := s
	live, entry, object := &tracking.Live{UID: "u2"}, &inventory.Entry{UID: "u2"}, &plan.Object{ID: "read"}
	seen, recorded, making, as := s.Seen(live), s.Recorded(entry), s.Making(object), s.As(plan.ActionSkip, plan.ReasonForeign)
	if seen.Live != live || seen.Entry != s.Entry || s.Seen(nil).Live != nil {
		t.Errorf("seen: %+v", seen)
	}
	if recorded.Entry != entry || recorded.Live != s.Live {
		t.Errorf("recorded: %+v", recorded)
	}
	if making.Object != object || making.Live != s.Live {
		t.Errorf("making: %+v", making)
	}
	if as.Action != plan.ActionSkip || as.Reason != plan.ReasonForeign || as.Live != s.Live {
		t.Errorf("as: %+v", as)
	}
	if s != before {
		t.Errorf("the step changed: %+v", s)
	}
}

// TestWritten checks that an entry has the time of the last write only if the form asks to
// write the object again.
func TestWritten(t *testing.T) {
	t.Parallel()
	before := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := before.Add(time.Hour).In(time.FixedZone("", 3600))
	for name, tt := range map[string]struct {
		every            time.Duration
		unchanged        bool
		next, afterwards time.Time // without a write, and after it
	}{
		"a write":                 {time.Hour, false, before, before.Add(time.Hour)},
		"a write of nothing":      {time.Hour, true, before, before.Add(time.Hour)},
		"a write without an end":  {0, false, time.Time{}, time.Time{}},
		"a write of nothing once": {0, true, time.Time{}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stepOf(plan.ActionUpdate, config())
			s.Object.Digest, s.Object.Policy.ReapplyInterval = "d", tt.every
			s.Entry.Digest, s.Entry.Written = "d", before
			managed := func() (own, defaults string) { return "fields", "" }
			w := &plan.Wrote{Live: &tracking.Live{UID: "u1"}, Unchanged: tt.unchanged, At: at.Add(time.Millisecond), Managed: managed}
			if next, r := s.NextEntry(), s.Confirms(w); next.Written != tt.next || r.Written != tt.afterwards {
				t.Errorf("%s: written %s, and then %s", name, next.Written, r.Written)
			}
		})
	}
}

// TestSensitive checks that an entry says for as long as an object may have a secret value
// that it does.
func TestSensitive(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		action      plan.Action
		policy      lynq.Policy
		was, is     bool
		after, keep bool // after a write, and without one
	}{
		"never":            {plan.ActionUpdate, lynq.Policy{}, false, false, false, false},
		"new":              {plan.ActionUpdate, lynq.Policy{}, false, true, true, true},
		"dropped":          {plan.ActionUpdate, lynq.Policy{}, true, false, false, true},
		"only tracked":     {plan.ActionTrack, lynq.Policy{}, true, false, true, true},
		"created once":     {plan.ActionUpdate, lynq.Policy{Lifecycle: lynq.Lifecycle{Creation: lynq.CreateOnce}}, true, false, true, true},
		"an ignored field": {plan.ActionUpdate, lynq.Policy{IgnoreFields: []string{"$.data.x"}}, true, false, true, true},
		"merged":           {plan.ActionUpdate, lynq.Policy{Lifecycle: lynq.Lifecycle{Patch: lynq.PatchMerge}}, true, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := stepOf(tt.action, config())
			if s.Object.Policy = &tt.policy; tt.policy.Patch == "" {
				tt.policy.Patch = lynq.PatchApply
			}
			s.Entry.Sensitive, s.Object.Sensitive = tt.was, tt.is
			w := &plan.Wrote{Live: &tracking.Live{UID: "u1"}, Managed: func() (own, defaults string) { return "", "" }}
			if got := s.Confirms(w).Sensitive; got != tt.after {
				t.Errorf("%s, written: %t", name, got)
			}
			if next, begun := s.NextEntry().Sensitive, s.Begun().Sensitive; next != tt.keep || begun != tt.keep {
				t.Errorf("%s: %t, begun %t", name, next, begun)
			}
		})
	}
}

// TestReadyGeneration checks that an entry never says that a run saw a generation ready which
// no run saw.
func TestReadyGeneration(t *testing.T) {
	t.Parallel()
	deployment := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}
	for name, tt := range map[string]struct {
		live       tracking.Live
		ready      bool
		generation int64
	}{
		"it is the same":                       {tracking.Live{Generation: 3, LastButStatus: true}, true, 3},
		"another client scaled it":             {tracking.Live{Generation: 4}, true, 3},
		"a run changed it without a record":    {tracking.Live{Generation: 4, LastButStatus: true}, false, 4},
		"another client wrote, spec unchanged": {tracking.Live{Generation: 3}, true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stepOf(plan.ActionUpdate, deployment)
			s.Object.Digest, s.Entry.Digest, s.Entry.Ready, s.Entry.Generation = "new", "old", true, 3
			tt.live.UID = "u1"
			r := s.Confirms(&plan.Wrote{Live: &tt.live, Unchanged: true, Managed: func() (own, defaults string) { return "", "" }})
			if r.Ready != tt.ready || r.Generation != tt.generation {
				t.Errorf("%s: ready %t, generation %d", name, r.Ready, r.Generation)
			}
		})
	}
}

// TestReadyAfterWrite checks that an object stays ready if the server changed nothing, and
// must become ready again after a change.
func TestReadyAfterWrite(t *testing.T) {
	t.Parallel()
	deployment := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}
	for name, tt := range map[string]struct {
		ref              lynq.Ref
		ready, unchanged bool // as recorded before, and as the server answers
		want             bool
	}{
		"it was ready, and is the same": {deployment, true, true, true},
		"it was ready, and changed":     {deployment, true, false, false},
		"it was never ready":            {deployment, false, true, false},
		"it is new":                     {deployment, false, false, false},
		"its kind is always ready":      {config(), false, false, true},
		"a ConfigMap is the same":       {config(), true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := stepOf(plan.ActionUpdate, tt.ref)
			s.Object.Digest, s.Entry.Digest, s.Entry.Ready = "new", "old", tt.ready
			w := &plan.Wrote{Live: &tracking.Live{UID: "u1"}, Unchanged: tt.unchanged, Managed: func() (own, defaults string) { return "", "" }}
			if r := s.Confirms(w); r.Ready != tt.want || r.Digest != "new" {
				t.Errorf("%s: it is ready: %t, with digest %q", name, r.Ready, r.Digest)
			}
		})
	}
}
