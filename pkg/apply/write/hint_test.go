package write

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestSizeHint checks that only a claim that would shrink gets the advice on its size.
func TestSizeHint(t *testing.T) {
	t.Parallel()
	claim, other := lynq.Ref{Kind: "PersistentVolumeClaim"}, lynq.Ref{Group: "example.com", Kind: "PersistentVolumeClaim"}
	size := func(want, live string) []fields.Difference {
		return []fields.Difference{{Path: storagePath, Want: want, Live: live}}
	}
	const path = "spec.resources.requests.storage"
	for name, tt := range map[string]struct {
		ref    lynq.Ref
		path   string
		differ []fields.Difference
		hint   bool
	}{
		"expanded":          {claim, path, size("1Gi", "3Gi"), true},
		"the whole spec":    {claim, "spec", size("1Gi", "3072Mi"), true},
		"not bound yet":     {claim, "spec", size("3Gi", "1Gi"), false},
		"the same":          {claim, "spec", size("1024Mi", "1Gi"), false},
		"another field":     {claim, "spec.volumeName", size("1Gi", "3Gi"), false},
		"no quantity":       {claim, path, size("1Gi", "much"), false},
		"no difference":     {claim, path, nil, false},
		"a custom resource": {other, path, size("1Gi", "3Gi"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := sizeHint(tt.ref, []string{tt.path}, tt.differ); (got != "") != tt.hint {
				t.Errorf("%s: %q", name, got)
			}
		})
	}
}

// TestDriftHint checks that the advice about drift names fields and managers.
func TestDriftHint(t *testing.T) {
	t.Parallel()
	changed := []fields.Difference{{Path: ".spec.a", Managers: []string{"b", "c"}}, {Path: ".spec.d", Managers: []string{"b"}}}
	if got, want := driftHint(nil, changed), `another client ("b", "c") set .spec.a, .spec.d, and the server can't change that back: set the same value in the form, or add the field to ignoreFields`; got != want {
		t.Error(got)
	}
	if got, want := driftHint([]string{"spec"}, nil), `another client set spec, and the server can't change that back: set the same value in the form, or add the field to ignoreFields`; got != want {
		t.Error(got)
	}
}

// TestConcerns compares the server's paths with paths of fields.
func TestConcerns(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		".spec.template.spec.a": true, ".spec.template": true, ".spec.template.spec.containers[name=\"a\"].image": true, ".spec.templates": false, ".metadata.labels": false,
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()

			if got := concerns([]string{"spec.template.spec"}, field); got != want {
				t.Errorf("%s: %t", field, got)
			}
		})
	}
}
