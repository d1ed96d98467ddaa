package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
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

// watchTable is what people see of the hubs of a watch. It is a pure function.
func watchTable(hubs []hubFacts, badInputs bool, now time.Time) *ui.List {
	l := &ui.List{
		Columns: []ui.Column{
			{Name: "HUB", Flexible: true}, {Name: "ROWS", Spare: true}, {Name: "ACTIVE", Spare: true}, {Name: "NODES"}, {Name: "READY"}, {Name: "FAILED"},
			{Name: "HELD", Spare: true}, {Name: "CHANGED", Spare: true}, {Name: "STATE", Toned: true},
		},
		Empty: "no hubs",
	}
	for i := range hubs {
		l.Items = append(l.Items, hubItem(&hubs[i], now))
	}
	if badInputs {
		l.Footer = append(l.Footer, "the inputs are bad: the last good ones stay")
	}
	return l
}

// hubItem is a row of the table. What is not known is left out of it.
func hubItem(f *hubFacts, now time.Time) ui.Item {
	count := func(n int, known bool) string {
		if !known {
			return ""
		}
		return strconv.Itoa(n)
	}
	var held []string
	for _, g := range f.held {
		held = append(held, string(g))
	}
	slices.Sort(held)
	state, tone := stateOf(f)
	return ui.Item{
		Cells: []string{
			f.key.String(), count(f.rows, f.read), count(f.active, f.read),
			count(f.sums.Desired, f.planned), count(f.sums.Ready, f.planned), count(f.sums.Failed, f.planned),
			strings.Join(held, ","), ago(now, atTime(f.changed)), state,
		},
		Tone: tone,
	}
}

// stateOf says how a hub is, and how good that is.
func stateOf(f *hubFacts) (state string, tone ui.Tone) {
	refused := (*engine.Error)(nil)
	failing := f.ended != nil && !errors.Is(f.ended, engine.ErrReported)
	switch {
	case failing && f.turn != turnOurs:
		return hubFailing, ui.Bad
	case f.turn == turnUnknown:
		return hubStarting, ui.Worry
	case f.turn == turnOthers:
		return hubStandingBy, ui.Good
	case f.unread != nil:
		return hubSourceDown, ui.Bad
	case errors.As(f.ended, &refused) && refused.Outcome == engine.Refused:
		return hubRefused, ui.Bad
	case failing:
		return hubFailing, ui.Bad
	case f.applying:
		return hubApplying, ui.Worry
	case f.sums.Failed > 0 || len(f.held) > 0:
		return hubWatching, ui.Worry
	}
	return hubWatching, ui.Good
}
