package form_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// twofoldInputs have a resource with fields and metadata from the test.
const twofoldInputs = `
apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: shop}
spec: {source: {type: csv, csv: {path: rows.csv}}, valueMappings: {uid: id, activate: active}}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: shop
  configMaps:
    - {id: a, nameTemplate: a, %s spec: {apiVersion: v1, kind: ConfigMap, metadata: {labels: {app: a}%s}}}
`

func loadTwofold(t *testing.T, fields, metadata string) *form.Resource {
	t.Helper()
	in, err := form.Load([]string{"-"}, false, strings.NewReader(fmt.Sprintf(twofoldInputs, fields, metadata)))
	if err != nil {
		t.Fatalf("%s %s: %v", fields, metadata, err)
	}
	return in.Forms[0].Resources[0]
}

// TestDeletionPolicy reads each policy from the field and the annotation, in any case, and
// the annotation's word for Retain.
func TestDeletionPolicy(t *testing.T) {
	for word, want := range map[string]lynq.DeletionPolicy{
		"Delete": lynq.DeleteDelete, "delete": lynq.DeleteDelete, "Retain": lynq.DeleteRetain, "retain": lynq.DeleteRetain,
		"RetainOnApply": lynq.DeleteRetainOnApply, "retain-on-apply": lynq.DeleteRetainOnApply,
		"retainOnDelete": lynq.DeleteRetainOnDelete, "retain-on-delete": lynq.DeleteRetainOnDelete,
	} {
		t.Run(word, func(t *testing.T) {
			annotation := ", annotations: {lynq.sh/delete-policy: " + word + "}"
			for _, r := range []*form.Resource{loadTwofold(t, "deletionPolicy: "+word+",", ""), loadTwofold(t, "", annotation), loadTwofold(t, "deletionPolicy: "+word+",", annotation)} {
				if r.Policy.Deletion != want {
					t.Errorf("%s is %q, want %q", word, r.Policy.Deletion, want)
				}
			}
		})
	}
	if r := loadTwofold(t, "", ", annotations: {lynq.sh/delete-policy: orphan}"); r.Policy.Deletion != lynq.DeleteRetain {
		t.Errorf("orphan is %q", r.Policy.Deletion)
	}
	if r := loadTwofold(t, "", ""); r.Policy.Deletion != lynq.DeleteDelete {
		t.Errorf("nothing is %q", r.Policy.Deletion)
	}
}

// TestPatchStrategy reads each strategy from the field and the annotation, in any case,
// and the annotation's own words.
func TestPatchStrategy(t *testing.T) {
	annotated := func(word string) string { return ", annotations: {lynq.sh/update-policy: " + word + "}" }
	for _, want := range lynq.PatchStrategies() {
		for _, word := range []string{string(want), strings.ToUpper(string(want[:1])) + string(want[1:])} {
			field := "patchStrategy: " + word + ","
			for _, r := range []*form.Resource{loadTwofold(t, field, ""), loadTwofold(t, "", annotated(word)), loadTwofold(t, field, annotated(string(want)))} {
				if r.Policy.Patch != want {
					t.Errorf("%s is %q, want %q", word, r.Policy.Patch, want)
				}
			}
		}
	}
	for word, want := range map[string]lynq.PatchStrategy{
		"ssa-merge": lynq.PatchApply, "ssaMerge": lynq.PatchApply, "SsaMerge": lynq.PatchApply,
		"ssa-override": lynq.PatchOverride, "ssaOverride": lynq.PatchOverride, "SsaOverride": lynq.PatchOverride,
	} {
		t.Run(word, func(t *testing.T) {
			if r := loadTwofold(t, "", annotated(word)); r.Policy.Patch != want {
				t.Errorf("%s is %q, want %q", word, r.Policy.Patch, want)
			}
		})
	}
	if r := loadTwofold(t, "", ""); r.Policy.Patch != lynq.PatchApply {
		t.Errorf("nothing is %q", r.Policy.Patch)
	}
}

// TestAdoptionPolicy checks that field and annotation work in any case, and that the
// default follows conflictPolicy. The manifest doesn't change.
func TestAdoptionPolicy(t *testing.T) {
	load := func(fields, metadata string) *form.Resource { return loadTwofold(t, fields, metadata) }
	annotated := func(word string) string { return ", annotations: {lynq.sh/adoption-policy: " + word + "}" }
	for want, spellings := range map[lynq.AdoptionPolicy][]string{
		lynq.AdoptNever:     {"Never", "never"},
		lynq.AdoptIfUnowned: {"IfUnowned", "ifUnowned", "if-unowned"},
		lynq.AdoptAlways:    {"Always", "always"},
	} {
		t.Run(string(want), func(t *testing.T) {
			for _, word := range spellings {
				field := "adoptionPolicy: " + word + ","
				for _, r := range []*form.Resource{load(field, ""), load("", annotated(word)), load(field, annotated(string(want)))} {
					if r.Policy.Adoption != want || r.Policy.Adopts() != want {
						t.Errorf("%s is %q, want %q", word, r.Policy.Adoption, want)
					}
				}
				if got := load("", annotated(word)).Manifest.Field("metadata").Field("annotations").Field(wellknown.AnnotationAdoptionPolicy).Str; got != word {
					t.Errorf("the manifest has %q, want %q", got, word)
				}
			}
		})
	}
	for fields, want := range map[string]lynq.AdoptionPolicy{
		"":                       lynq.AdoptIfUnowned,
		"conflictPolicy: Stuck,": lynq.AdoptIfUnowned,
		"conflictPolicy: Force,": lynq.AdoptAlways,
		"conflictPolicy: Force, adoptionPolicy: never,":  lynq.AdoptNever,
		"conflictPolicy: Stuck, adoptionPolicy: Always,": lynq.AdoptAlways,
	} {
		t.Run(fields, func(t *testing.T) {
			if r := load(fields, ""); r.Policy.Adopts() != want {
				t.Errorf("%q adopts %s, want %s", fields, r.Policy.Adopts(), want)
			}
		})
	}
	if r := load("", ""); r.Policy.Adoption != "" {
		t.Errorf("a form that says nothing says %q", r.Policy.Adoption)
	}
}
