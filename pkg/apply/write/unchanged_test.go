package write

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
)

// TestUnchanged checks that the version shows whether a write changed its object, except if
// nothing was sent or kept.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	seen := &tracking.Live{UID: "1", ResourceVersion: "7"}
	as := func(uid, version string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: version}}
	}
	for name, tt := range map[string]struct {
		live   *tracking.Live
		dryRun bool
		done   Result
		want   bool
	}{
		"the same version":                {seen, false, Result{Meta: as("1", "7"), Sent: true}, true},
		"another version":                 {seen, false, Result{Meta: as("1", "8"), Sent: true}, false},
		"another object":                  {seen, false, Result{Meta: as("2", "7"), Sent: true}, false},
		"created":                         {nil, false, Result{Meta: as("1", "7"), Sent: true}, false},
		"nothing sent":                    {seen, false, Result{Meta: as("1", "7")}, true},
		"nothing sent by a dry run":       {seen, true, Result{Meta: as("1", "7")}, true},
		"a dry run, which has no version": {seen, true, Result{Meta: as("1", "7"), Sent: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := &Object{Step: &plan.Step{Live: tt.live}, DryRun: tt.dryRun}
			if got := o.unchanged(tt.done); got != tt.want {
				t.Errorf("%s: unchanged is %t", name, got)
			}
		})
	}
}
