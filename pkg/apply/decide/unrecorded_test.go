package decide

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// wroteAt returns an entry of managedFields from the given second.
func wroteAt(manager string, op metav1.ManagedFieldsOperationType, subresource string, second int64) metav1.ManagedFieldsEntry {
	at := metav1.NewTime(time.Unix(second, 0))
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: op, Subresource: subresource, Time: &at,
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`),
	}
}

// TestUnrecorded checks that lynqctl finds the write of a run that was killed before it
// recorded the write. It does so even if only values changed, and the desired values are
// those of the entry.
func TestUnrecorded(t *testing.T) {
	ours := func(second int64) metav1.ManagedFieldsEntry {
		return wroteAt(wellknown.FieldManager, metav1.ManagedFieldsOperationApply, "", second)
	}
	status := func(second int64) metav1.ManagedFieldsEntry {
		return wroteAt("controller", metav1.ManagedFieldsOperationUpdate, "status", second)
	}
	other := func(second int64) metav1.ManagedFieldsEntry {
		return wroteAt("kubectl-edit", metav1.ManagedFieldsOperationUpdate, "", second)
	}
	type entries = []metav1.ManagedFieldsEntry
	recorded := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		UID: "u", ResourceVersion: "7", Generation: 1, ManagedFields: entries{ours(100)},
	}}
	for name, tt := range map[string]struct {
		version    string
		generation int64
		managers   entries
		want       bool
	}{
		"nothing":                         {"7", 1, entries{ours(100)}, false},
		"written later":                   {"8", 1, entries{ours(101)}, true},
		"written in the same second":      {"8", 1, entries{ours(100)}, true},
		"so, and status before":           {"8", 1, entries{status(99), ours(100)}, true},
		"status after":                    {"8", 1, entries{ours(100), status(101)}, false},
		"status in the same second":       {"8", 1, entries{ours(100), status(100)}, false},
		"spec and status in one second":   {"8", 2, entries{ours(100), status(100)}, true},
		"spec, and status later":          {"9", 2, entries{ours(100), status(105)}, true},
		"others' spec later":              {"9", 2, entries{ours(100), other(105)}, false},
		"others' spec in the same second": {"9", 2, entries{ours(100), other(100)}, false},
		"no times":                        {"9", 2, entries{ours(100), {Manager: "old"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := tracking.LiveOf(lynq.Ref{}, &recorded)
			r := &inventory.Entry{UID: "u", ResourceVersion: "7", Generation: 1, Fields: before.Fields}
			now := recorded.DeepCopy()
			now.ResourceVersion, now.Generation, now.ManagedFields = tt.version, tt.generation, tt.managers
			l := tracking.LiveOf(lynq.Ref{}, now)
			o := &plan.Object{Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Patch: lynq.PatchApply}}}
			if got := plan.MayHaveDrifted(o, r, &l); got != tt.want {
				t.Errorf("%s: drifted is %t, want %t", name, got, tt.want)
			}
		})
	}
}
