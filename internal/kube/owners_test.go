package kube

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestCheckOwners: without a permit no write changes owner references, except that one
// which creates or applies an object may refer to an inventory.
func TestCheckOwners(t *testing.T) {
	const (
		ours   = `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"lynqnode-a","uid":"u"}]}}`
		others = `{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"a","uid":"u"}]}}`
		none   = `{"metadata":{"ownerReferences":[]}}`
		data   = `{"metadata":{"name":"a"},"data":{"ownerReferences":"text"}}`
		remove = `[{"op":"remove","path":"/metadata/ownerReferences/0"}]`
		label  = `[{"op":"add","path":"/metadata/labels/a","value":"ownerReferences"}]`
	)
	permit, err := plan.PermitOwners(&plan.Step{Object: &plan.Object{Ref: lynq.Ref{Kind: "ConfigMap"}}, Live: &plan.Live{UID: "u"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		verb apply.Verb
		body string
		ok   bool
	}{
		"create, an inventory":         {apply.Create, ours, true},
		"apply, an inventory":          {apply.Apply, ours, true},
		"apply, a Deployment":          {apply.Apply, others, false},
		"update, an inventory":         {apply.Update, ours, false},
		"merge, none":                  {apply.MergePatch, none, false},
		"JSON patch that removes one":  {apply.JSONPatch, remove, false},
		"JSON patch of a label":        {apply.JSONPatch, label, true},
		"merge of data with that word": {apply.MergePatch, data, true},
		"no JSON":                      {apply.MergePatch, "ownerReferences", false},
	} {
		w := apply.Write{Verb: tt.verb, Body: []byte(tt.body)}
		if err := checkOwners(&w); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
		w.Owners = permit
		if err := checkOwners(&w); err != nil {
			t.Errorf("%s, with a permit: %v", name, err)
		}
	}
}
