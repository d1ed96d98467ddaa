package write

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// TestLeadsHere checks that lynqctl removes every owner reference for which the garbage
// collector or lynqctl would count the object as the inventory's. Anybody can write one with
// a wrong name or kind.
func TestLeadsHere(t *testing.T) {
	t.Parallel()
	reference := func(kind, name, uid string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}
	}
	for name, tt := range map[string]struct {
		me        string
		reference any
		want      bool
	}{
		"the inventory":            {"inv", reference("ConfigMap", "lynqnode-a", "inv"), true},
		"another inventory":        {"inv", reference("ConfigMap", "lynqnode-b", "other"), true},
		"its uid, another name":    {"inv", reference("ConfigMap", "settings", "inv"), true},
		"its uid, another kind":    {"inv", reference("Secret", "lynqnode-a", "inv"), true},
		"a ConfigMap":              {"inv", reference("ConfigMap", "settings", "other"), false},
		"no uid, and no inventory": {"", reference("ConfigMap", "settings", ""), false},
		"no reference":             {"inv", "inv", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := &Object{Me: plan.Owner{UID: types.UID(tt.me)}}
			if got := o.leadsHere(tt.reference); got != tt.want {
				t.Errorf("%s: %t", name, got)
			}
		})
	}
}
