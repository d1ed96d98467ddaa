package ui_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// TestNewStreamColor wants --color=always to colour output that isn't a terminal.
func TestNewStreamColor(t *testing.T) {
	noColor := func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }
	for color, want := range map[tty.Color]bool{tty.ColorAlways: true, tty.ColorAuto: false, tty.ColorNever: false, "": false} {
		t.Run(string(color), func(t *testing.T) {
			if s := tty.NewStream(tty.To(&bytes.Buffer{}), noColor, color); s.Color != want || s.Terminal {
				t.Errorf("--color=%s: %+v", color, s)
			}
		})
	}
}

// TestNewStreamWithoutTerminal wants no drawing on a file, whatever the environment says.
func TestNewStreamWithoutTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, term := range []string{"", "dumb", "xterm-256color"} {
		t.Run(term, func(t *testing.T) {
			getenv := func(name string) string { return map[string]string{"TERM": term}[name] }
			for _, s := range []tty.Stream{tty.NewStream(tty.To(file), getenv, tty.ColorAuto), tty.NewStream(tty.To(&bytes.Buffer{}), getenv, "")} {
				if s.Terminal || s.Color || s.Size != nil {
					t.Errorf("TERM=%q: %+v", term, s)
				}
			}
		})
	}
}
