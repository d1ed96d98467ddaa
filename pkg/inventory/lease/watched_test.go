package lease

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

func TestWatched(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		renewed   time.Duration // time before now
		seconds   int32
		byHand    bool
		holder    string
		wantUntil time.Duration
	}{
		"renewed":                         {renewed: 5 * time.Second, seconds: 30, holder: "w", wantUntil: 25 * time.Second},
		"dead for longer than its Lease":  {renewed: 30 * time.Second, seconds: 30, holder: "w"},
		"a short duration counts as ours": {renewed: 20 * time.Second, seconds: 1, holder: "w", wantUntil: 10 * time.Second},
		"a run by hand":                   {renewed: 5 * time.Second, seconds: 30, holder: "w", byHand: true},
		"released":                        {renewed: 5 * time.Second, seconds: 30},
		"renewed in a far future":         {renewed: -time.Hour, seconds: 30, holder: "w"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &coordinationv1.Lease{}
			if !tt.byHand {
				l.Annotations = map[string]string{wellknown.AnnotationHolder: wellknown.HolderContinuous}
			}
			l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &tt.holder, &tt.seconds
			l.Spec.RenewTime = &metav1.MicroTime{Time: now.Add(-tt.renewed)}
			holder, until := Watched(l, now)
			if tt.wantUntil == 0 {
				if holder != "" {
					t.Errorf("Watched = %q until %s, want nobody", holder, until)
				}
				return
			}
			if holder != tt.holder || until.Sub(now) != tt.wantUntil {
				t.Errorf("Watched = %q for %s, want %q for %s", holder, until.Sub(now), tt.holder, tt.wantUntil)
			}
		})
	}
	if holder, _ := Watched(nil, now); holder != "" {
		t.Errorf("Watched(nil) = %q", holder)
	}
}
