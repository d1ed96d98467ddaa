package ui

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

// WatchedHub holds what is known of a watch's hub.
type WatchedHub struct {
	lynq.HubKey
	Turn Turn
	// Read is set if its rows have been read. Unread is set if the last read failed.
	Read, Unread bool
	Rows, Active int
	// Planned is set if the counts of its nodes are known.
	Planned                bool
	Desired, Ready, Failed int
	Held                   []plan.Guard
	Changed                time.Time // when one of its objects last changed, zero for never
	// Applying is set while a round works on its nodes.
	Applying bool
	// Failing is set if the last round ended before it reached the nodes. Refused is set if
	// a guard did that.
	Failing, Refused bool
}

// Turn says who has the Lease of a hub.
type Turn uint8

// The holders of a hub's Lease.
const (
	TurnUnknown Turn = iota
	TurnOurs
	TurnOthers // another instance, or a manual run
)

// Words for the state of a watch's hub.
const (
	hubStarting   = "starting"    // the holder of the Lease is unknown
	hubStandingBy = "standing by" // another instance, or a manual run, has the Lease
	hubWatching   = "watching"
	hubApplying   = "applying"    // a round works on its nodes
	hubSourceDown = "source down" // its rows can't be read
	hubRefused    = "refused"     // a guard refuses more than deletions
	hubFailing    = "failing"     // rounds end before they reach the nodes
)

// WatchList lists the hubs of a watch for people. badInputs says that changed inputs
// couldn't be loaded.
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

// item returns a row of the table. Unknown cells stay empty.
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

// state returns a word for the state of a hub, and its tone.
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
