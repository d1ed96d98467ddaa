package views

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// WatchedHub is a hub of a watch, as far as it is known by now.
type WatchedHub struct {
	lynq.HubKey
	Turn Turn
	// Read: its rows have been read, so many; Unread: they could not be last.
	Read, Unread bool
	Rows, Active int
	// Planned: of its nodes so many are wanted, ready and failed.
	Planned                bool
	Desired, Ready, Failed int
	Held                   []plan.Guard
	Changed                time.Time // when an object of it was changed last, zero for never
	// Applying: a round is at work on its nodes.
	Applying bool
	// Failing: the last round ended before it came to the nodes; Refused: a guard did that.
	Failing, Refused bool
}

// Turn is whose turn it is with a hub.
type Turn uint8

// Whose turn it is.
const (
	TurnUnknown Turn = iota
	TurnOurs
	TurnOthers // another instance's, or that of a run by hand
)

// How the hubs of a watch are, in words.
const (
	hubStarting   = "starting"    // it is not known whose turn it is
	hubStandingBy = "standing by" // another instance, or a run by hand, has it
	hubWatching   = "watching"
	hubApplying   = "applying"    // a round is at work on its nodes
	hubSourceDown = "source down" // its rows cannot be read
	hubRefused    = "refused"     // a guard refuses more than deletions
	hubFailing    = "failing"     // rounds end before they come to the nodes
)

// WatchList is what people see of the hubs of a watch. Bad inputs are those that could
// not be loaded when they changed.
func WatchList(hubs []WatchedHub, badInputs bool, now time.Time) *list.List {
	l := &list.List{
		Columns: []list.Column{
			{Name: "HUB", Flexible: true}, {Name: "ROWS", Spare: true}, {Name: "ACTIVE", Spare: true}, {Name: "READY"}, {Name: "FAILED"},
			{Name: "HELD", Spare: true}, {Name: "CHANGED", Spare: true}, {Name: "STATUS", Toned: true},
		},
		Empty: "no hubs",
	}
	for i := range hubs {
		l.Items = append(l.Items, hubs[i].item(now))
	}
	if badInputs {
		l.Footer = append(l.Footer, "your files have errors: watch uses the last good ones")
	}
	return l
}

// item is a row of the table. What is not known is left out of it.
func (h *WatchedHub) item(now time.Time) list.Item {
	count := func(n int, known bool) string {
		if !known {
			return ""
		}
		return strconv.Itoa(n)
	}
	var held []string
	for _, g := range h.Held {
		held = append(held, string(g))
	}
	slices.Sort(held)
	nodesReady := ""
	if h.Planned {
		nodesReady = ofTotal(h.Ready, h.Desired)
	}
	state, tone := h.state()
	return list.Item{
		Cells: []string{
			h.String(), count(h.Rows, h.Read), count(h.Active, h.Read),
			nodesReady, count(h.Failed, h.Planned),
			strings.Join(held, ","), ago(now, h.Changed), state,
		},
		Tone: tone,
	}
}

// state says how a hub is, and how good that is.
func (h *WatchedHub) state() (string, tty.Tone) {
	switch {
	case h.Failing && h.Turn != TurnOurs:
		return hubFailing, tty.Bad
	case h.Turn == TurnUnknown:
		return hubStarting, tty.Worry
	case h.Turn == TurnOthers:
		return hubStandingBy, tty.Good
	case h.Unread:
		return hubSourceDown, tty.Bad
	case h.Refused:
		return hubRefused, tty.Bad
	case h.Failing:
		return hubFailing, tty.Bad
	case h.Applying:
		return hubApplying, tty.Worry
	case h.Failed > 0 || len(h.Held) > 0:
		return hubWatching, tty.Worry
	}
	return hubWatching, tty.Good
}
