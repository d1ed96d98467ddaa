package plan_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestOrderOf checks that an object comes after its dependencies and after earlier waves,
// by waves alone and by dependencies alone.
func TestOrderOf(t *testing.T) {
	object := func(id string, wave int, depends ...string) plan.Object {
		return plan.Object{ID: id, DependIDs: depends, Policy: &lynq.Policy{ApplyOrder: wave}}
	}
	var objects []plan.Object
	for _, test := range []struct {
		plan.Object
		want int
	}{
		{object("a", -1), 0},
		{object("b", -1, "a"), 1},
		{object("c", 0), 2},
		{object("d", 0), 2},
		{object("e", 0, "c", "gone"), 3},
		{object("f", 7), 4},
	} {
		o := test.Object
		if o.Order = plan.OrderOf(&o, objects); o.Order != test.want {
			t.Errorf("%s has order %d, want %d", o.ID, o.Order, test.want)
		}
		objects = append(objects, o)
	}
}

// TestGoesBefore checks that waves count first, then dependencies. Containers come last in
// their wave.
func TestGoesBefore(t *testing.T) {
	entry := func(kind string, wave, order int) *inventory.Entry {
		return &inventory.Entry{Ref: lynq.Ref{Kind: kind, Name: "a"}, Lifecycle: lynq.Lifecycle{DeleteOrder: wave}, Order: order}
	}
	namespace := func(wave, order int) *inventory.Entry { return entry("Namespace", wave, order) }
	secret := func(wave, order int) *inventory.Entry { return entry("Secret", wave, order) }
	for what, test := range map[string]struct {
		a, b         *inventory.Entry
		before, then bool
	}{
		"one and the same":            {secret(0, 0), secret(0, 0), false, false},
		"what depends on the other":   {secret(0, 1), secret(0, 0), true, false},
		"a wave against dependencies": {secret(-1, 0), secret(0, 1), true, false},
		"a later wave":                {secret(1, 5), secret(0, 0), false, true},
		"what is in a container":      {secret(0, 0), namespace(0, 0), true, false},
		"a container of a later wave": {secret(0, 0), namespace(1, 3), true, false},
		"two containers":              {namespace(0, 0), namespace(0, 0), false, false},
		"a container that goes first": {namespace(-1, 0), secret(0, 0), true, false},
	} {
		t.Run(what, func(t *testing.T) {
			if got := plan.GoesBefore(test.a, test.b); got != test.before {
				t.Errorf("%v, want %v", got, test.before)
			}
			if got := plan.GoesBefore(test.b, test.a); got != test.then {
				t.Errorf("the other way round: %v, want %v", got, test.then)
			}
		})
	}
}
