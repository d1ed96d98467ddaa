package fields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestForeignManagersWalk tests names in managed fields that differ from the manifest's
// fields.
func TestForeignManagersWalk(t *testing.T) {
	for name, tt := range map[string]struct{ live, desired, fields, want string }{
		"gone since":            {"{spec: {a: 1}}", "{spec: {a: 2}}", `{"f:spec":{"f:b":{}}}`, ""},
		"the server's own":      {"{metadata: {generation: 3}}", "{metadata: {generation: 1}}", `{"f:metadata":{"f:generation":{}}}`, ""},
		"empty things":          {"{spec: {m: {}, l: [], n: null}}", "{spec: {}}", `{"f:spec":{"f:m":{},"f:l":{},"f:n":{}}}`, ""},
		"a field that goes":     {"{spec: {a: x}}", "{spec: {}}", `{"f:spec":{"f:a":{}}}`, ".spec.a"},
		"a key by default":      {"{spec: {ports: [{port: 1, protocol: TCP, name: x}]}}", "{spec: {ports: [{port: 1, name: y}]}}", `{"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{"f:name":{}}}}}`, `.spec.ports[port=1,protocol="TCP"].name`},
		"another item":          {"{spec: {ports: [{port: 1, protocol: UDP}]}}", "{spec: {ports: [{port: 1, protocol: TCP}, x]}}", `{"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"UDP\"}":{"f:port":{}}}}}`, `.spec.ports[port=1,protocol="UDP"]`},
		"an empty map":          {"{spec: {m: {}}}", "{spec: {m: {a: 1}}}", `{"f:spec":{"f:m":{}}}`, ""},
		"a map of others":       {"{spec: {m: {a: 1}}}", "{spec: {m: {a: 2}}}", `{"f:spec":{"f:m":{}}}`, ""},
		"of an unreadable sort": {"{spec: {a: 1}}", "{spec: {a: 2}}", `{"f:spec":{"q":{}}}`, "."},
	} {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: sites.Parse(t, tt.live)}
			entry := map[string]any{"manager": "other", "operation": "Update", "fieldsV1": sites.Parse(t, tt.fields)}
			entries := []any{entry}
			if name == "a map of others" {
				entries = append(entries, map[string]any{"manager": "lynq", "operation": "Update", "fieldsV1": sites.Parse(t, `{"f:spec":{"f:m":{"f:a":{}}}}`)})
			}
			live.Object = sites.With(live.Object, entries, "metadata", "managedFields")
			desired := sites.With(sites.Parse(t, tt.desired), "example.com/v1", "apiVersion")
			got := ""
			for _, f := range Foreign(live, desired, lynq.PatchReplace) {
				got += f.Field
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}
