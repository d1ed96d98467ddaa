package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// jobRef returns the object of a hook.
func jobRef(name string) lynq.Ref {
	return lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: name}
}

// hookOf returns a hook of a form.
func hookOf(name string) Object {
	return Object{Ref: jobRef(name), ID: name, APIVersion: "batch/v1", Digest: "of-" + name, Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}}
}

// TestNextInventory checks that the next inventory has the row and form of now, and keeps
// the finalizer and what the run leaves out.
func TestNextInventory(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := &NodePlan{
		NodeID: lynq.NodeID{Namespace: "ns", Name: "acme-web", UID: "acme"},
		Desired: &Node{
			TemplateGeneration: 4, Extra: "extra", DependForms: []string{"db"}, Expires: noon.Add(time.Hour),
			Hooks: []Object{hookOf("new"), hookOf("old")},
		},
	}
	before := &inventory.Inventory{
		Entries: []inventory.Entry{{Ref: lynq.Ref{Kind: "Secret", Name: "s"}}}, TemplateGeneration: 3, Expires: noon, LeavingSince: noon, LeavingUntil: noon,
		Hooks: []inventory.Entry{{Ref: jobRef("gone"), UID: "u0"}, {Ref: jobRef("old"), Digest: "before", UID: "u1", Phase: inventory.PhaseRunning}},
	}
	entry := func(name string) inventory.Entry {
		return inventory.Entry{Ref: jobRef(name), ID: name, APIVersion: "batch/v1", Digest: "of-" + name, Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}
	}
	begun := entry("old")
	begun.UID, begun.Phase = "u1", inventory.PhaseRunning
	for name, tt := range map[string]struct {
		now     *inventory.Inventory
		leftOut bool
		hooks   []inventory.Entry
	}{
		"a new node":          {nil, false, []inventory.Entry{entry("new"), entry("old")}},
		"a recorded node":     {before, false, []inventory.Entry{entry("new"), begun}},
		"a run without hooks": {before, true, before.Hooks},
		"a new node without":  {nil, true, nil},
	} {
		p.Desired.HooksLeftOut = tt.leftOut
		next := p.NextInventory(tt.now, false)
		if next.Node != p.NodeID || next.Activate != "true" || next.TemplateGeneration != 4 || next.Extra != "extra" || !slices.Equal(next.DependForms, []string{"db"}) {
			t.Errorf("%s: %+v", name, next)
		}
		if !next.Expires.Equal(noon.Add(time.Hour)) || !next.LeavingSince.IsZero() || !next.LeavingUntil.IsZero() {
			t.Errorf("%s: it expires %s, and leaves %s to %s", name, next.Expires, next.LeavingSince, next.LeavingUntil)
		}
		if tt.now != nil && !slices.Equal(next.Entries, before.Entries) {
			t.Errorf("%s: it lists %v", name, next.Entries)
		}
		if diff := cmp.Diff(tt.hooks, next.Hooks); diff != "" {
			t.Errorf("%s: hooks (-want +got):\n%s", name, diff)
		}
	}
}

// TestNextFinalizer checks that an inventory gets its finalizer on demand, and never loses
// it.
func TestNextFinalizer(t *testing.T) {
	t.Parallel()
	p := &NodePlan{Desired: &Node{}}
	for name, tt := range map[string]struct {
		now       *inventory.Inventory
		finalizer bool
		want      bool
	}{
		"a new one without":       {nil, false, false},
		"a new one with":          {nil, true, true},
		"one that has none":       {&inventory.Inventory{}, false, false},
		"one that gets it":        {&inventory.Inventory{}, true, true},
		"one that has it":         {&inventory.Inventory{Finalizer: true}, false, true},
		"one that has it already": {&inventory.Inventory{Finalizer: true}, true, true},
	} {
		if got := p.NextInventory(tt.now, tt.finalizer).Finalizer; got != tt.want {
			t.Errorf("%s: it has a finalizer: %t", name, got)
		}
	}
}

// TestNextEntryOfHook checks that the next entry keeps the phase of a hook, and drops the
// phase of an object that must do its work again.
func TestNextEntryOfHook(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry *inventory.Entry
		want  inventory.Phase
	}{
		"no entry":           {nil, ""},
		"a hook that runs":   {&inventory.Entry{Phase: inventory.PhaseRunning, Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}, inventory.PhaseRunning},
		"a hook that failed": {&inventory.Entry{Phase: inventory.PhaseFailed, Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}, inventory.PhaseFailed},
		"a purged object":    {&inventory.Entry{Phase: inventory.PhaseCompleted}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			hook := hookOf("bye")
			if got := (&Step{Action: ActionCreate, Object: &hook, Entry: tt.entry}).NextEntry().Phase; got != tt.want {
				t.Errorf("%s: it is %q, want %q", name, got, tt.want)
			}
		})
	}
}

