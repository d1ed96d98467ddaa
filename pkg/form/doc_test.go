package form_test

import (
	"os"
	"strings"
	"testing"
)

// TestReference loads the example of the reference.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("../../docs/forms.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("the reference has no example")
	}
	if in := load(t, example); ids(in.Forms[0]) != "account settings" || len(in.Warnings) > 0 {
		t.Errorf("example: %s, warnings: %v", ids(in.Forms[0]), in.Warnings)
	}
}
