package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// TestCheckOwners wants no write without a permit to change owner references, except that a
// new object may refer to an inventory. With a permit, the object gets only owners that the
// permit names.
func TestCheckOwners(t *testing.T) {
	const (
		ours   = `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"lynqnode-a","uid":"u"}]}}`
		absent = `{"metadata":{"resourceVersion":"` + write.AbsentVersion + `","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"lynqnode-a","uid":"u"}]}}`
		others = `{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"a","uid":"d"}]}}`
		none   = `{"metadata":{"ownerReferences":[]}}`
		data   = `{"metadata":{"name":"a"},"data":{"ownerReferences":"text"}}`
		remove = `[{"op":"test","path":"/metadata/ownerReferences/0/uid","value":"x"},{"op":"remove","path":"/metadata/ownerReferences/0"}]`
		all    = `[{"op":"add","path":"/metadata/ownerReferences","value":[{"kind":"ConfigMap","name":"lynqnode-a","uid":"u"}]}]`
		one    = `[{"op":"add","path":"/metadata/ownerReferences/-","value":{"kind":"ConfigMap","name":"lynqnode-a","uid":"u"}}]`
		label  = `[{"op":"add","path":"/metadata/labels/a","value":"ownerReferences"}]`
	)
	detach, err := decide.PermitDetach(&plan.Step{Entry: &inventory.Entry{}, Live: &tracking.Live{UID: "o", Owners: []types.UID{"d"}}})
	if err != nil {
		t.Fatal(err)
	}
	adds, err := decide.PermitHooksOwner(&inventory.Inventory{UID: "u"}, "s")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		verb                write.Verb
		body                string
		free, detach, added bool // without a permit, with one that adds none, with one for u
	}{
		"create, an inventory":         {write.Create, ours, true, false, true},
		"apply of what is absent":      {write.Apply, absent, true, false, true},
		"apply, an inventory":          {write.Apply, ours, false, false, true},
		"apply, a Deployment":          {write.Apply, others, false, true, false},
		"update, an inventory":         {write.Update, ours, false, false, true},
		"merge, none":                  {write.MergePatch, none, false, true, true},
		"JSON patch that removes one":  {write.JSONPatch, remove, false, true, true},
		"JSON patch of all":            {write.JSONPatch, all, false, false, true},
		"JSON patch that adds one":     {write.JSONPatch, one, false, false, false},
		"JSON patch of a label":        {write.JSONPatch, label, true, true, true},
		"merge of data with that word": {write.MergePatch, data, true, true, true},
		"no JSON":                      {write.MergePatch, "ownerReferences", false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for i, want := range []bool{tt.free, tt.detach, tt.added} {
				w := write.Request{Verb: tt.verb, Body: []byte(tt.body), Owners: []decide.OwnersPermit{{}, detach, adds}[i]}
				if err := checkOwners(&w); (err == nil) != want {
					t.Errorf("permit %d: %v", i, err)
				}
				w.DryRun = true
				if err := checkOwners(&w); err != nil {
					t.Errorf("dry run: %v", err)
				}
			}
		})
	}
}
