package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAsRecorded checks that an entry describes an object as the form did: its policies, its
// tracking, and whether it is purged.
func TestAsRecorded(t *testing.T) {
	t.Parallel()
	me := plan.NewOwner(lynq.NodeKey{Namespace: "shop", Name: "acme-web"}, lynq.HubKey{Name: "crm"}, nil)
	far := lynq.Ref{Kind: "ConfigMap", Namespace: "far", Name: "acme"}
	for name, tt := range map[string]struct {
		ref           lynq.Ref
		deletion      lynq.DeletionPolicy
		phase         inventory.Phase
		owned, purges bool
	}{
		"deleted with its node":             {config(), lynq.DeleteDelete, "", true, false},
		"lynqctl keeps what the form drops": {config(), lynq.DeleteRetainOnApply, "", true, false},
		"lynqctl keeps it after its node":   {config(), lynq.DeleteRetainOnDelete, "", false, false},
		"lynqctl always keeps it":           {config(), lynq.DeleteRetain, "", false, false},
		"in another namespace":              {far, lynq.DeleteDelete, "", false, false},
		"in none":                           {lynq.Ref{Kind: "Namespace", Name: "acme"}, lynq.DeleteDelete, "", false, false},
		"after its work":                    {config(), lynq.DeleteDelete, inventory.PhaseCompleted, true, true},
		"while its work isn't done":         {config(), lynq.DeleteDelete, inventory.PhaseRunning, true, false},
		"after its work has failed":         {config(), lynq.DeleteDelete, inventory.PhaseFailed, true, false},
		"after its work, far and so":        {far, lynq.DeleteRetain, inventory.PhaseCompleted, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			life := lynq.Lifecycle{Deletion: tt.deletion, Creation: lynq.CreateOnce, DeleteOrder: 3, RunOn: lynq.RunOnDelete}
			r := &inventory.Entry{Ref: tt.ref, ID: "id", APIVersion: "v1", Order: 2, Digest: "d", Phase: tt.phase, Lifecycle: life}
			want := &lynq.Policy{Lifecycle: life}
			want.RunOn, want.Unwaited = "", true
			if tt.purges {
				want.PurgeOrder = new(int)
			}
			o := plan.AsRecorded(me, r)
			if diff := cmp.Diff(&plan.Object{Ref: tt.ref, APIVersion: "v1", ID: "id", Order: 2, Digest: "d", Owned: tt.owned, Policy: want}, o); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if r.RunOn != lynq.RunOnDelete || r.Unwaited {
				t.Errorf("%s: the entry changed: %+v", name, r)
			}
			hook := plan.HookAsRecorded(me, r)
			want.RunOn, want.Unwaited, want.SkipOnDependencyFailure, want.Timeout = lynq.RunOnDelete, false, true, lynq.DefaultPolicy().Timeout
			if diff := cmp.Diff(want, hook.Policy); diff != "" || hook.Ref != tt.ref || !hook.Policy.Hook() {
				t.Errorf("%s, as a hook (-want +got):\n%s", name, diff)
			}
		})
	}
}