// TestCompletedEntry checks that the entry of an object that did its work stays, and names
// the object only while that exists.
func TestCompletedEntry(t *testing.T) {
	t.Parallel()
	old := inventory.Entry{Ref: jobRef("migrate"), UID: "u1", Digest: "d", Template: "t", Generation: 2, ResourceVersion: "7", Fields: "f", Phase: inventory.PhaseCompleted}
	for name, tt := range map[string]struct {
		live *tracking.Live
		want inventory.Entry // as far as it names the object
	}{
		"it is gone":               {nil, inventory.Entry{}},
		"it is there":              {&tracking.Live{UID: "u1"}, inventory.Entry{UID: "u1", Generation: 2, ResourceVersion: "7", Fields: "f"}},
		"another one has its name": {&tracking.Live{UID: "u2"}, inventory.Entry{}},
	} {
		s := &Step{Action: ActionKeep, Reason: ReasonCompleted, Object: &Object{Ref: old.Ref, Digest: "new", Template: "new", Policy: &lynq.Policy{}}, Entry: &old, Live: tt.live}
		want := tt.want
		want.Ref, want.Phase, want.Digest, want.Template, want.Ready = old.Ref, inventory.PhaseCompleted, "d", "t", true
		if diff := cmp.Diff(want, s.NextEntry()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestMoved checks that an entry follows a change of metadata only if nobody else changed
// the object, and keeps its fields unless lynqctl applies it.
func TestMoved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		patch  lynq.PatchStrategy
		change func(r *inventory.Entry, then, now *tracking.Live)
		moves  bool
		fields string // the hash of the fields afterwards
	}{
		"applied":                       {lynq.PatchApply, func(*inventory.Entry, *tracking.Live, *tracking.Live) {}, true, "after"},
		"merged":                        {lynq.PatchMerge, func(*inventory.Entry, *tracking.Live, *tracking.Live) {}, true, "before"},
		"replaced":                      {lynq.PatchReplace, func(*inventory.Entry, *tracking.Live, *tracking.Live) {}, true, "before"},
		"replaced, of adopted":          {lynq.PatchReplace, func(r *inventory.Entry, _, _ *tracking.Live) { r.Adopted = true }, true, "after"},
		"another client scaled it":      {lynq.PatchApply, func(r *inventory.Entry, _, _ *tracking.Live) { r.Ready, r.Generation = true, 0 }, true, "after"},
		"it has drifted":                {lynq.PatchApply, func(_ *inventory.Entry, then, _ *tracking.Live) { then.Fields = "taken" }, false, "before"},
		"it may have drifted":           {lynq.PatchMerge, func(_ *inventory.Entry, then, _ *tracking.Live) { then.ResourceVersion = "8" }, false, "before"},
		"it was never written":          {lynq.PatchApply, func(r *inventory.Entry, then, now *tracking.Live) { r.UID, then.UID, now.UID = "", "", "" }, false, "before"},
		"another object was there":      {lynq.PatchApply, func(_ *inventory.Entry, then, now *tracking.Live) { then.UID, now.UID = "u2", "u2" }, false, "before"},
		"another object is there now":   {lynq.PatchApply, func(_ *inventory.Entry, _, now *tracking.Live) { now.UID = "u2" }, false, "before"},
		"another object was in between": {lynq.PatchApply, func(_ *inventory.Entry, then, _ *tracking.Live) { then.UID = "u2" }, false, "before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := inventory.Entry{Ref: jobRef("a"), UID: "u1", Digest: "d", Generation: 1, ResourceVersion: "7", Fields: "before", Lifecycle: lynq.Lifecycle{Patch: tt.patch}}
			then := &tracking.Live{UID: "u1", Generation: 1, ResourceVersion: "7", Fields: "before"}
			now := &tracking.Live{UID: "u1", Generation: 2, ResourceVersion: "9", Fields: "after"}
			tt.change(&r, then, now)
			want := r
			want.Fields = tt.fields
			if tt.moves {
				want.ResourceVersion = "9"
				if !r.Ready {
					want.Generation = 2
				}
			}
			if diff := cmp.Diff(want, Moved(r, then, now)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

// TestLargestInventory checks that the estimate has each object once, with the longest
// values that the cluster may provide.
func TestLargestInventory(t *testing.T) {
	t.Parallel()
	object := func(name string, patch lynq.PatchStrategy, every time.Duration) *Object {
		return &Object{Ref: jobRef(name), Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Patch: patch}, ReapplyInterval: every}}
	}
	leaves := inventory.Entry{Ref: jobRef("leaves"), UID: "u1"}
	p := &NodePlan{
		Desired:   &Node{},
		Inventory: &inventory.Inventory{Entries: []inventory.Entry{leaves, {Ref: jobRef("applied"), UID: "u2"}}},
		Steps: []Step{
			{Object: object("applied", lynq.PatchApply, 0), Entry: &inventory.Entry{Ref: jobRef("applied"), UID: "u2"}},
			{Object: object("merged", lynq.PatchMerge, time.Hour)},
			{Object: object("adopted", lynq.PatchReplace, 0), Adopted: true},
			{Action: ActionDelete, Entry: &leaves},
			{Action: ActionSkip, Live: &tracking.Live{Ref: jobRef("unlisted")}},
		},
	}
	full := func(name string, patch lynq.PatchStrategy) inventory.Entry {
		return inventory.Entry{
			Ref: jobRef(name), UID: longest, Digest: longest, Template: longest, Fields: longest, ResourceVersion: longest,
			Lifecycle: lynq.Lifecycle{Patch: patch},
		}
	}
	merged, adopted := full("merged", lynq.PatchMerge), full("adopted", lynq.PatchReplace)
	merged.Defaults, merged.Written, adopted.Adopted = strings.Repeat("0", tracking.LongestDefaults), time.Unix(0, 0).UTC(), true
	if diff := cmp.Diff([]inventory.Entry{full("applied", lynq.PatchApply), merged, adopted, leaves}, p.largestInventory().Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// TestFewObjects checks that few objects fit into an inventory with the longest names, so
// that no run needs to check their size.
func TestFewObjects(t *testing.T) {
	t.Parallel()
	long := func(length, i int) string { return fmt.Sprintf("a%0*d", length-1, i) }
	p := &NodePlan{Desired: &Node{}}
	for i := range fewObjects - 1 {
		ref := lynq.Ref{Group: long(253, i), Kind: long(63, i), Namespace: long(63, i), Name: long(253, i)}
		policy := &lynq.Policy{Lifecycle: lynq.Lifecycle{Patch: lynq.PatchMerge, Deletion: lynq.DeleteRetainOnApply}, ReapplyInterval: time.Hour}
		p.Steps = append(p.Steps, Step{Object: &Object{Ref: ref, ID: long(63, i), APIVersion: ref.Group + "/v1beta1", Order: i, Policy: policy}})
	}
	if _, err := inventory.Encode(p.largestInventory()); err != nil {
		t.Error(err)
	}
}

// TestCheckSizes checks that a plan fails if the objects or hooks of a node that stays don't
// fit into its record.
func TestCheckSizes(t *testing.T) {
	t.Parallel()
	steps := func(count, length int) []Step {
		all := make([]Step, count)
		for i := range all {
			ref := jobRef(fmt.Sprintf("%0*d", length, i))
			all[i] = Step{Object: &Object{Ref: ref, ID: "a", APIVersion: "batch/v1", Policy: &lynq.Policy{}}, Entry: &inventory.Entry{Ref: ref}}
		}
		return all
	}
	hook := func(body string) *Node {
		h := hookOf("bye")
		h.Body = manifest.Body(body)
		return &Node{Hooks: []Object{h}}
	}
	large := `{"data":"` + strings.Repeat("x", maxHooks) + `"}`
	for name, tt := range map[string]struct {
		p    NodePlan
		want bool
	}{
		"few objects":                {NodePlan{Desired: &Node{}, Steps: steps(3, 9)}, true},
		"many objects":               {NodePlan{Desired: &Node{}, Steps: steps(fewObjects, 9)}, true},
		"too many objects":           {NodePlan{Desired: &Node{}, Steps: steps(8000, 200)}, false},
		"too many, of a deleted one": {NodePlan{Steps: steps(8000, 200)}, true},
		"a hook":                     {NodePlan{Desired: hook("{}")}, true},
		"a hook that is too large":   {NodePlan{Desired: hook(large)}, false},
		"a hook that is broken":      {NodePlan{Desired: hook("{")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if err := CheckSizes([]Plan{{}, {Nodes: []NodePlan{{Desired: &Node{}}, tt.p}}}); (err == nil) != tt.want {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
