package kube_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestObjects wants whole objects in pages, each once even if pages expire. It wants none
// if the list fails.
func TestObjects(t *testing.T) {
	t.Parallel()
	p := newThrough(t, faultproxy.Options{})
	want := p.fill(t, 7)
	list := func(rules ...faultproxy.Rule) (names []string, err error) {
		p.rules(rules...)
		err = p.WithPageSize(3).Objects(t.Context(), configMaps, p.Namespace, "app=a", func(o *unstructured.Unstructured) {
			names = append(names, o.GetName())
			if v, _, err := unstructured.NestedString(o.Object, "data", "key"); v != "1" || err != nil {
				t.Errorf("%s has no data: %v", o.GetName(), o.Object)
			}
			if o.GetManagedFields() != nil || o.GetKind() != "ConfigMap" || o.GetAPIVersion() != "v1" {
				t.Errorf("%s: %v", o.GetName(), o.Object)
			}
		})
		return names, err
	}
	for name, rules := range map[string][]faultproxy.Rule{
		"none":           nil,
		"expired late":   {{Verb: "list", Continue: true, Status: 410, Skip: 1, Times: 1}},
		"expires always": {{Verb: "list", Continue: true, Status: 410}},
	} {
		got, err := list(rules...)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
	if got, err := list(faultproxy.Rule{Verb: "list", Continue: true, Status: 403}); !apierrors.IsForbidden(err) || got != nil {
		t.Errorf("a page that is refused: got %v, %v", got, err)
	}
}
