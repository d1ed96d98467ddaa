package ui_test

import (
	"os"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui"
)

// The upper end of a pseudo terminal is a terminal, too.
func TestNewStreamOfTerminal(t *testing.T) {
	file, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for name, c := range map[string]struct {
		env             map[string]string
		terminal, color bool
		wanted          ui.Color
	}{
		"plain":     {map[string]string{"TERM": "xterm"}, true, true, ui.ColorAuto},
		"no colour": {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, true, false, ui.ColorAuto},
		"in CI":     {map[string]string{"TERM": "xterm", "CI": "true"}, false, true, ui.ColorAuto},
		"in a CI":   {map[string]string{"TERM": "xterm", "CI": "woodpecker"}, false, true, ui.ColorAuto},
		"not in CI": {map[string]string{"TERM": "xterm", "CI": "false"}, true, true, ui.ColorAuto},
		"dumb":      {map[string]string{"TERM": "dumb"}, false, false, ui.ColorAuto},
		"wanted":    {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, true, true, ui.ColorAlways},
		"unwanted":  {map[string]string{"TERM": "xterm"}, true, false, ui.ColorNever},
		"unknown":   {nil, false, false, ui.ColorAuto},
	} {
		s := ui.NewStream(ui.To(file), func(key string) string { return c.env[key] }, c.wanted)
		if s.Terminal != c.terminal || s.Color != c.color {
			t.Errorf("%s: Terminal %v, Color %v", name, s.Terminal, s.Color)
		}
		if s.Terminal {
			// A new pseudo terminal has no size; what is drawn has one all the same.
			if columns, rows := s.Size(); columns != 0 || rows != 0 {
				t.Errorf("%s: %d columns, %d rows", name, columns, rows)
			}
		}
	}
}
