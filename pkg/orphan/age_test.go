package orphan

import (
	"testing"
	"time"
)

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "12h": 12 * time.Hour, "1.5h": 90 * time.Minute, "0": 0, "0d": 0,
		"30d": 30 * 24 * time.Hour, "1d12h": 36 * time.Hour, "2d1h30m": 49*time.Hour + 30*time.Minute,
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := ParseAge(text); err != nil || got != want {
				t.Errorf("%s is read as %v, %v; want %v", text, got, err, want)
			}
		})
	}
	for _, text := range []string{"", "d", "x", "5", "-1h", "-1d", "1d-1h", "1.5d", "1h1d", "1d 2h", "99999999999999999999d", "200000d"} {
		t.Run(text, func(t *testing.T) {
			if got, err := ParseAge(text); err == nil {
				t.Errorf("%q is read as %v, want an error", text, got)
			}
		})
	}
}
