package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// TestUnknownError checks that the error wraps all causes, and that its text tells how many
// more there are than the first.
func TestUnknownError(t *testing.T) {
	t.Parallel()
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	of := func(causes ...error) *plan.UnknownError { return &plan.UnknownError{Causes: causes} }
	if err := of(a, b); !errors.Is(err, a) || !errors.Is(err, b) || errors.Is(err, c) {
		t.Errorf("it wraps %v", err.Unwrap())
	}
	one, two, three := of(a).Error(), of(a, b).Error(), of(a, b, c).Error()
	if len(one) >= len(two) || two == three {
		t.Errorf("%s\n%s\n%s", one, two, three)
	}
}

// TestUnservedError checks that the texts name the kind, and differ if its definition is
// still there.
func TestUnservedError(t *testing.T) {
	t.Parallel()
	gone, defined := &plan.UnservedError{Group: "example.com", Kind: "Site"}, &plan.UnservedError{Group: "example.com", Kind: "Site", Definition: "sites.example.com"}
	stays := func(err error) string {
		return (&plan.StaysError{Unseen: &plan.UnknownError{Causes: []error{err}}}).Error()
	}
	if gone.Error() == defined.Error() || stays(gone) == stays(defined) {
		t.Errorf("%s\n%s", gone, stays(gone))
	}
	for _, err := range []error{gone, defined} {
		if !strings.Contains(stays(err), "Site.example.com") || stays(err) == stays(errors.New(err.Error())) {
			t.Errorf("an inventory stays: %s", stays(err))
		}
	}
}
