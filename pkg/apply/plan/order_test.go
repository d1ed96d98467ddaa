package plan_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestOrderOf: an object comes after what it depends on, and after earlier waves; by
// waves alone, and by dependencies alone.
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
