package fields_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
)

func TestReversioned(t *testing.T) {
	entry := func(manager, version string, op metav1.ManagedFieldsOperationType, raw string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, APIVersion: version, Operation: op, FieldsV1: metav1.NewFieldsV1(raw)}
	}
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	for name, tt := range map[string]struct {
		entries, want []metav1.ManagedFieldsEntry
		changed       bool
	}{
		"served": {
			entries: []metav1.ManagedFieldsEntry{entry("lynq", "x/v1", apply, `{"f:spec":{"f:a":{}}}`)},
			want:    []metav1.ManagedFieldsEntry{entry("lynq", "x/v1", apply, `{"f:spec":{"f:a":{}}}`)},
		},
		"ours and another's": {
			entries: []metav1.ManagedFieldsEntry{entry("lynq", "x/v1alpha1", apply, `{"f:spec":{"f:a":{}}}`), entry("other", "x/v1alpha1", update, `{"f:spec":{"f:b":{}}}`)},
			want:    []metav1.ManagedFieldsEntry{entry("lynq", "x/v1", apply, `{"f:spec":{"f:a":{}}}`), entry("other", "x/v1", update, `{"f:spec":{"f:b":{}}}`)},
			changed: true,
		},
		"both versions": {
			entries: []metav1.ManagedFieldsEntry{entry("lynq", "x/v1alpha1", apply, `{"f:spec":{"f:a":{}}}`), entry("lynq", "x/v1", apply, `{"f:spec":{"f:b":{}}}`)},
			want:    []metav1.ManagedFieldsEntry{entry("lynq", "x/v1", apply, `{"f:spec":{"f:a":{},"f:b":{}}}`)},
			changed: true,
		},
		"another unserved version": {
			entries: []metav1.ManagedFieldsEntry{entry("lynq", "x/v1beta1", apply, `{"f:spec":{"f:a":{}}}`)},
			want:    []metav1.ManagedFieldsEntry{entry("lynq", "x/v1beta1", apply, `{"f:spec":{"f:a":{}}}`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed, err := fields.Reversioned(tt.entries, "x/v1alpha1", "x/v1")
			if diff := cmp.Diff(tt.want, got); diff != "" || changed != tt.changed || err != nil {
				t.Errorf("changed is %v, error %v (-want +got):\n%s", changed, err, diff)
			}
		})
	}
	broken := []metav1.ManagedFieldsEntry{entry("lynq", "x/v1", apply, `{`), entry("lynq", "x/v1alpha1", apply, `{}`)}
	if _, _, err := fields.Reversioned(broken, "x/v1alpha1", "x/v1"); err == nil {
		t.Error("broken fields are no error")
	}
}
