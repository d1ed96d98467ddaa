package lynq

import (
	"strings"
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	first, last := time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                                {},
		"  ":                              {},
		"infinity":                        {}, // PostgreSQL
		"2026-01-31T12:00:00Z":            noon,
		"2026-01-31T13:00:00+01:00":       noon,
		"2026-01-31T13:00:00+0100":        noon,
		"2026-01-31T12:00:00.5Z":          noon.Add(time.Second / 2),
		"2026-01-31T12:00:00":             noon,
		"2026-01-31 12:00:00":             noon, // MySQL, SQLite, PostgreSQL timestamp
		"2026-01-31 12:00:00.000001":      noon.Add(time.Microsecond),
		"2026-01-31 12:00":                noon,
		"2026-01-31T12:00":                noon,
		"2026-01-31 12:00:00+00":          noon, // PostgreSQL timestamptz
		"2026-01-31 17:30:00+05:30":       noon,
		"2026-01-31 07:00:00.25-05":       noon.Add(time.Second / 4),
		"2026-01-31 12:00:00Z":            noon,
		"2026-01-31 12:00:00 UTC":         noon,
		"2026-01-31 13:00:00 +0100":       noon,
		" 2026-01-31 ":                    noon.Truncate(24 * time.Hour), // a date begins at midnight
		"2024-02-29":                      time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
		"9999-12-31 23:59:59":             time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		"2026-01-31 12:00:00.123456789Z":  noon.Add(123456789),
		"1969-12-31T23:59:59Z":            time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC),
		"2026-01-31T12:00:00.999999+0000": noon.Add(999999 * time.Microsecond),
		"-infinity":                       first, // PostgreSQL: before all times
		"4713-01-01 00:00:00 BC":          first,
		"0044-03-15 BC":                   first,
		"0001-02-29 BC":                   first, // 1 BC is a leap year
		"0005-02-29 12:00:00+00 BC":       first,
		"0000-05-05 00:00:00":             first, // MySQL
		"10000-01-01":                     last,
		"12000-02-29 12:00:00":            last,
		"294276-12-31 23:59:59.999999":    last,
		"294276-12-31 23:59:59.999999+00": last,
		"9999-12-31 23:59:59.999999":      last, // MySQL's last time
		"9999-12-31T23:59:59-01:00":       last, // in UTC, it is in the year 10000
		"0001-01-01T00:30:00+01:00":       first,
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseMoment(text)
			if err != nil || !got.Equal(want) || got.Location() != time.UTC {
				t.Errorf("%q is %v, want %v: %v", text, got, want, err)
			}
		})
	}
	for _, text := range []string{
		"soon", "0", "1769860800", "31.01.2026", "01/31/2026", "2026-02-30", "0000-00-00 00:00:00", "0001-01-01", "0001-01-01T00:00:00Z",
		"Infinity", "+infinity", "- infinity", "0000-01-01 BC", "0002-02-29 BC", "44-03-15 BC", "2026-02-30 BC", "10001-02-29", "010000-01-01", "10000-13-01",
		"99999999999999999999-01-01", "0000-00-00", "0000-00-00 00:00:00.000000", "2024-00-00", "2024-05-00", "2026-01-31 25:00:00", "2026-01-31 12:00:00 CET", "2026-1-31", "20260131", "NULL", "2026-01-31T12:00:00Z extra",
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := ParseMoment(text); err == nil || !got.IsZero() {
				t.Errorf("%q is %v, want an error", text, got)
			}
		})
	}
}

// TestParseMomentZeroDate has dates of MySQL that the message must explain.
func TestParseMomentZeroDate(t *testing.T) {
	for text, zero := range map[string]bool{"0000-00-00": true, "0000-00-00 00:00:00": true, "2024-00-00": true, "2024-05-00 12:00:00": true, "2024-13-00": false, "soon": false, "2024-02-30": false, "00": false} {
		t.Run(text, func(t *testing.T) {
			if _, err := ParseMoment(text); err == nil || strings.Contains(err.Error(), "a month or day 0") != zero {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 1499 * time.Millisecond: "1s", 89 * time.Second: "89s", 90 * time.Second: "2m", 89 * time.Minute: "89m",
		90 * time.Minute: "2h", 72*time.Hour - time.Second: "72h", 72 * time.Hour: "72h", 100 * time.Hour: "4d", 300 * time.Hour: "13d",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}
