package list_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/form/depgraph"
)

func TestTree(t *testing.T) {
	for name, tt := range map[string]struct {
		depths []int
		want   string
	}{
		"nothing":    {nil, ""},
		"roots":      {[]int{0, 0}, "x||x|"},
		"one below":  {[]int{0, 1, 0}, "x|└─ x||x|"},
		"two deep":   {[]int{0, 1, 2, 2, 1, 2, 0}, "x|├─ x|│  ├─ x|│  └─ x|└─ x|   └─ x||x|"},
		"ends deep":  {[]int{0, 1, 2}, "x|└─ x|   └─ x|"},
		"next tree":  {[]int{0, 1, 0, 1, 1}, "x|└─ x||x|├─ x|└─ x|"},
		"deep again": {[]int{0, 1, 2, 1}, "x|├─ x|│  └─ x|└─ x|"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := make([]depgraph.Line, len(tt.depths))
			items := make([]list.Item, len(tt.depths))
			for i, depth := range tt.depths {
				lines[i] = depgraph.Line{Depth: depth, Text: "x"}
				items[i] = list.Item{Cells: []string{"x"}, Depth: depth}
			}
			var out bytes.Buffer
			if err := list.PrintGraph(lines, streamTo(&out, tty.Stream{})); err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(out.String(), "\n", "|"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			// A list draws the same tree in its first column, without lines between trees.
			got, _ := printed(t, &list.List{Columns: []list.Column{{Name: "X"}}, Items: items, NoHeaders: true}, tty.Table, 0, false)
			if want := strings.ReplaceAll(out.String(), "\n\n", "\n"); got != want {
				t.Errorf("a list has %q, want %q", got, want)
			}
		})
	}
}
