package inventory_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// with returns a changed entry.
func with(r inventory.Entry, change func(*inventory.Entry)) inventory.Entry {
	change(&r)
	return r
}

// once returns an entry of an object with creationPolicy Once.
func once(r inventory.Entry) inventory.Entry {
	return with(r, func(r *inventory.Entry) { r.Creation = lynq.CreateOnce })
}

func TestIntent(t *testing.T) {
	a, b := written(1), written(2)
	retained := with(a, func(r *inventory.Entry) { r.Deletion = lynq.DeleteRetain })
	for name, tt := range map[string]struct{ recorded, desired, want []inventory.Entry }{
		"nothing":              {},
		"new":                  {nil, []inventory.Entry{b, a}, []inventory.Entry{intended(1), intended(2)}},
		"one more":             {[]inventory.Entry{a}, []inventory.Entry{b}, []inventory.Entry{a, intended(2)}},
		"one less":             {[]inventory.Entry{a, b}, []inventory.Entry{a}, []inventory.Entry{a, b}},
		"same":                 {[]inventory.Entry{a}, []inventory.Entry{intended(1)}, []inventory.Entry{a}},
		"desired knows better": {[]inventory.Entry{a}, []inventory.Entry{with(a, func(r *inventory.Entry) { r.UID, r.Digest, r.Ready = "x", "y", false })}, []inventory.Entry{a}},
		"order": {
			[]inventory.Entry{a}, []inventory.Entry{with(a, func(r *inventory.Entry) { r.Order = 5 })},
			[]inventory.Entry{with(a, func(r *inventory.Entry) { r.Order = 5 })},
		},
		"id": {
			[]inventory.Entry{a}, []inventory.Entry{with(a, func(r *inventory.Entry) { r.ID = "x" })},
			[]inventory.Entry{with(a, func(r *inventory.Entry) { r.ID, r.Digest, r.Template = "x", "", "" })},
		},
		"version": {
			[]inventory.Entry{a}, []inventory.Entry{with(a, func(r *inventory.Entry) { r.APIVersion = "apps/v2" })},
			[]inventory.Entry{with(a, func(r *inventory.Entry) { r.APIVersion, r.Digest, r.Template = "apps/v2", "", "" })},
		},
		"sensitive and new": {
			nil, []inventory.Entry{with(a, func(r *inventory.Entry) { r.Sensitive = true })},
			[]inventory.Entry{with(intended(1), func(r *inventory.Entry) { r.Sensitive = true })},
		},
		"sensitive before": {
			[]inventory.Entry{with(a, func(r *inventory.Entry) { r.Sensitive = true })}, []inventory.Entry{a},
			[]inventory.Entry{with(a, func(r *inventory.Entry) { r.Sensitive = true })},
		},
		"sensitive after": {
			[]inventory.Entry{a}, []inventory.Entry{with(a, func(r *inventory.Entry) { r.Sensitive = true })},
			[]inventory.Entry{with(a, func(r *inventory.Entry) { r.Sensitive = true })},
		},
		"Delete to Retain": {
			[]inventory.Entry{a}, []inventory.Entry{retained},
			[]inventory.Entry{with(retained, func(r *inventory.Entry) { r.Digest, r.Template = "", "" })},
		},
		"Retain to Delete": {
			[]inventory.Entry{retained}, []inventory.Entry{a},
			[]inventory.Entry{with(retained, func(r *inventory.Entry) { r.Digest, r.Template = "", "" })},
		},
		"Once keeps its digest": {
			[]inventory.Entry{once(a)}, []inventory.Entry{with(once(a), func(r *inventory.Entry) { r.ID, r.Deletion = "x", lynq.DeleteRetain })},
			[]inventory.Entry{with(once(a), func(r *inventory.Entry) { r.ID, r.Deletion = "x", lynq.DeleteRetain })},
		},
		"WhenNeeded to Once": {
			[]inventory.Entry{a}, []inventory.Entry{once(a)},
			[]inventory.Entry{with(once(a), func(r *inventory.Entry) { r.Digest, r.Template = "", "" })},
		},
		"Once to WhenNeeded": {
			[]inventory.Entry{once(a)}, []inventory.Entry{a},
			[]inventory.Entry{with(a, func(r *inventory.Entry) { r.Digest, r.Template = "", "" })},
		},
		"adopted": {
			nil, []inventory.Entry{with(intended(1), func(r *inventory.Entry) { r.Adopted = true })},
			[]inventory.Entry{with(intended(1), func(r *inventory.Entry) { r.Adopted = true })},
		},
		"adopted now": {
			[]inventory.Entry{a}, []inventory.Entry{with(a, func(r *inventory.Entry) { r.Adopted = true })},
			[]inventory.Entry{with(a, func(r *inventory.Entry) { r.Adopted = true })},
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := slices.Clone(tt.recorded)
			got := inventory.Intent(recorded, tt.desired)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.recorded, recorded); diff != "" {
				t.Errorf("what was recorded changed:\n%s", diff)
			}
		})
	}
}

