package inventory_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

func TestStatusAt(t *testing.T) {
	before := inventory.Status{Conditions: []inventory.Condition{
		{Type: "Degraded", Status: "False", Reason: "AsDesired", LastTransitionTime: noon},
		{Type: "Ready", Status: "True", Reason: "AllReady", LastTransitionTime: noon},
	}}
	now := noon.Add(time.Hour + 999*time.Millisecond).In(time.FixedZone("", 3600))
	next := inventory.Status{Desired: 2, Ready: 1, Conditions: []inventory.Condition{
		{Type: "Ready", Status: "False", Reason: "NotReady", Message: "a\xffb"},
		{Type: "Progressing", Status: "False", Reason: "Done"},
		{Type: "Degraded", Status: "False", Reason: "Another"},
	}}
	want := inventory.Status{Desired: 2, Ready: 1, Conditions: []inventory.Condition{
		{Type: "Degraded", Status: "False", Reason: "Another", LastTransitionTime: noon},
		{Type: "Progressing", Status: "False", Reason: "Done", LastTransitionTime: noon.Add(time.Hour)},
		{Type: "Ready", Status: "False", Reason: "NotReady", Message: "a\ufffdb", LastTransitionTime: noon.Add(time.Hour)},
	}}
	if diff := cmp.Diff(want, next.At(before, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !next.Conditions[0].LastTransitionTime.IsZero() {
		t.Error("the receiver was changed")
	}
	// The same status at a later time is equal.
	if diff := cmp.Diff(want, next.At(want, now.Add(time.Hour))); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
}

func TestStatusIs(t *testing.T) {
	s := inventory.Status{Conditions: []inventory.Condition{{Type: "Ready", Status: "True"}, {Type: "Degraded", Status: "False"}}}
	for condition, want := range map[string]bool{"Ready": true, "Degraded": false, "Progressing": false} {
		t.Run(condition, func(t *testing.T) {
			if s.Is(condition) != want {
				t.Errorf("%s is %v", condition, !want)
			}
		})
	}
}

// TestStatusMessage cuts a long message between characters.
func TestStatusMessage(t *testing.T) {
	for _, lead := range []string{"", "a", "aa", "aaa"} {
		t.Run(lead, func(t *testing.T) {
			long := lead + strings.Repeat("日", 5000)
			s := inventory.Status{Conditions: []inventory.Condition{{Type: "Ready", Message: long}}}.At(inventory.Status{}, noon)
			got := s.Conditions[0].Message
			if len(got) > 4096 || len(got) < 4090 || !utf8.ValidString(got) || !strings.HasSuffix(got, "日…") || !strings.HasPrefix(long, strings.TrimSuffix(got, "…")) {
				t.Errorf("%d bytes: …%q", len(got), got[len(got)-10:])
			}
		})
	}
}
