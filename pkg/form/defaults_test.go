package form_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestDefaultPolicies checks that the last default counts, and that a resource's own policy wins.
func TestDefaultPolicies(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"form.yaml": aroundDoc(t, "hub crm") + "---\n" + aroundDoc(t, "form crm/web own") + `  files: [more.yaml]
  defaults:
    - {match: {apiVersion: v1}, deletionPolicy: Retain, timeoutSeconds: 7}
    - {match: {id: "con*"}, deletionPolicy: RetainOnApply}
    - {match: {kind: Secret, id: con}, timeoutSeconds: 9}
  secrets:
  - {id: text2, deletionPolicy: Delete, nameTemplate: own2, spec: {apiVersion: v1, kind: Secret}}
`,
		"more.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .uid }}-{{ .uid }}.a b-"}
---
apiVersion: v1
kind: Secret
metadata: {name: a, annotations: {lynq.sh/resource-id: con, lynq.sh/delete-policy: delete, other: b}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	in, err := form.Load([]string{dir}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	type policy struct {
		Deletion lynq.DeletionPolicy
		Timeout  int
	}
	got := map[string]policy{}
	for _, r := range in.Forms[0].Resources {
		got[r.ID] = policy{r.Policy.Deletion, int(r.Policy.Timeout.Seconds())}
		if v := r.Manifest.Field("metadata").Field("annotations"); r.ID == "con" && (len(v.Fields) != 2 || v.Field("other") == nil) {
			t.Errorf("annotations %v", v.PlainMap())
		}
	}
	want := map[string]policy{
		"text": {lynq.DeleteRetain, 7}, "text2": {lynq.DeleteDelete, 7}, "configmap-a-b": {"RetainOnApply", 7}, "con": {lynq.DeleteDelete, 9},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
