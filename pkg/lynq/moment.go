package lynq

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// ParseMoment reads a time as a column has it: RFC 3339, or what databases print for
// timestamps and dates. It counts as UTC unless it says otherwise, and a date counts from
// its first moment. Empty text and PostgreSQL's infinity are never: the zero time.
func ParseMoment(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "infinity" {
		return time.Time{}, nil
	}
	for _, layout := range momentLayouts() {
		t, err := time.Parse(layout, text)
		if err == nil && t.IsZero() {
			return t, errors.New("the year 1 stands for no time")
		}
		if err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s is neither a time such as 2026-01-31T12:00:00Z nor a date such as 2026-01-31", phrase.Quote(text))
}

// momentLayouts are how times may be written. time.Parse takes fractions of a second in
// all of them.
func momentLayouts() []string {
	return []string{
		time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05Z0700",
		"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 UTC",
		"2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	}
}

// Span writes a duration for people: "40s", "25m", "71h", "12d".
func Span(d time.Duration) string {
	for _, unit := range []struct {
		from, size time.Duration
		name       string
	}{{100 * time.Hour, 24 * time.Hour, "d"}, {90 * time.Minute, time.Hour, "h"}, {90 * time.Second, time.Minute, "m"}} {
		if d >= unit.from {
			return fmt.Sprintf("%d%s", d.Round(unit.size)/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%ds", max(d.Round(time.Second), 0)/time.Second)
}
