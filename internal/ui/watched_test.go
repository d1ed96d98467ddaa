package ui_test

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/views"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

func TestWatchList(t *testing.T) {
	for _, test := range []struct {
		name string
		hub  views.WatchedHub
		want string
		tone ui.Tone
	}{
		{"nothing is known", views.WatchedHub{}, "starting", ui.Worry},
		{"the Lease isn't available", views.WatchedHub{Failing: true}, "failing", ui.Bad},
		{"another has it", views.WatchedHub{Turn: views.TurnOthers}, "standing by", ui.Good},
		{"the Lease was lost", views.WatchedHub{Turn: views.TurnOthers, Failing: true}, "failing", ui.Bad},
		{"all is well", views.WatchedHub{Turn: views.TurnOurs}, "watching", ui.Good},
		{"a round is at work", views.WatchedHub{Turn: views.TurnOurs, Applying: true}, "applying", ui.Worry},
		{"nodes failed", views.WatchedHub{Turn: views.TurnOurs, Failed: 1, Planned: true}, "watching", ui.Worry},
		{"deletions are held", views.WatchedHub{Turn: views.TurnOurs, Held: []plan.Guard{plan.GuardMaxDelete}}, "watching", ui.Worry},
		{"no rows", views.WatchedHub{Turn: views.TurnOurs, Unread: true, Failing: true}, "source down", ui.Bad},
		{"a guard refuses", views.WatchedHub{Turn: views.TurnOurs, Refused: true}, "refused", ui.Bad},
		{"the cluster is down", views.WatchedHub{Turn: views.TurnOurs, Failing: true}, "failing", ui.Bad},
	} {
		item := views.WatchList([]views.WatchedHub{test.hub}, false, time.Time{}).Items[0]
		if got := item.Cells[len(item.Cells)-1]; got != test.want || item.Tone != test.tone {
			t.Errorf("%s: %s (%d), want %s (%d)", test.name, got, item.Tone, test.want, test.tone)
		}
	}
}
