package gitops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/resource"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	ssautils "github.com/fluxcd/pkg/ssa/utils"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lossForm has a resource of a kind with a policy.
const lossForm = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: losses}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: losses
  manifests: [{id: a, nameTemplate: NAME, POLICY, spec: {apiVersion: VERSION, kind: KIND, CONTENT}}]
`

// column is a target, and the objects that point it at the tree.
type column struct{ target, apps string }

func columns() []column {
	return []column{
		{"argo", ""}, {"argo", "applications"}, {"argo", "applicationset"},
		{"flux", ""}, {"flux", "kustomizations"}, {"flux", "ordered-kustomizations"},
	}
}

// lossesOf renders the form for a column, and returns its object and the losses.
func lossesOf(t *testing.T, c column, replace ...string) (*repository, *unstructured.Unstructured, map[string]string) {
	t.Helper()
	r := newRepository(t, "default")
	r.write(t, "forms.yaml", strings.NewReplacer(replace...).Replace(lossForm))
	r.rows(t, "acme,1,,")
	flags := []string{"--output-dir", r.tree(), "-o", "json", "--target=" + c.target}
	if c.apps != "" {
		flags = append(flags, "--emit-apps="+c.apps, "--repo-url=https://git.example/x")
	}
	var report struct {
		Losses []struct{ Policy, Instead string }
	}
	if err := json.Unmarshal([]byte(r.render(t, flags...)), &report); err != nil {
		t.Fatal(err)
	}
	losses := map[string]string{}
	for _, l := range report.Losses {
		losses[l.Policy] += l.Instead
	}
	all := built(t, r, false)
	for _, o := range all {
		content, _ := o.(map[string]any)
		return r, &unstructured.Unstructured{Object: content}, losses
	}
	t.Fatal("the tree has no object")
	return nil, nil, nil
}

// keptBy reports whether a target keeps an object that the form drops, and an object of a
// deleted node. The target's own libraries decide. When an Application is deleted, Argo
// CD's controller decides (canProcessApp, shouldBeDeleted), and keeps definitions.
func keptBy(c column, o *unstructured.Unstructured) (dropped, gone bool) {
	if c.target == "flux" {
		kept := ssautils.AnyInMetadata(o, map[string]string{fluxGroup + "/prune": "disabled", fluxGroup + "/reconcile": "disabled", fluxGroup + "/ssa": "Ignore"})
		return kept, kept
	}
	prune := resource.GetAnnotationOptionValue(o, common.AnnotationSyncOptions, common.SyncOptionPrune)
	dropped = prune != nil && *prune == "false"
	if c.apps == "" {
		return dropped, dropped // a person's Application has all nodes
	}
	return dropped, kube.IsCRD(o) || resource.HasAnnotationOption(o, common.AnnotationSyncOptions, "Delete=false")
}

// TestDeletionLosses wants reports about deletionPolicy to match the target's behaviour,
// for each policy, kind and column of the table.
func TestDeletionLosses(t *testing.T) {
	t.Parallel()
	policies := map[string]struct{ dropped, gone bool }{ // what apply keeps
		"Delete": {false, false}, "Retain": {true, true}, "RetainOnApply": {true, false}, "RetainOnDelete": {false, true},
	}
	kinds := [][]string{
		{"NAME", `"{{ .uid }}"`, "VERSION", "v1", "KIND", "ConfigMap", "CONTENT", "data: {a: b}"},
		{"NAME", `"{{ .uid }}"`, "VERSION", "v1", "KIND", "Namespace", "CONTENT", "metadata: {}"},
		{"NAME", "things.example.com", "VERSION", "apiextensions.k8s.io/v1", "KIND", "CustomResourceDefinition", "CONTENT", "spec: {group: example.com, names: {kind: Thing}}"},
	}
	lost := map[string]bool{}
	for policy, apply := range policies {
		for _, kind := range kinds {
			for _, c := range columns() {
				_, o, losses := lossesOf(t, c, append(kind, "POLICY", "deletionPolicy: "+policy)...)
				dropped, gone := keptBy(c, o)
				name := fmt.Sprintf("%s of %s, %v", policy, o.GetKind(), c)
				if apply.dropped && !dropped || apply.gone && !gone {
					t.Errorf("%s: the target deletes what the policy keeps", name)
				}
				told := losses["deletionPolicy: "+policy]
				stays := !apply.dropped && dropped || !apply.gone && gone
				if stays != strings.Contains(told, "it stays") {
					t.Errorf("%s: kept when dropped: %v, kept when its node goes: %v, and told: %q", name, dropped, gone, told)
				}
				lost[policy+" "+c.target] = lost[policy+" "+c.target] || told != ""
			}
		}
	}
	checkCells(t, lost)
}

// checkCells wants the page to show a loss exactly in the cells for which reports named
// one.
func checkCells(t *testing.T, lost map[string]bool) {
	t.Helper()
	page, err := os.ReadFile("../../docs/gitops-policies.md")
	if err != nil {
		t.Fatal(err)
	}
	for cell, want := range lost {
		policy, target, _ := strings.Cut(cell, " ")
		lines := strings.Split(string(page), "\n")
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "| `deletionPolicy: "+policy+"`") })
		if i < 0 {
			t.Errorf("the page has no line of deletionPolicy: %s", policy)
			continue
		}
		text := strings.Split(lines[i], " | ")[map[string]int{"argo": 1, "flux": 2}[target]]
		if got := bytes.Contains(bytes.ToLower([]byte(text)), []byte("lost")) || strings.Contains(text, "likewise"); got != want {
			t.Errorf("%s under %s: lost: %v, and the page says %q", policy, target, want, text)
		}
	}
}

// TestOnceLosses wants the report to match what Argo CD writes to an object that is created
// once, although its rules ignore the rest.
func TestOnceLosses(t *testing.T) {
	t.Parallel()
	for _, c := range columns()[:3] {
		r, o, losses := lossesOf(t, c, "NAME", `"{{ .uid }}"`, "POLICY", "creationPolicy: Once", "VERSION", "v1", "KIND", "ConfigMap", "CONTENT", "data: {a: b}")
		var rules []any
		switch c.apps {
		case "applications":
			rules, _, _ = unstructured.NestedSlice(r.apps(t, "Application")["acme-web"].Object, "spec", "ignoreDifferences")
		case "applicationset":
			rules, _, _ = unstructured.NestedSlice(r.apps(t, "ApplicationSet")["lynqctl"].Object, "spec", "template", "spec", "ignoreDifferences")
		}
		differs := func(value any, fields ...string) bool {
			live := o.DeepCopy()
			if err := unstructured.SetNestedField(live.Object, value, fields...); err != nil {
				t.Fatal(err)
			}
			return !cmp.Equal(ignore(t, rules, live), ignore(t, rules, o))
		}
		told := losses["creationPolicy: Once"]
		if got := differs("theirs", "data", "a"); got != strings.Contains(told, "its content is written") {
			t.Errorf("%v: the content is written: %v, and told: %q", c, got, told)
		}
		if got := differs("theirs", "metadata", "labels", "x"); got != (told != "") {
			t.Errorf("%v: a label is written: %v, and told: %q", c, got, told)
		}
	}
}
