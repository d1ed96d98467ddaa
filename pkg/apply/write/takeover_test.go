package write

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWithoutMarks(t *testing.T) {
	object := func(metadata map[string]any) *unstructured.Unstructured {
		metadata["uid"], metadata["resourceVersion"] = "u", "7"
		return &unstructured.Unstructured{Object: map[string]any{"metadata": metadata}}
	}
	version := `{"op":"replace","path":"/metadata/uid","value":"u"},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}`
	tests := []struct {
		name     string
		patch    string
		metadata map[string]any
		want     string
	}{
		{"no marks", "", map[string]any{"labels": map[string]any{"app": "x"}}, ""},
		{"no marks, and a patch", `[{"op":"add"}]`, map[string]any{}, `[{"op":"add"}]`},
		{"label", "", map[string]any{"labels": map[string]any{"app": "x", "kapp.k14s.io/app": "1"}},
			`[{"op":"remove","path":"/metadata/labels/kapp.k14s.io~1app"},` + version + `]`},
		{"another node's", "", map[string]any{"labels": map[string]any{"lynq.sh/node": "n", "lynq.sh/node-namespace": "ns"}},
			`[{"op":"remove","path":"/metadata/labels/lynq.sh~1node"},{"op":"remove","path":"/metadata/labels/lynq.sh~1node-namespace"},` + version + `]`},
		{"annotation, before a patch", `[{"op":"replace","path":"/a","value":"b"}]`,
			map[string]any{"annotations": map[string]any{"config.k8s.io/owning-inventory": "i"}},
			`[{"op":"remove","path":"/metadata/annotations/config.k8s.io~1owning-inventory"},{"op":"replace","path":"/a","value":"b"}]`},
		{"controller, not other owners", "", map[string]any{"ownerReferences": []any{map[string]any{"uid": "o"}, map[string]any{"uid": "c"}}},
			`[{"op":"test","path":"/metadata/ownerReferences/1/uid","value":"c"},{"op":"remove","path":"/metadata/ownerReferences/1"},` + version + `]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var patch []byte
			if tt.patch != "" {
				patch = []byte(tt.patch)
			}
			got, err := withoutMarks(patch, object(tt.metadata), "c")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := withoutMarks([]byte("["), object(map[string]any{"labels": map[string]any{"kapp.k14s.io/app": "1"}}), ""); err == nil {
		t.Error("a broken patch is no error")
	}
}
