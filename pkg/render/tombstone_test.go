package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

const buried = hubYAML + `apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web, namespace: shop}
spec:
  hubId: crm
  tombstones:
  - {apiVersion: v1, kind: ConfigMap, nameTemplate: "{{ .a }}", matchLabels: {tenant: "{{ .uid }}", app: old}}
  - {apiVersion: apps/v1, kind: Deployment, nameTemplate: "{{ .uid }}", targetNamespace: "{{ .b }}", matchLabels: {app: old}}
  - {apiVersion: v1, kind: Namespace, nameTemplate: "{{ .uid }}", matchLabels: {app: old}}
  configMaps:
  - {id: all, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap}}
`

func TestTombstones(t *testing.T) {
	in := load(t, buried)
	p := compileAll(t, in, render.Options{})[0]
	n, problems := p.Node(record{"id": "x", "a": "old-x", "b": "far"}.row(in.Hubs[0], 2))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []lynq.Tombstone{
		{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "old-x"}, APIVersion: "v1", Labels: map[string]string{"tenant": "x", "app": "old"}},
		{Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "far", Name: "x"}, APIVersion: "apps/v1", Labels: map[string]string{"app": "old"}},
		{Ref: lynq.Ref{Kind: "Namespace", Name: "x"}, APIVersion: "v1", Labels: map[string]string{"app": "old"}},
	}
	if diff := cmp.Diff(want, n.Tombstones, cmpopts.IgnoreFields(lynq.Tombstone{}, "Pos")); diff != "" {
		t.Error(diff)
	}
	if len(n.Objects) != 1 {
		t.Errorf("tombstones became objects: %v", n.Objects)
	}
	if out := stream(t, buried, record{"id": "x", "a": "old-x", "b": "far"}); strings.Contains(out, "old") {
		t.Errorf("tombstones are in the manifests:\n%s", out)
	}
}

// TestTombstonesOfHostileRows checks that a name never selects several objects, and that
// no label is ever dropped.
func TestTombstonesOfHostileRows(t *testing.T) {
	in := load(t, buried)
	p := compileAll(t, in, render.Options{})[0]
	for name, row := range map[string]record{
		"an empty name":      {"id": "x", "a": "", "b": "far"},
		"a blank name":       {"id": "x", "a": "  ", "b": "far"},
		"a glob":             {"id": "x", "a": "*", "b": "far"},
		"a path":             {"id": "x", "a": "../other", "b": "far"},
		"a record's name":    {"id": "x", "a": "lynqnode-x-web", "b": "far"},
		"an empty namespace": {"id": "x", "a": "old-x", "b": ""},
		"a bad namespace":    {"id": "x", "a": "old-x", "b": "a/b"},
		"a bad label":        {"id": "x!", "a": "old-x", "b": "far"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, problems := p.Node(row.row(in.Hubs[0], 2)); len(problems) == 0 {
				t.Errorf("the row rendered")
			}
		})
	}
}
