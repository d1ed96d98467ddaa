package plan_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// numbered returns live objects that refer to an inventory, from the last name to the first.
func numbered(count int) []*tracking.Live {
	var all []*tracking.Live
	for i := range count {
		all = append(all, &tracking.Live{Ref: lynq.Ref{Kind: "Secret", Namespace: "shop", Name: "copy-" + strconv.Itoa(count-i)}})
	}
	return all
}

// namesOf returns the names of live objects.
func namesOf(all []*tracking.Live) string {
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	return strings.Join(names, " ")
}

// TestReplace checks which objects move to a new inventory, which lose their owner, and
// which keep the old inventory.
func TestReplace(t *testing.T) {
	t.Parallel()
	denied := errors.New("denied")
	never := func(*inventory.Entry) string { return "" }
	only := func(name string) func(*inventory.Entry) string {
		return func(e *inventory.Entry) string {
			if e.Name == name {
				return "a rule excludes it"
			}
			return ""
		}
	}
	inv := &inventory.Inventory{Deleting: true, Finalizer: true, Entries: []inventory.Entry{{Ref: config(), UID: "u1"}, {Ref: claim()}}}
	held := inv.Clone()
	held.Finalizer = false
	ours, record := &tracking.Live{Ref: config()}, &tracking.Live{Ref: claim(), Record: true}
	for name, tt := range map[string]struct {
		inv             *inventory.Inventory
		unknown         map[lynq.Ref]error
		referring       []*tracking.Live
		excluded        func(*inventory.Entry) string
		moves, unlisted string
		stays           bool
	}{
		"nothing refers to it":               {inv, nil, nil, never, "", "", false},
		"a recorded object":                  {inv, nil, []*tracking.Live{ours}, never, "acme", "", false},
		"a record of ours":                   {inv, nil, []*tracking.Live{ours, record}, never, "acme", "acme", false},
		"copies, in any order":               {inv, nil, append(numbered(8), ours), never, "acme", "copy-1 copy-2 copy-3 copy-4 copy-5 copy-6 copy-7 copy-8", false},
		"an excluded copy":                   {inv, nil, append(numbered(2), ours), only("copy-2"), "", "", true},
		"an excluded object":                 {inv, nil, append(numbered(2), ours), only("acme"), "", "", true},
		"an excluded object that is no copy": {inv, nil, numbered(2), only("acme"), "", "copy-1 copy-2", false},
		"an unread object":                   {inv, map[lynq.Ref]error{claim(): denied}, []*tracking.Live{ours}, never, "", "", true},
		"an unread object of another node":   {inv, map[lynq.Ref]error{{Kind: "Job"}: denied}, []*tracking.Live{ours}, never, "acme", "", false},
		"another client holds it":            {held, nil, []*tracking.Live{ours}, never, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := plan.Replace(tt.inv, &plan.Observed{Unknown: tt.unknown}, tt.referring, tt.excluded)
			var moves []*tracking.Live
			for _, b := range r.Moves {
				if moves = append(moves, b.Live); b.Entry.Ref != b.Live.Ref {
					t.Errorf("%s: %s moves with the entry of %s", name, b.Live.Ref, b.Entry.Ref)
				}
			}
			if got := namesOf(moves); got != tt.moves {
				t.Errorf("%s: %q moves, want %q", name, got, tt.moves)
			}
			if got := namesOf(r.Unlisted); got != tt.unlisted {
				t.Errorf("%s: %q loses its owner, want %q", name, got, tt.unlisted)
			}
			if (r.Stays != nil) != tt.stays {
				t.Errorf("%s: it stays: %v", name, r.Stays)
			}
		})
	}
}

// TestReplaceCauses checks that an inventory stays for all its causes, each once and in the
// order of their texts.
func TestReplaceCauses(t *testing.T) {
	t.Parallel()
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	inv, unknown := &inventory.Inventory{}, map[lynq.Ref]error{}
	for i, err := range []error{c, a, b, a, c} {
		ref := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: strconv.Itoa(i)}
		inv.Entries, unknown[ref] = append(inv.Entries, inventory.Entry{Ref: ref}), err
	}
	always := func(*inventory.Entry) string { return "a rule excludes it" }
	r := plan.Replace(inv, &plan.Observed{Unknown: unknown}, numbered(8), always)
	var stays *plan.StaysError
	if !errors.As(r.Stays, &stays) || len(stays.Excluded) != 8 || stays.Unseen == nil {
		t.Fatalf("it stays: %v", r.Stays)
	}
	if !slices.Equal(stays.Unseen.Causes, []error{a, b, c}) {
		t.Errorf("unread: %v", stays.Unseen.Causes)
	}
	if !slices.IsSortedFunc(stays.Excluded, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }) {
		t.Errorf("excluded: %v", stays.Excluded)
	}
	if !errors.Is(r.Stays, b) || !errors.Is(r.Stays, stays.Excluded[7]) {
		t.Errorf("it doesn't wrap its causes: %v", stays.Unwrap())
	}
	excluded := &plan.StaysError{Excluded: []error{a}}
	if !errors.Is(excluded, a) || errors.Is(excluded, b) {
		t.Errorf("it wraps %v", excluded.Unwrap())
	}
	if one, two := excluded.Error(), (&plan.StaysError{Excluded: []error{a, b}}).Error(); len(one) >= len(two) {
		t.Errorf("one cause reads %s\ntwo causes read %s", one, two)
	}
}

// TestReferring checks that an object is found by the uid of each owner, read by name or in
// a list.
func TestReferring(t *testing.T) {
	t.Parallel()
	both, unlisted := &tracking.Live{Owners: []types.UID{"i1", "i2"}}, &tracking.Live{Owners: []types.UID{"i2"}}
	o := plan.Observed{
		Live:     map[lynq.Ref]*tracking.Live{config(): both, {Kind: "Secret"}: {}},
		Unlisted: map[lynq.Ref]*tracking.Live{claim(): unlisted},
	}
	got := o.Referring()
	if len(got) != 2 || !slices.Equal(got["i1"], []*tracking.Live{both}) || !slices.Equal(got["i2"], []*tracking.Live{both, unlisted}) {
		t.Errorf("%v", got)
	}
}
