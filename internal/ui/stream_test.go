package ui_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui"
)

// Colours that are wanted in any case are for what is no terminal, too.
func TestNewStreamColor(t *testing.T) {
	noColor := func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }
	for color, want := range map[ui.Color]bool{ui.ColorAlways: true, ui.ColorAuto: false, ui.ColorNever: false, "": false} {
		if s := ui.NewStream(ui.To(&bytes.Buffer{}), noColor, color); s.Color != want || s.Terminal {
			t.Errorf("--color=%s: %+v", color, s)
		}
	}
}

// What is no terminal is never drawn on, whatever the environment says.
func TestNewStreamWithoutTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, term := range []string{"", "dumb", "xterm-256color"} {
		getenv := func(name string) string { return map[string]string{"TERM": term}[name] }
		for _, s := range []ui.Stream{ui.NewStream(ui.To(file), getenv, ui.ColorAuto), ui.NewStream(ui.To(&bytes.Buffer{}), getenv, "")} {
			if s.Terminal || s.Color || s.Size != nil {
				t.Errorf("TERM=%q: %+v", term, s)
			}
		}
	}
}
