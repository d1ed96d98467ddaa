package kube

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
)

// TestCheckBound checks that every change of an object's ties is for the observed object.
func TestCheckBound(t *testing.T) {
	t.Parallel()
	const (
		both    = `{"metadata":{"uid":"u","resourceVersion":"7","labels":{"a":null}}}`
		uid     = `{"metadata":{"uid":"u","labels":{"a":null}}}`
		version = `{"metadata":{"resourceVersion":"7","finalizers":[]}}`
		owners  = `{"metadata":{"ownerReferences":[{"uid":"other"}]}}`
		owned   = `{"metadata":{"uid":"u","ownerReferences":[{"uid":"other"}]}}`
		whole   = `{"metadata":{"uid":"u","resourceVersion":"7","ownerReferences":[{"uid":"other"}]}}`
		blank   = `{"metadata":{"uid":"","resourceVersion":"7","ownerReferences":[{"uid":"other"}]}}`
		plain   = `{"metadata":{"name":"a"},"data":{"a":"b"}}`
		adds    = `{"metadata":{"annotations":{"a":"b"}}}`
		absent  = `{"metadata":{"resourceVersion":"` + write.AbsentVersion + `","ownerReferences":[]}}`
		managed = `[{"op":"replace","path":"/metadata/managedFields","value":[]},{"op":"replace","path":"/metadata/uid","value":"u"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`
		other   = `[{"op":"replace","path":"/metadata/managedFields","value":[]},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`
		exact   = `[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers/0","value":"f"},{"op":"remove","path":"/metadata/finalizers/0"}]`
		inexact = `[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"remove","path":"/metadata/finalizers/0"}]`
		loose   = `[{"op":"remove","path":"/metadata/finalizers/0"}]`
		tested  = `[{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"remove","path":"/metadata/labels/a"}]`
		dropped = `[{"op":"remove","path":"/metadata/resourceVersion"},{"op":"remove","path":"/metadata/labels/a"}]`
		data    = `[{"op":"replace","path":"/data/a","value":"b"}]`
	)
	for name, tt := range map[string]struct {
		verb write.Verb
		body string
		want bool
	}{
		"create":                     {write.Create, owners, true},
		"apply of an absent one":     {write.Apply, absent, true},
		"apply of owners":            {write.Apply, whole, true},
		"the same, no version":       {write.Apply, owned, false},
		"apply of owners, empty uid": {write.Apply, blank, false},
		"apply of labels":            {write.Apply, adds, true},
		"apply of owners, no uid":    {write.Apply, owners, false},
		"merge that removes a label": {write.MergePatch, both, true},
		"the same without version":   {write.MergePatch, uid, false},
		"merge of finalizers":        {write.MergePatch, version, false},
		"merge of owners":            {write.MergePatch, owners, false},
		"merge that adds":            {write.MergePatch, adds, false},
		"merge of data":              {write.MergePatch, plain, true},
		"update of data":             {write.Update, plain, false},
		"update, whole":              {write.Update, whole, true},
		"strategic merge":            {write.StrategicPatch, uid, false},
		"update of owners":           {write.Update, owned, false},
		"managers":                   {write.JSONPatch, managed, true},
		"managers of any object":     {write.JSONPatch, other, false},
		"finalizers":                 {write.JSONPatch, loose, false},
		"a finalizer, tested":        {write.JSONPatch, exact, true},
		"a finalizer, not tested":    {write.JSONPatch, inexact, false},
		"labels of a version":        {write.JSONPatch, tested, true},
		"a removed version":          {write.JSONPatch, dropped, false},
		"data":                       {write.JSONPatch, data, true},
		"no JSON":                    {write.JSONPatch, `{`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := write.Request{Verb: tt.verb, Body: []byte(tt.body)}
			if err := checkBound(&w); (err == nil) != tt.want {
				t.Errorf("%v", err)
			}
			if w.DryRun = true; checkBound(&w) != nil {
				t.Errorf("a dry run changes nothing")
			}
		})
	}
}
