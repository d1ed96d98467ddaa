package plan

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/changeset"
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
		t.Run(what, func(t *testing.T) {
			if s.Effects().Unkept {
				t.Error(what)
			}
		})
	}
}

// TestEffectsOfPolicies wants an effect for policies that protect less than those of the last
// write, and none for the way back or for policies that stay.
func TestEffectsOfPolicies(t *testing.T) {
	held, once := lynq.Lifecycle{Data: true}, lynq.Lifecycle{Creation: lynq.CreateOnce}
	stuck, force := lynq.Lifecycle{Conflict: lynq.ConflictStuck}, lynq.Lifecycle{Conflict: lynq.ConflictForce}
	none := lynq.Lifecycle{Creation: lynq.CreateWhenNeeded}
	for what, tt := range map[string]struct {
		kind          string
		before, after lynq.Lifecycle
		want          changeset.Effects
	}{
		"holdsData ends":            {"ConfigMap", held, none, changeset.Effects{Unheld: true}},
		"holdsData begins":          {"ConfigMap", none, held, changeset.Effects{}},
		"holdsData stays":           {"ConfigMap", held, held, changeset.Effects{}},
		"holdsData ends of a claim": {"PersistentVolumeClaim", held, none, changeset.Effects{}},
		"Once ends":                 {"ConfigMap", once, none, changeset.Effects{Rewritten: true}},
		"Once begins":               {"ConfigMap", none, once, changeset.Effects{}},
		"Force begins":              {"ConfigMap", stuck, force, changeset.Effects{Forced: true}},
		"Force ends":                {"ConfigMap", force, stuck, changeset.Effects{}},
		"Force stays":               {"ConfigMap", force, force, changeset.Effects{}},
		"Force, and no record":      {"ConfigMap", none, force, changeset.Effects{}},
	} {
		t.Run(what, func(t *testing.T) {
			ref := lynq.Ref{Kind: tt.kind}
			s := Step{
				Action: ActionUpdate, Object: &Object{Ref: ref, Policy: &lynq.Policy{Lifecycle: tt.after}},
				Entry: &inventory.Entry{Ref: ref, Lifecycle: tt.before},
			}
			if got := s.Effects(); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
