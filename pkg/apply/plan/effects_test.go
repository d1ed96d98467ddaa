package plan

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestEffectsUnkept compares all pairs of deletion policies, of the last write and of the form.
func TestEffectsUnkept(t *testing.T) {
	// The form may drop the object, or its node may go.
	keeps := map[lynq.DeletionPolicy][2]bool{
		lynq.DeleteDelete: {false, false}, lynq.DeleteRetain: {true, true}, lynq.DeleteRetainOnApply: {true, false}, lynq.DeleteRetainOnDelete: {false, true},
	}
	for before, had := range keeps {
		for after, has := range keeps {
			s := Step{
				Action: ActionUpdate, Object: &Object{Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Deletion: after}}},
				Entry: &inventory.Entry{Lifecycle: lynq.Lifecycle{Deletion: before}},
			}
			want := had[0] && !has[0] || had[1] && !has[1]
			if got := s.Effects().Unkept; got != want {
				t.Errorf("%s, then %s: %v, want %v", before, after, got, want)
			}
		}
	}
	entry := &inventory.Entry{Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteRetain}}
	for what, s := range map[string]Step{"new": {Object: &Object{Policy: &lynq.Policy{}}}, "leaves": {Entry: entry}, "without policies": {Object: &Object{}, Entry: entry}} {
		if s.Effects().Unkept {
			t.Error(what)
		}
	}
}
