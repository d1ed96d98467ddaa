package ui_test

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

func TestWatchList(t *testing.T) {
	for _, test := range []struct {
		name string
		hub  ui.WatchedHub
		want string
		tone ui.Tone
	}{
		{"nothing is known", ui.WatchedHub{}, "starting", ui.Worry},
		{"the Lease isn't available", ui.WatchedHub{Failing: true}, "failing", ui.Bad},
		{"another has it", ui.WatchedHub{Turn: ui.TurnOthers}, "standing by", ui.Good},
		{"the Lease was lost", ui.WatchedHub{Turn: ui.TurnOthers, Failing: true}, "failing", ui.Bad},
		{"all is well", ui.WatchedHub{Turn: ui.TurnOurs}, "watching", ui.Good},
		{"a round is at work", ui.WatchedHub{Turn: ui.TurnOurs, Applying: true}, "applying", ui.Worry},
		{"nodes failed", ui.WatchedHub{Turn: ui.TurnOurs, Failed: 1, Planned: true}, "watching", ui.Worry},
		{"deletions are held", ui.WatchedHub{Turn: ui.TurnOurs, Held: []plan.Guard{plan.GuardMaxDelete}}, "watching", ui.Worry},
		{"no rows", ui.WatchedHub{Turn: ui.TurnOurs, Unread: true, Failing: true}, "source down", ui.Bad},
		{"a guard refuses", ui.WatchedHub{Turn: ui.TurnOurs, Refused: true}, "refused", ui.Bad},
		{"the cluster is down", ui.WatchedHub{Turn: ui.TurnOurs, Failing: true}, "failing", ui.Bad},
	} {
		item := ui.WatchList([]ui.WatchedHub{test.hub}, false, time.Time{}).Items[0]
		if got := item.Cells[len(item.Cells)-1]; got != test.want || item.Tone != test.tone {
			t.Errorf("%s: %s (%d), want %s (%d)", test.name, got, item.Tone, test.want, test.tone)
		}
	}
}