// TestIntentNamesAll checks that an intent lists each old and new object once, and keeps
// known facts. Repeating it changes nothing.
func TestIntentNamesAll(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		recorded, desired := arbitrary(random).Entries, arbitrary(random).Entries
		got := inventory.Intent(recorded, desired)
		refs := map[lynq.Ref]bool{}
		for _, r := range slices.Concat(recorded, desired) {
			refs[r.Ref] = true
		}
		if len(got) != len(refs) {
			t.Fatalf("%d records of %d objects", len(got), len(refs))
		}
		for _, r := range got {
			old, known := inventory.Find(recorded, r.Ref)
			if !refs[r.Ref] || known && (old.UID != r.UID || r.Digest != "" && r.Digest != old.Digest) || !known && (r.UID != "" || r.Digest != "") {
				t.Fatalf("got %+v from %+v", r, old)
			}
		}
		again := inventory.Intent(got, desired)
		for i := range again {
			again[i].Deletion, got[i].Deletion = "", "" // retained during the change
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatalf("intending again changes it:\n%s", diff)
		}
	}
}

func TestConfirm(t *testing.T) {
	a, b, c := written(1), intended(2), written(3)
	recorded := []inventory.Entry{a, b, c}
	got := inventory.Confirm(recorded, []inventory.Entry{written(4), written(2)}, []lynq.Ref{a.Ref, written(9).Ref})
	if diff := cmp.Diff([]inventory.Entry{written(2), c, written(4)}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]inventory.Entry{a, b, c}, recorded); diff != "" {
		t.Errorf("what was recorded changed:\n%s", diff)
	}
}

func TestDiff(t *testing.T) {
	was := []inventory.Entry{written(1), written(2), intended(3)}
	is := []inventory.Entry{written(4), written(3), written(2)}
	added, removed, changed := inventory.Diff(was, is)
	want := [][]inventory.Entry{{written(4)}, {written(1)}, {written(3)}}
	if diff := cmp.Diff(want, [][]inventory.Entry{added, removed, changed}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEqual checks that exactly the stored fields count.
func TestEqual(t *testing.T) {
	for name, change := range map[string]func(*inventory.Inventory){
		"node":       func(i *inventory.Inventory) { i.Node.Name = "x" },
		"namespace":  func(i *inventory.Inventory) { i.Node.Namespace = "x" },
		"hub":        func(i *inventory.Inventory) { i.Node.Hub.Name = "x" },
		"form":       func(i *inventory.Inventory) { i.Node.Form.Name = "x" },
		"uid":        func(i *inventory.Inventory) { i.Node.UID = "x" },
		"activate":   func(i *inventory.Inventory) { i.Activate = "x" },
		"generation": func(i *inventory.Inventory) { i.TemplateGeneration = 8 },
		"rollout":    func(i *inventory.Inventory) { i.RolloutStart = noon.Add(1) },
		"extra":      func(i *inventory.Inventory) { i.Extra = "x" },
		"finalizer":  func(i *inventory.Inventory) { i.Finalizer = false },
		"record":     func(i *inventory.Inventory) { i.Entries[0].Ready = false },
		"no record":  func(i *inventory.Inventory) { i.Entries = nil },
		"desired":    func(i *inventory.Inventory) { i.Status.Desired++ },
		"ready":      func(i *inventory.Inventory) { i.Status.Ready++ },
		"failed":     func(i *inventory.Inventory) { i.Status.Failed++ },
		"skipped":    func(i *inventory.Inventory) { i.Status.Skipped++ },
		"conflicted": func(i *inventory.Inventory) { i.Status.Conflicted++ },
		"condition":  func(i *inventory.Inventory) { i.Status.Conditions[0].Message = "x" },
		"transition": func(i *inventory.Inventory) { i.Status.Conditions[0].LastTransitionTime = noon.Add(1) },
	} {
		t.Run(name, func(t *testing.T) {
			inv := acme()
			change(inv)
			if inventory.Equal(acme(), inv) {
				t.Errorf("%s does not count", name)
			}
		})
	}
	inv := acme()
	inv.UID, inv.ResourceVersion, inv.Deleting, inv.Others = "x", "y", true, &inventory.Others{}
	slices.Reverse(inv.Entries)
	inv.RolloutStart = inv.RolloutStart.In(time.FixedZone("", 3600))
	if !inventory.Equal(acme(), inv) {
		t.Error("what is not recorded counts")
	}
}

// TestClone checks that a change of a clone doesn't change the original.
func TestClone(t *testing.T) {
	inv := acme()
	c := inv.Clone()
	c.Entries[0].UID, c.Status.Conditions[0].Reason = "x", "y"
	if diff := cmp.Diff(acme(), inv); diff != "" {
		t.Errorf("it changed:\n%s", diff)
	}
}
