package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// hubLines returns the lines about a hub below a list of nodes.
func hubLines(h *status.Hub, now time.Time) []string {
	return (&ui.NodeView{}).List(&ui.Nodes{Hubs: []status.Hub{*h}}, now).Footer
}

// TestHubLines wants the sums of each form, and of all forms if there are several.
func TestHubLines(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	web := status.Counts{Nodes: 3, Healthy: 1, Well: 1, Desired: 18, Ready: 13, Failed: 1, Skipped: 3, Conflicted: 1}
	jobs := status.Counts{Nodes: 1, Healthy: 1, Well: 1, Desired: 1, Ready: 1}
	h := &status.Hub{
		Name: "crm", Namespace: "shop", Counts: status.Counts{Nodes: 4, Healthy: 2, Well: 2, Desired: 19, Ready: 14, Failed: 1, Skipped: 3, Conflicted: 1},
		Forms: []status.Form{{Name: "jobs", Counts: jobs}, {Name: "web", Counts: web}},
		Run:   &status.Run{Time: now.Add(-12 * time.Minute), Rows: 4, Active: 3, Nodes: 6}, Unrecorded: 2, Deleting: true,
	}
	want := []string{
		"hub shop/crm: 3 of 4 rows active, 6 nodes (last run 12m ago), 2 not recorded; its record is being deleted",
		"  form jobs: 1/1 node Ready, 1/1 object ready",
		"  form web: 1/3 nodes Ready, 13/18 objects ready, 1 failed, 3 skipped, 1 conflicted",
		"  all forms: 2/4 nodes Ready, 14/19 objects ready, 1 failed, 3 skipped, 1 conflicted",
	}
	if diff := cmp.Diff(want, hubLines(h, now)); diff != "" {
		t.Error(diff)
	}
	interrupted := *h
	interrupted.Run = &status.Run{Time: now.Add(-12 * time.Minute), Rows: 4, Active: 3, Nodes: 6, Interrupted: now.Add(-10 * time.Minute)}
	if got := hubLines(&interrupted, now)[0]; !strings.HasPrefix(got, "hub shop/crm: 3 of 4 rows active, 6 nodes; last run interrupted 2026-07-01T11:50:00Z (10m ago)") {
		t.Error(got)
	}
	two := *h
	two.Forms = []status.Form{{Name: "web", Namespace: "far", Counts: jobs}, {Name: "web", Namespace: "shop", Counts: web}}
	if lines := hubLines(&two, now); !strings.HasPrefix(lines[1], "  form far/web: 1/1 ") || !strings.HasPrefix(lines[2], "  form shop/web: 1/3 ") {
		t.Errorf("forms of one name: %q", lines)
	}
	forged := *h
	forged.Forms = []status.Form{{Counts: jobs}, {Name: "web", Counts: web}}
	if lines := hubLines(&forged, now); !strings.HasPrefix(lines[1], "  form <none>: 1/1 ") {
		t.Errorf("a form without a name: %q", lines)
	}
	some := *h
	some.Partial, some.Unrecorded, some.Deleting = true, 0, false
	some.Forms = slices.Clone(some.Forms)
	some.Forms[0].Partial, some.Forms[1].Partial = true, true
	if lines := hubLines(&some, now); !strings.HasPrefix(lines[2], "  form web, chosen nodes only: 1/3 ") || !strings.HasPrefix(lines[3], "  all forms, chosen nodes only: 2/4 ") {
		t.Errorf("sums of some nodes: %q", lines)
	}
	h.Forms = h.Forms[1:]
	if diff := cmp.Diff([]string{want[0], want[2]}, hubLines(h, now)); diff != "" {
		t.Error(diff)
	}
}
