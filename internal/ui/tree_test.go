package ui_test

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui"
)

func TestBranches(t *testing.T) {
	for name, tt := range map[string]struct {
		depths []int
		want   string
	}{
		"nothing":    {nil, ""},
		"roots":      {[]int{0, 0}, "|"},
		"one below":  {[]int{0, 1, 0}, "|└─ |"},
		"two deep":   {[]int{0, 1, 2, 2, 1, 2, 0}, "|├─ |│  ├─ |│  └─ |└─ |   └─ |"},
		"ends deep":  {[]int{0, 1, 2}, "|└─ |   └─ "},
		"next tree":  {[]int{0, 1, 0, 1, 1}, "|└─ ||├─ |└─ "},
		"deep again": {[]int{0, 1, 2, 1}, "|├─ |│  └─ |└─ "},
	} {
		if got := strings.Join(ui.Branches(tt.depths), "|"); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
