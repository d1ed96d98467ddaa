package lynq

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// ParseMoment reads a time as a column has it: RFC 3339, or what databases print for
// timestamps and dates. It counts as UTC unless it says otherwise, and a date counts from
// its first moment. Empty text and PostgreSQL's infinity are never: the zero time. A time
// that RFC 3339 can't write is its first or last moment.
func ParseMoment(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "", "infinity":
		return time.Time{}, nil
	case "-infinity":
		return firstMoment(), nil
	}
	short, beyond := shortYear(text)
	for _, layout := range momentLayouts() {
		t, err := time.Parse(layout, short)
		switch {
		case err != nil:
			continue
		case beyond != nil:
			return *beyond, nil
		case t.IsZero():
			return t, errors.New("the year 1 stands for no time")
		case t.Before(firstMoment()):
			return firstMoment(), nil
		case t.After(lastMoment()):
			return lastMoment(), nil
		}
		return t.UTC(), nil
	}
	if zeroDate(text) {
		return time.Time{}, fmt.Errorf("%s has a month or day 0, so it is no date", phrase.Quote(text))
	}
	return time.Time{}, fmt.Errorf("%s is neither a time such as 2026-01-31T12:00:00Z nor a date such as 2026-01-31", phrase.Quote(text))
}

// firstMoment and lastMoment are the ends of the times that records can hold.
func firstMoment() time.Time { return time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC) }
func lastMoment() time.Time  { return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }

// shortYear gives a text a year of four digits that has the same leap day, because
// time.Parse takes no others. beyond is the end of all times that lies before the text's
// time, as PostgreSQL writes years before 1 and after 9999.
func shortYear(text string) (short string, beyond *time.Time) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	before, isBefore := strings.CutSuffix(text, " BC")
	year, err := strconv.Atoi(text[:digits])
	if err != nil || digits < 4 || isBefore && year == 0 || !isBefore && (digits == 4 || text[0] == '0') {
		return text, nil
	}
	end := lastMoment()
	if isBefore {
		end, year = firstMoment(), 400-(year-1)%400 // 1 BC is the leap year 0
	}
	return strconv.Itoa(2000+year%400) + before[digits:], &end
}

// zeroDate reports whether a text is a date of MySQL without month or day.
func zeroDate(text string) bool {
	date := text[:min(len(text), len(time.DateOnly))]
	filled := strings.ReplaceAll(date, "-00", "-01")
	_, err := time.Parse(time.DateOnly, filled)
	return err == nil && filled != date
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
