package apply

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// upgrade sends the patch that moves managed fields, if there is any; again,
// where a controller wrote meanwhile.
func (s *site) upgrade(m map[string]any, adopt bool) bool {
	s.t.Helper()
	for {
		patch, err := upgradePatch(s.get(m), adopt)
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

// TestUpgrade: what another tool made is adopted, and a field that the form does
// not have goes away.
func TestUpgrade(t *testing.T) {
	s := newSite(t)
	web := parse(t, webDeployment)
	named := func(name string) map[string]any {
		return with(with(with(web, name, "metadata", "name"), "gone", "metadata", "labels", "extra"), map[string]any{"a": "b"}, "spec", "template", "spec", "nodeSelector")
	}
	made := map[string]func(m map[string]any){
		"kubectl-apply": func(m map[string]any) { s.Kubectl(t, string(encode1(t, m)), "apply", "-f", "-") },
		"kubectl-apply-twice": func(m map[string]any) {
			s.Kubectl(t, string(encode1(t, with(m, nil, "spec", "template", "spec", "nodeSelector"))), "apply", "-f", "-")
			s.Kubectl(t, string(encode1(t, m)), "apply", "-f", "-")
		},
		"kubectl-create": func(m map[string]any) { s.Kubectl(t, string(encode1(t, m)), "create", "-f", "-") },
		"helm-update":    func(m map[string]any) { s.create("helm", m) },
		"helm-apply":     func(m map[string]any) { s.apply("helm", m) },
		"helm-both": func(m map[string]any) {
			s.create("helm", with(m, nil, "metadata", "labels", "extra"))
			s.must(s.tryApply("helm", m, true))
		},
		"unnamed-and-applied-since": func(m map[string]any) {
			s.create("before-first-apply", m)
			s.must(s.tryApply("lynq", onlyIdentity(m), false))
		},
	}
	for name, make := range made {
		m := named(name)
		make(m)
		if l := liveOf(lynq.Ref{}, metaOf(t, s.get(m))); !l.ClientSide {
			t.Errorf("%s: not known for an object of a client-side tool", name)
		}
		if s.upgrade(m, false) {
			t.Errorf("%s: something moved without an adoption", name)
		}
		if !s.upgrade(m, true) {
			t.Errorf("%s: nothing moved", name)
		}
		if s.upgrade(m, true) {
			t.Errorf("%s: something moved again", name)
		}
		wanted := with(web, name, "metadata", "name")
		after := s.must(s.tryApply("lynq", wanted, false))
		l := liveOf(lynq.Ref{}, metaOf(t, after))
		if l.ClientSide || l.Updated || l.Fields == "" {
			t.Errorf("%s: %+v", name, l)
		}
		if got := after.GetLabels()["extra"]; got != "" {
			t.Errorf("%s: the label stays", name)
		}
		if got := after.GetAnnotations()[lastApplied]; got != "" {
			t.Errorf("%s: kubectl's annotation stays", name)
		}
		if got := field(after, "spec", "template", "spec", "nodeSelector"); got != nil {
			t.Errorf("%s: the field stays: %v", name, got)
		}
		if got := field(after, "spec", "replicas"); got != int64(2) {
			t.Errorf("%s: replicas %v", name, got)
		}
	}
}

// TestUpgradeOwnUpdates: what lynq wrote by updates becomes what it applies.
func TestUpgradeOwnUpdates(t *testing.T) {
	s := newSite(t)
	config := parse(t, settings)
	s.create("lynq", config)
	s.patch("somebody", config, types.MergePatchType, `{"data":{"theirs":"x"}}`)
	if !s.upgrade(config, false) {
		t.Fatal("nothing moved")
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
	live := s.create("helm", config)
	s.patch("somebody", config, types.MergePatchType, `{"data":{"theirs":"x"}}`)
	patch, err := upgradePatch(live, true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.client(config).Patch(t.Context(), "settings", types.JSONPatchType, patch, patchOptions("lynq"))
	if p := problemOf(err); p.kind != problemMoved {
		t.Errorf("%+v: %v", p, err)
	}
}

// TestUpgradeLeavesOtherVersions: fields that are recorded for another version
// are not lost.
func TestUpgradeLeavesOtherVersions(t *testing.T) {
	live := &unstructured.Unstructured{Object: parse(t, `
metadata:
  managedFields:
  - {manager: lynq, operation: Apply, apiVersion: v2, fieldsV1: {"f:a": {}}}
  - {manager: helm, operation: Update, apiVersion: v1, fieldsV1: {"f:b": {}}}
  - {manager: helm, operation: Update, apiVersion: v2, fieldsV1: {"f:c": {}}}
`)}
	patch, err := upgradePatch(live, true)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(patch); !strings.Contains(text, `"f:b":{}`) || !strings.Contains(text, `"manager":"helm"`) || !strings.Contains(text, `{"f:a":{},"f:c":{}}`) {
		t.Error(text)
	}
}
