package funcs

import (
	"fmt"
	"math"
	"strconv"
	"text/template"
	"time"
	_ "time/tzdata" // so that machines without zone files render the same

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// dates returns the functions of dates and durations. They are in UTC, or in the zone that
// the form names.
func dates() template.FuncMap {
	return template.FuncMap{
		"date":             func(layout string, v any) (string, error) { return formatDate(layout, v, "UTC") },
		"dateInZone":       formatDate,
		"date_in_zone":     formatDate,
		"htmlDate":         func(v any) (string, error) { return formatDate(time.DateOnly, v, "UTC") },
		"htmlDateInZone":   func(v any, zone string) (string, error) { return formatDate(time.DateOnly, v, zone) },
		"toDate":           parseDate,
		"mustToDate":       parseDate,
		"dateModify":       shifted,
		"date_modify":      shifted,
		"mustDateModify":   shifted,
		"must_date_modify": shifted,
		"ago":              ago,
		"duration":         duration,
		"durationRound":    roundDuration,
	}
}

// dateOf returns a date, or a date from seconds since 1970.
func dateOf(v any) (time.Time, error) {
	switch v := v.(type) {
	case time.Time:
		return v, nil
	case *time.Time:
		if v != nil {
			return *v, nil
		}
	}
	if isNumber(v) {
		seconds, err := toInt64(v)
		return time.Unix(seconds, 0), err
	}
	return time.Time{}, notA(v, "a date; make one with toDate LAYOUT TEXT, or with int from seconds since 1970")
}

// formatDate formats a date in a named zone.
func formatDate(layout string, v any, zone string) (string, error) {
	t, err := dateOf(v)
	if err != nil {
		return "", err
	}
	loc, err := location(zone)
	if err != nil {
		return "", err
	}
	return t.In(loc).Format(layout), nil
}

// location finds a time zone by its name.
func location(zone string) (*time.Location, error) {
	switch zone {
	case "Local":
		return nil, &ValueError{What: `zone "Local" is another one on every machine; name one, such as "UTC"`}
	case "":
		return nil, notA(zone, `a time zone, such as "Europe/Berlin" or "UTC"`)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, notA(zone, `a time zone, such as "Europe/Berlin" or "UTC"`)
	}
	return loc, nil
}

func parseDate(layout, s string) (time.Time, error) {
	t, err := time.ParseInLocation(layout, s, time.UTC)
	if err != nil {
		return t, notA(s, "a date of layout "+phrase.Quote(layout))
	}
	return t, nil
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, notA(s, "a duration, such as 90s, 1h30m or -24h")
	}
	return d, nil
}

// shifted returns a date that is a duration later.
func shifted(by string, date any) (time.Time, error) {
	d, err := parseDuration(by)
	if err != nil {
		return time.Time{}, err
	}
	t, err := dateOf(date)
	return t.Add(d), err
}

// ago returns how long ago a date is. Only objects that are created once may call it.
func ago(date any) (string, error) {
	t, err := dateOf(date)
	if err != nil {
		return "", err
	}
	return time.Since(t).Round(time.Second).String(), nil
}

// duration returns a number of seconds as a duration, such as 1m35s.
func duration(seconds any) (string, error) {
	n, err := toInt64(seconds)
	if err != nil {
		return "", err
	}
	if n > math.MaxInt64/int64(time.Second) || n < math.MinInt64/int64(time.Second) {
		return "", &ValueError{value: strconv.FormatInt(n, 10), What: "seconds are too long for a duration"}
	}
	return (time.Duration(n) * time.Second).String(), nil
}

// roundDuration writes a duration in its largest unit. A number is one of nanoseconds.
// Unlike sprig's function, it takes no date, because it would count until now.
func roundDuration(v any) (string, error) {
	var d time.Duration
	var err error
	switch v := v.(type) {
	case string:
		d, err = parseDuration(v)
	case time.Duration:
		d = v
	case time.Time, *time.Time:
		return "", &ValueError{What: "durationRound takes a duration, not a date: how long ago a date is changes from run to run"}
	default:
		var n int64
		n, err = toInt64(v)
		d = time.Duration(n)
	}
	if err != nil {
		return "", err
	}
	const day = 24 * time.Hour
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"y", 365 * day}, {"mo", 30 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d >= unit.size || d <= -unit.size {
			return fmt.Sprintf("%d%s", d/unit.size, unit.name), nil
		}
	}
	return "0s", nil
}
