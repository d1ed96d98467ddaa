package list

import (
	"strings"

	"charm.land/lipgloss/v2/tree"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/form/depgraph"
)

// PrintGraph prints graphs as trees, with a blank line between them.
func PrintGraph(lines []depgraph.Line, out tty.Stream) error {
	texts, depths := make([]string, len(lines)), make([]int, len(lines))
	for i, line := range lines {
		texts[i], depths[i] = tty.Safe(line.Text), line.Depth
	}
	var b strings.Builder
	for i, line := range branched(texts, depths) {
		if i > 0 && depths[i] == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line + "\n")
	}
	return out.WriteText("graph", tty.Table, b.String(), nil)
}

// branched adds the branches of trees to lines with these depths. Lines of depth 0 are
// roots, and get none.
func branched(texts []string, depths []int) []string {
	var roots, path []*tree.Tree // path leads to the previous line
	for i, text := range texts {
		line, depth := tree.Root(text), min(depths[i], len(path))
		if path = path[:depth]; depth == 0 {
			roots = append(roots, line.Enumerator(branch).Indenter(beside))
		} else {
			path[depth-1].Child(line)
		}
		path = append(path, line)
	}
	var lines []string
	for _, root := range roots {
		lines = append(lines, strings.Split(root.String(), "\n")...)
	}
	return lines
}

// branch returns the start of a line. beside returns the space next to the branches below
// it. Both are a column narrower than lipgloss's, because names are long.
func branch(lines tree.Children, i int) string {
	if i == lines.Length()-1 {
		return "└─"
	}
	return "├─"
}

func beside(lines tree.Children, i int) string {
	if i == lines.Length()-1 {
		return "  "
	}
	return "│ "
}
