package ui

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
)

// View draws what the live view shows after these events, at that time.
func View(events []apply.Event, now time.Time, columns, rows int, color bool) []string {
	m := &model{}
	for i := range events {
		m.observe(&events[i])
	}
	return view(m, now, columns, rows, paint(color))
}
