package ui_test

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

func TestWatchList(t *testing.T) {
	for _, test := range []struct {
		name string
		hub  ui.WatchedHub
		want string
		tone tty.Tone
	}{
		{"nothing is known", ui.WatchedHub{}, "starting", tty.Worry},
		{"the Lease isn't available", ui.WatchedHub{Failing: true}, "failing", tty.Bad},
		{"another has it", ui.WatchedHub{Turn: ui.TurnOthers}, "standing by", tty.Good},
		{"the Lease was lost", ui.WatchedHub{Turn: ui.TurnOthers, Failing: true}, "failing", tty.Bad},
		{"all is well", ui.WatchedHub{Turn: ui.TurnOurs}, "watching", tty.Good},
		{"a round is at work", ui.WatchedHub{Turn: ui.TurnOurs, Applying: true}, "applying", tty.Worry},
		{"nodes failed", ui.WatchedHub{Turn: ui.TurnOurs, Failed: 1, Planned: true}, "watching", tty.Worry},
		{"deletions are held", ui.WatchedHub{Turn: ui.TurnOurs, Held: []plan.Guard{plan.GuardMaxDelete}}, "watching", tty.Worry},
		{"no rows", ui.WatchedHub{Turn: ui.TurnOurs, Unread: true, Failing: true}, "source down", tty.Bad},
		{"a guard refuses", ui.WatchedHub{Turn: ui.TurnOurs, Refused: true}, "refused", tty.Bad},
		{"the cluster is down", ui.WatchedHub{Turn: ui.TurnOurs, Failing: true}, "failing", tty.Bad},
	} {
		t.Run(test.name, func(t *testing.T) {
			item := ui.WatchList([]ui.WatchedHub{test.hub}, false, time.Time{}).Items[0]
			if got := item.Cells[len(item.Cells)-1]; got != test.want || item.Tone != test.tone {
				t.Errorf("%s (%d), want %s (%d)", got, item.Tone, test.want, test.tone)
			}
		})
	}
}
