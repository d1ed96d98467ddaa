package ui_test

import (
	"os"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// TestNewStreamOfTerminal wants the upper end of a pseudo terminal to count as a terminal.
func TestNewStreamOfTerminal(t *testing.T) {
	file, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for name, c := range map[string]struct {
		env             map[string]string
		terminal, color bool
		wanted          tty.Color
	}{
		"plain":     {map[string]string{"TERM": "xterm"}, true, true, tty.ColorAuto},
		"no colour": {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, true, false, tty.ColorAuto},
		"in CI":     {map[string]string{"TERM": "xterm", "CI": "true"}, false, true, tty.ColorAuto},
		"in a CI":   {map[string]string{"TERM": "xterm", "CI": "woodpecker"}, false, true, tty.ColorAuto},
		"not in CI": {map[string]string{"TERM": "xterm", "CI": "false"}, true, true, tty.ColorAuto},
		"dumb":      {map[string]string{"TERM": "dumb"}, false, false, tty.ColorAuto},
		"wanted":    {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, true, true, tty.ColorAlways},
		"unwanted":  {map[string]string{"TERM": "xterm"}, true, false, tty.ColorNever},
		"unknown":   {nil, false, false, tty.ColorAuto},
	} {
		t.Run(name, func(t *testing.T) {
			s := tty.NewStream(tty.To(file), func(key string) string { return c.env[key] }, c.wanted)
			if s.Terminal != c.terminal || s.Color != c.color {
				t.Errorf("Terminal %v, Color %v", s.Terminal, s.Color)
			}
			if s.Terminal {
				// A new pseudo terminal has no size, but a drawing must have one.
				if columns, rows := s.Size(); columns != 0 || rows != 0 {
					t.Errorf("%d columns, %d rows", columns, rows)
				}
			}
		})
	}
}
