package delete

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestWatchedRefusal wants words that hold for each hub of a watch. A watch also keeps the
// last good version of a hub whose file somebody removed while its form stays.
func TestWatchedRefusal(t *testing.T) {
	hub := lynq.HubKey{Namespace: "shop", Name: "crm"}
	want := plan.Refusal{
		Guard: plan.GuardWatched, Hub: hub,
		What: "lynqctl watch, eve@desk pid 7, keeps the hub, and would create everything again",
		Fix:  "stop that watch, or remove the hub and its forms from its files; if it died, its Lease shop/lynqctl-crm is free soon",
	}
	if diff := cmp.Diff(want, watchedRefusal(hub, "eve@desk pid 7", "is free soon")); diff != "" {
		t.Error(diff)
	}
}
