package fields

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestMergedLists checks that a merge replaces lists in which several items have one key, and
// sees that it must.
func TestMergedLists(t *testing.T) {
	t.Parallel()
	container := func(fields string) string {
		return "{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, " + fields + "}]}}"
	}
	const service = "{apiVersion: v1, kind: Service, spec: {ports: "
	for name, tt := range map[string]struct {
		want, live, sent string // sent is "" if it is what the form says
		changes          bool
	}{
		"once":                {container("env: [{name: A, value: x}]"), container("env: [{name: A, value: x}, {name: B, value: y}]"), "", false},
		"live twice":          {container("env: [{name: A, value: x}]"), container("env: [{name: A, value: x}, {name: B, value: y}, {name: A, value: z}]"), container("env: [{$patch: replace}, {name: A, value: x}, {name: B, value: y}]"), true},
		"said twice":          {container("env: [{name: A, value: x}, {name: A, value: z}]"), container("env: [{name: A, value: x}]"), container("env: [{$patch: replace}, {name: A, value: x}, {name: A, value: z}]"), true},
		"the other way round": {container("env: [{name: A, value: x}, {name: A, value: z}]"), container("env: [{name: A, value: z}, {name: A, value: x}]"), container("env: [{$patch: replace}, {name: A, value: x}, {name: A, value: z}]"), true},
		"both twice":          {container("env: [{name: A, value: x}, {name: A, value: z}]"), container("env: [{name: A, value: x}, {name: A, value: z}]"), container("env: [{$patch: replace}, {name: A, value: x}, {name: A, value: z}]"), false},
		"another source":      {container("env: [{name: A, value: x}]"), container("env: [{name: A, valueFrom: {fieldRef: {fieldPath: a}}}, {name: A, value: x}]"), container("env: [{$patch: replace}, {name: A, value: x}]"), true},
		"UDP and TCP": {
			service + "[{port: 53, protocol: UDP, targetPort: 2}, {port: 53, targetPort: 1}]}}", service + "[{port: 53, protocol: TCP, targetPort: 1, nodePort: 7}, {port: 53, protocol: UDP, targetPort: 1, nodePort: 8}, {port: 80}]}}",
			service + "[{$patch: replace}, {port: 53, protocol: UDP, targetPort: 2, nodePort: 8}, {port: 53, protocol: TCP, targetPort: 1, nodePort: 7}, {port: 80}]}}", true,
		},
		"UDP and TCP as they are": {
			service + "[{port: 53}, {port: 53, protocol: UDP}]}}", service + "[{port: 53, protocol: TCP, nodePort: 7}, {port: 53, protocol: UDP}]}}",
			service + "[{$patch: replace}, {port: 53, protocol: TCP, nodePort: 7}, {port: 53, protocol: UDP}]}}", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			want, live := sites.Parse(t, tt.want), &unstructured.Unstructured{Object: sites.Parse(t, tt.live)}
			if tt.sent == "" {
				tt.sent = tt.want
			}
			if diff := cmp.Diff(sites.Parse(t, tt.sent), MergedLists(want, live)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if got := WouldChange(lynq.PatchMerge, want, live); got != tt.changes {
				t.Errorf("%s: it would change: %t", name, got)
			}
		})
	}
}

// TestMergeKeys compares the keys of lists with those of Kubernetes' own types.
func TestMergeKeys(t *testing.T) {
	t.Parallel()
	compared := 0
	for gvk, of := range scheme.Scheme.AllKnownTypes() {
		if strings.HasSuffix(gvk.Kind, "List") || gvk.Version == "__internal" || gvk.Group == "scheduling.k8s.io" && gvk.Kind != "PriorityClass" {
			continue
		}
		m := map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind}
		compared += mergeKeysIn(t, newComparer(lynq.PatchMerge, m), gvk, of, nil)
	}
	if compared < 100 {
		t.Errorf("only %d lists were compared", compared)
	}
}

// mergeKeysIn compares the lists of a type, and returns their number. A schema may repeat.
func mergeKeysIn(t *testing.T, c comparer, gvk schema.GroupVersionKind, of reflect.Type, path []string) int {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || len(path) > 9 {
		return 0
	}
	compared := 0
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "status" || name == "metadata" || name == "variables" || name == "conditions" { // only some kinds merge the last two
			continue
		}
		at := path
		if name != "" {
			at = append(append([]string{}, path...), name)
		}
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.Uint8 {
			compared++
			want := f.Tag.Get("patchMergeKey")
			if want == "" && strings.Contains(f.Tag.Get("patchStrategy"), "merge") {
				want = "."
			}
			if got := c.mergeKey(at); got != want {
				t.Errorf("%s %s: the key is %q, want %q", gvk.Kind, strings.Join(at, "."), got, want)
			}
		}
		compared += mergeKeysIn(t, c, gvk, f.Type, at)
	}
	return compared
}
