package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// TestPaths checks the conversions of JSONPaths, with "" for impossible ones. test/gitops
// runs the expressions with jq.
func TestPaths(t *testing.T) {
	for _, test := range []struct{ path, pointer, jq string }{
		{"$.spec.replicas", "/spec/replicas", ".spec?.replicas?"},
		{"$['metadata']['annotations']['example.com/a~b']", "/metadata/annotations/example.com~1a~0b", `.metadata?.annotations?["example.com/a~b"]?`},
		{"$['a b'].c", "/a b/c", `.["a b"]?.c?`},
		{"$.spec.list[2].image", "/spec/list/2/image", ".spec?.list?[2]?.image?"},
		{"$.spec.list[-1]", "", ".spec?.list?[-1]?"},
		{"$.spec.list[*].image", "", ".spec?.list?[]?.image?"},
		{"$.spec.*", "", ".spec?[]?"},
		{"$[*]", "", ".[]?"},
		{"$.l[?(@.name == 'app')].image", "", `.l?[]? | select(.name? == "app") | .image?`},
		{"$.l[?@.a.b == 3]", "", `.l?[]? | select(.a?.b? == 3)`},
		{"$.l[?(@.on == true)][0]", "", `.l?[]? | select(.on? == true) | .[0]?`},
		{`$.l[?(@.name == 'a"b')].x`, "", `.l?[]? | select(.name? == "a\"b") | .x?`},
		{"$.l[?(@.x)]", "", ""},
		{"$.l[?(@.x == 'a' && @.y == 'b')]", "", ""},
		{"$.l[?(@.x != 'a')]", "", ""},
		{"$.l[?(@.x == null)]", "", ""},
		{"$.l[?(@.x == 1.5)]", "", ""},
		{"$.l[?(@.x == $.y)]", "", ""},
		{"$.l[?(length(@.x) == 1)]", "", ""},
		{"$.l[?(@.x == length(@.y))]", "", ""},
		{"$.l[?(@['a == b'])]", "", ""},
		{"$..x", "", ""},
		{"$.l[1:3]", "", ""},
		{"$.l['a','b']", "", ""},
		{"$", "", ""},
		{"$.[", "", ""},
	} {
		t.Run(test.path, func(t *testing.T) {
			pointer, isPointer := JSONPointer(test.path)
			jq, isJQ := JQPath(test.path)
			if pointer != test.pointer || isPointer != (test.pointer != "") {
				t.Errorf("%s as a JSON pointer: %q", test.path, pointer)
			}
			if jq != test.jq || isJQ != (test.jq != "") {
				t.Errorf("%s for jq: %q, want %q", test.path, jq, test.jq)
			}
		})
	}
}

// TestSecretTwins checks that a manifest's stringData also means the object's data.
func TestSecretTwins(t *testing.T) {
	for path, want := range map[string][]string{
		"$.data.password":           {"$.data.password", "$.stringData.password"},
		"$.stringData['tls.key']":   {"$.data['tls.key']", "$.stringData['tls.key']"},
		"$.metadata.labels.version": {"$.metadata.labels.version"},
		"$.type":                    {"$.type"},
	} {
		t.Run(path, func(t *testing.T) {
			if diff := cmp.Diff(want, SecretTwins(&form.Resource{APIVersion: "v1", Kind: "Secret"}, path)); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
			if got := SecretTwins(&form.Resource{APIVersion: "v1", Kind: "ConfigMap"}, path); len(got) != 1 || got[0] != path {
				t.Errorf("%s of a ConfigMap: %s", path, got)
			}
		})
	}
}
