package ui_test

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/ui/views"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

func TestWatchList(t *testing.T) {
	for _, test := range []struct {
		name string
		hub  views.WatchedHub
		want string
		tone tty.Tone
	}{
		{"nothing is known", views.WatchedHub{}, "starting", tty.Worry},
		{"the Lease isn't available", views.WatchedHub{Failing: true}, "failing", tty.Bad},
		{"another has it", views.WatchedHub{Turn: views.TurnOthers}, "standing by", tty.Good},
		{"the Lease was lost", views.WatchedHub{Turn: views.TurnOthers, Failing: true}, "failing", tty.Bad},
		{"all is well", views.WatchedHub{Turn: views.TurnOurs}, "watching", tty.Good},
		{"a round is at work", views.WatchedHub{Turn: views.TurnOurs, Applying: true}, "applying", tty.Worry},
		{"nodes failed", views.WatchedHub{Turn: views.TurnOurs, Failed: 1, Planned: true}, "watching", tty.Worry},
		{"deletions are held", views.WatchedHub{Turn: views.TurnOurs, Held: []plan.Guard{plan.GuardMaxDelete}}, "watching", tty.Worry},
		{"no rows", views.WatchedHub{Turn: views.TurnOurs, Unread: true, Failing: true}, "source down", tty.Bad},
		{"a guard refuses", views.WatchedHub{Turn: views.TurnOurs, Refused: true}, "refused", tty.Bad},
		{"the cluster is down", views.WatchedHub{Turn: views.TurnOurs, Failing: true}, "failing", tty.Bad},
	} {
		item := views.WatchList([]views.WatchedHub{test.hub}, false, time.Time{}).Items[0]
		if got := item.Cells[len(item.Cells)-1]; got != test.want || item.Tone != test.tone {
			t.Errorf("%s: %s (%d), want %s (%d)", test.name, got, item.Tone, test.want, test.tone)
		}
	}
}
