package ui_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui"
)

// What is no terminal is never drawn on, whatever the environment says.
func TestNewStreamWithoutTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, term := range []string{"", "dumb", "xterm-256color"} {
		getenv := func(name string) string { return map[string]string{"TERM": term}[name] }
		for _, s := range []ui.Stream{ui.NewStream(file, getenv), ui.NewStream(&bytes.Buffer{}, getenv)} {
			if s.Terminal || s.Color || s.Size != nil {
				t.Errorf("TERM=%q: %+v", term, s)
			}
		}
	}
}
