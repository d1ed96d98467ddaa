package applycmd

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// TestSettle wants an approval to work once.
func TestSettle(t *testing.T) {
	for name, tt := range map[string]struct {
		approved string
		held     *inventory.HeldDeletions
		want     string
	}{
		"carried out":         {"d1", nil, ""},
		"never given":         {"", &inventory.HeldDeletions{Digest: "d1"}, ""},
		"for the next round":  {"d1", &inventory.HeldDeletions{Digest: "d1"}, "d1"},
		"for other deletions": {"d0", &inventory.HeldDeletions{Digest: "d1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			record := inventory.Hub{Approved: tt.approved, Held: &inventory.HeldDeletions{Digest: "before"}}
			settle(&record, tt.held)
			if record.Approved != tt.want || record.Held != tt.held {
				t.Errorf("%s: %+v", name, record)
			}
		})
	}
}
