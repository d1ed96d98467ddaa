package fields_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// TestContested finds the fields of a manifest that other clients took from lynq.
func TestContested(t *testing.T) {
	body, err := manifest.Encode(map[string]any{
		"metadata": map[string]any{"name": "a", "labels": map[string]any{"tier": "one"}},
		"subjects": []any{map[string]any{"kind": "User", "name": "dev"}},
		"roleRef":  map[string]any{"kind": "Role", "name": "r"},
		"spec": map[string]any{
			"replicas": 2, "volumeName": "", "selector": map[string]any{},
			"containers": []any{map[string]any{"name": "app", "image": "example.com/app"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const rest = `{"f:metadata":{"f:labels":{"f:tier":{}}},"f:subjects":{},"f:roleRef":{},"f:spec":{"f:replicas":{},"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{},"f:image":{}}}}}`
	for name, c := range map[string]struct {
		ours, theirs string
		want         bool
	}{
		"nobody else":                          {rest, `{}`, false},
		"a field that the form doesn't set":    {rest, `{"f:metadata":{"f:annotations":{".":{},"f:deployment.kubernetes.io/revision":{}}},"f:spec":{"f:paused":{}}}`, false},
		"the same values":                      {rest, rest, false},
		"an empty map of labels beside ours":   {rest, `{"f:metadata":{"f:labels":{".":{}}}}`, false},
		"empty values":                         {rest, `{"f:spec":{"f:volumeName":{},"f:selector":{"f:app":{}}}}`, false},
		"an empty map that another client set": {rest, `{"f:spec":{"f:selector":{}}}`, false},
		"a number":                             {`{"f:subjects":{}}`, `{"f:spec":{"f:replicas":{}}}`, true},
		"a label":                              {`{"f:subjects":{}}`, `{"f:metadata":{"f:labels":{".":{},"f:tier":{}}}}`, true},
		"another label":                        {`{"f:subjects":{}}`, `{"f:metadata":{"f:labels":{"f:team":{}}}}`, false},
		"an atomic list":                       {`{"f:roleRef":{}}`, `{"f:subjects":{}}`, true},
		"an atomic map":                        {`{"f:subjects":{}}`, `{"f:roleRef":{}}`, true},
		"a field in a list's item":             {`{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{}}}}}`, `{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:image":{}}}}}`, true},
		"an item that the form doesn't have":   {rest, `{"f:spec":{"f:containers":{"k:{\"name\":\"sidecar\"}":{".":{},"f:name":{},"f:image":{}}}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fields.Contested([]*metav1.FieldsV1{metav1.NewFieldsV1(c.ours), nil}, []*metav1.FieldsV1{metav1.NewFieldsV1(c.theirs)}, body)
			if got != c.want || err != nil {
				t.Errorf("%t, %v", got, err)
			}
		})
	}
	if _, err := fields.Contested(nil, []*metav1.FieldsV1{metav1.NewFieldsV1(`{"f:`)}, body); err == nil {
		t.Error("Contested accepted a set that it cannot read")
	}
}
