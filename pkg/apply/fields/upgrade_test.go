package fields

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/test/sites"
)

// upgrade sends the patch that moves managed fields, if there is one. It tries again if a
// controller wrote meanwhile.
func (s *site) upgrade(m map[string]any) bool {
	s.T.Helper()
	return s.sendPatch(m, func() ([]byte, error) { return UpgradePatch(s.Get(m), false) })
}

// sendPatch sends a JSON patch, if there is one. It tries again if a controller wrote
// meanwhile.
func (s *site) sendPatch(m map[string]any, make func() ([]byte, error)) bool {
	s.T.Helper()
	for {
		patch, err := make()
		if err != nil {
			s.T.Fatal(err)
		}
		if patch == nil {
			return false
		}
		_, err = s.Client(m).Patch(s.T.Context(), sites.NameIn(m), types.JSONPatchType, patch, sites.PatchOptions("lynq"))
		if err == nil {
			return true
		}
		if !apierrors.IsConflict(err) {
			s.T.Fatal(err)
		}
	}
}

// TestUpgrade checks that fields of lynq's updates move to its apply.
func TestUpgrade(t *testing.T) {
	s := newSite(t)
	config := sites.Parse(t, sites.Settings)
	s.Create("lynq", config)
	s.Patch("somebody", config, types.MergePatchType, `{"data":{"theirs":"x"}}`)
	if !s.upgrade(config) {
		t.Fatal("nothing moved")
	}
	if s.upgrade(config) {
		t.Fatal("something moved again")
	}
	after := s.Must(s.TryApply("lynq", sites.With(config, nil, "data", "size"), false))
	data, _ := sites.Field(after, "data").(map[string]any)
	if data["size"] != nil || data["colour"] != "green" || data["theirs"] != "x" {
		t.Errorf("data is %v", data)
	}
}

// TestUpgradeIsForOneVersion checks that the patch doesn't touch an object that changed
// since.
func TestUpgradeIsForOneVersion(t *testing.T) {
	s := newSite(t)
	config := sites.Parse(t, sites.Settings)
	live := s.Create("lynq", config)
	s.Patch("somebody", config, types.MergePatchType, `{"data":{"theirs":"x"}}`)
	patch, err := UpgradePatch(live, false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Client(config).Patch(t.Context(), "settings", types.JSONPatchType, patch, sites.PatchOptions("lynq"))
	if !apierrors.IsConflict(err) {
		t.Error(err)
	}
}

// TestUpgradeLeavesOtherVersions checks that fields in another version aren't lost, and
// that lynq doesn't move fields of other managers.
func TestUpgradeLeavesOtherVersions(t *testing.T) {
	live := &unstructured.Unstructured{Object: sites.Parse(t, `
metadata:
  managedFields:
  - {manager: lynq, operation: Apply, apiVersion: v2, fieldsV1: {"f:a": {}}}
  - {manager: lynq, operation: Update, apiVersion: v1, fieldsV1: {"f:b": {}}}
  - {manager: lynq, operation: Update, apiVersion: v2, fieldsV1: {"f:c": {}}}
  - {manager: helm, operation: Update, apiVersion: v2, fieldsV1: {"f:d": {}}}
`)}
	patch, err := UpgradePatch(live, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"f:b":{}`, `{"f:a":{},"f:c":{}}`, `{"f:d":{}}`, `"manager":"helm"`} {
		t.Run(want, func(t *testing.T) {
			if text := string(patch); !strings.Contains(text, want) {
				t.Errorf("no %s in %s", want, text)
			}
		})
	}
}

func TestClientSide(t *testing.T) {
	tests := []struct {
		manager     string
		operation   metav1.ManagedFieldsOperationType
		subresource string
		want        bool
	}{
		{"kubectl-client-side-apply", "Update", "", true},
		{"kubectl-client-side-apply", "Update", "scale", false},
		{"before-first-apply", "Update", "", true},
		{"kubectl", "Update", "", true},
		{"kubectl", "Apply", "", false},
		{"kubectl-create", "Update", "", true},
		{"kubectl-replace", "Update", "", true},
		{"kubectl-edit", "Update", "", false},
		{"kubectl-patch", "Update", "", false},
		{"kubectl-rollout", "Update", "", false},
		{"helm", "Update", "", true},
		{"helm", "Apply", "", true},
		{"Helm", "Update", "", true},
		{"helm-controller", "Apply", "", false},
	}
	for _, tt := range tests {
		if got := clientSide(&metav1.ManagedFieldsEntry{Manager: tt.manager, Operation: tt.operation, Subresource: tt.subresource}); got != tt.want {
			t.Errorf("%s %s %s: %v", tt.manager, tt.operation, tt.subresource, got)
		}
		f := Conflict{Manager: tt.manager, Subresource: tt.subresource, Applied: tt.operation == metav1.ManagedFieldsOperationApply}
		if got := f.ClientSide(); got != tt.want {
			t.Errorf("%+v: %v", f, got)
		}
	}
}
