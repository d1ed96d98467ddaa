package orphan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// TestPruneKeepsWhatTakesClaims keeps StatefulSets whose claims Kubernetes deletes with
// them, because claims hold data. It also keeps unreadable ones.
func TestPruneKeepsWhatTakesClaims(t *testing.T) {
	t.Parallel()
	set := func(name, whenDeleted string) object {
		o := marked("StatefulSet", "shop", name, "")
		o.content = map[string]any{"spec": map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": whenDeleted}}}
		return o
	}
	m := &memory{kinds: []lynq.APIResource{kind("apps", "StatefulSet")}, objects: []object{set("keeps", "Retain"), set("takes", "Delete")}}
	for _, tt := range []struct {
		name string
		data bool
		fail map[string]error
		want []string
	}{
		{"read", false, nil, []string{" shop/unknown delete Pruned StatefulSet.apps/shop/keeps"}},
		{"data are meant", true, nil, []string{" shop/unknown delete Pruned StatefulSet.apps/shop/keeps", " shop/unknown delete Pruned StatefulSet.apps/shop/takes"}},
		{"not read", false, map[string]error{"get StatefulSet.apps": forbidden("statefulsets")}, []string{}},
	} {
		m.fail = tt.fail
		plans, _ := orphan.Prune(mustFind(t, m, orphan.Query{}).Orphans, orphan.PruneOptions{Data: tt.data})
		if diff := cmp.Diff(tt.want, planned(plans)); diff != "" {
			t.Errorf("%s: plans (-want +got):\n%s", tt.name, diff)
		}
	}
}
