package plan_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestFits checks that an object must have a namespace exactly if its kind has.
func TestFits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		namespaced bool // the kind's
		namespace  string
		want       bool
	}{
		"both in a namespace":      {true, "shop", true},
		"both in none":             {false, "", true},
		"only the kind has one":    {true, "", false},
		"only the object has one":  {false, "shop", false},
		"another namespace of one": {true, "far", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			resource, ref := lynq.APIResource{Kind: "Site", Namespaced: tt.namespaced}, lynq.Ref{Kind: "Site", Namespace: tt.namespace, Name: "acme"}
			if got := plan.SameScope(resource, ref); got != tt.want {
				t.Errorf("%s: the same scope: %t", name, got)
			}
			misplaced := plan.Fits(resource, ref)
			if (misplaced == nil) != tt.want || misplaced != nil && *misplaced != (plan.ScopeError{Object: ref, Namespaced: tt.namespaced}) {
				t.Errorf("%s: %+v", name, misplaced)
			}
		})
	}
}

// TestScopeTexts checks that the texts about both scopes differ, and are about the scope
// that the kind has.
func TestScopeTexts(t *testing.T) {
	t.Parallel()
	without := &plan.ScopeError{Object: lynq.Ref{Kind: "Site", Name: "acme"}, Namespaced: true}
	within := &plan.ScopeError{Object: lynq.Ref{Kind: "Site", Name: "acme"}}
	if without.Error() == within.Error() || without.Impossible() == within.Impossible() {
		t.Errorf("%s\n%s", without, without.Impossible())
	}
}
