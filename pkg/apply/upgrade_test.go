package apply

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// upgrade sends the patch that moves managed fields, if there is any; again,
// where a controller wrote meanwhile.
func (s *site) upgrade(m map[string]any) bool {
	s.t.Helper()
	return s.sendPatch(m, func() ([]byte, error) { return upgradePatch(s.get(m)) })
}

// sendPatch sends a JSON patch, if there is any; again, where a controller wrote
// meanwhile.
func (s *site) sendPatch(m map[string]any, make func() ([]byte, error)) bool {
	s.t.Helper()
	for {
		patch, err := make()
		if err != nil {
			s.t.Fatal(err)
		}
		if patch == nil {
			return false
		}
		_, err = s.client(m).Patch(s.t.Context(), nameIn(m), types.JSONPatchType, patch, patchOptions("lynq"))
		switch problemOf(err).kind {
		case problemNone:
			return true
		case problemMoved:
		default:
			s.t.Fatal(err)
		}
	}
}

// TestUpgrade: what lynq wrote by updates becomes what it applies.
func TestUpgrade(t *testing.T) {
	s := newSite(t)
	config := parse(t, settings)
	s.create("lynq", config)
	s.patch("somebody", config, types.MergePatchType, `{"data":{"theirs":"x"}}`)
	if !s.upgrade(config) {
		t.Fatal("nothing moved")
	}
	if s.upgrade(config) {
		t.Fatal("something moved again")
	}
	after := s.must(s.tryApply("lynq", with(config, nil, "data", "size"), false))
	data, _ := field(after, "data").(map[string]any)
	if data["size"] != nil || data["colour"] != "green" || data["theirs"] != "x" {
		t.Errorf("data is %v", data)
	}
}

// TestUpgradeIsForOneVersion: an object that changed since is not touched.
func TestUpgradeIsForOneVersion(t *testing.T) {
	s := newSite(t)
	config := parse(t, settings)
	live := s.create("lynq", config)
	s.patch("somebody", config, types.MergePatchType, `{"data":{"theirs":"x"}}`)
	patch, err := upgradePatch(live)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.client(config).Patch(t.Context(), "settings", types.JSONPatchType, patch, patchOptions("lynq"))
	if p := problemOf(err); p.kind != problemMoved {
		t.Errorf("%+v: %v", p, err)
	}
}

// TestUpgradeLeavesOtherVersions: fields that are recorded for another version
// are not lost, and those of other managers are not lynq's to move.
func TestUpgradeLeavesOtherVersions(t *testing.T) {
	live := &unstructured.Unstructured{Object: parse(t, `
metadata:
  managedFields:
  - {manager: lynq, operation: Apply, apiVersion: v2, fieldsV1: {"f:a": {}}}
  - {manager: lynq, operation: Update, apiVersion: v1, fieldsV1: {"f:b": {}}}
  - {manager: lynq, operation: Update, apiVersion: v2, fieldsV1: {"f:c": {}}}
  - {manager: helm, operation: Update, apiVersion: v2, fieldsV1: {"f:d": {}}}
`)}
	patch, err := upgradePatch(live)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"f:b":{}`, `{"f:a":{},"f:c":{}}`, `{"f:d":{}}`, `"manager":"helm"`} {
		if text := string(patch); !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
