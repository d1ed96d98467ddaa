package helm

import (
	"bytes"
	"context"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Marks are characters that no template has, around a line number.
const (
	markStart = "\ue000"
	markEnd   = "\ue001"
)

// lineOf finds the line of a template that made a line of its result. It renders the template
// again, with marks in the text between actions. It returns 0 if it can't tell.
func (r *releaseRender) lineOf(ctx context.Context, name, result string, line int) int {
	marked := func(c *chart.Chart) { markTemplate(c, name) }
	files, err := r.filesOf(ctx, marked)
	marks := regexp.MustCompile(markStart + `(\d+)` + markEnd)
	if err != nil || marks.ReplaceAllString(files[name], "") != result {
		return 0
	}
	lines := strings.SplitAfter(files[name], "\n")
	if line > len(lines) {
		return 0
	}
	found := marks.FindAllStringSubmatch(strings.Join(lines[:line-1], ""), -1)
	if own := marks.FindStringSubmatchIndex(lines[line-1]); own != nil && strings.TrimLeft(lines[line-1][:own[0]], " ") == "" {
		found = append(found, marks.FindStringSubmatch(lines[line-1]))
	}
	if len(found) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(found[len(found)-1][1]) // only digits
	return n
}

// markTemplate replaces a template of a chart or a subchart by one with marks.
func markTemplate(c *chart.Chart, name string) {
	for i, t := range c.Templates {
		if t != nil && path.Join(c.ChartFullPath(), t.Name) == name {
			c.Templates = slices.Clone(c.Templates)
			c.Templates[i] = &common.File{Name: t.Name, Data: withMarks(t.Data)}
			return
		}
	}
	for _, sub := range c.Dependencies() {
		markTemplate(sub, name)
	}
}

// withMarks returns a template whose own text has a mark at the beginning of each line. It
// leaves the templates that the file defines as they are.
func withMarks(source []byte) []byte {
	const main = "main"
	if bytes.Contains(source, []byte(markStart)) {
		return source
	}
	tree := parse.New(main)
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(string(source), "", "", trees); err != nil || tree.Root == nil {
		return source
	}
	forTexts(tree.Root, func(text *parse.TextNode) { mark(text, source) })
	trees[main] = tree
	var all []byte
	for name, t := range trees {
		if t.Root == nil {
			continue
		}
		forTexts(t.Root, separate)
		if name == main {
			all = append(all, t.Root.String()...)
		} else {
			all = append(all, "{{define "+strconv.Quote(name)+"}}"+t.Root.String()+"{{end}}"...)
		}
	}
	return all
}

// mark adds marks to a text.
func mark(n *parse.TextNode, source []byte) {
	line := 1 + bytes.Count(source[:n.Pos], []byte("\n"))
	var text []byte
	for i, part := range bytes.SplitAfter(n.Text, []byte("\n")) {
		text = append(text, markStart+strconv.Itoa(line+i)+markEnd...)
		text = append(text, part...)
	}
	n.Text = text
}

// separate keeps a brace at the end of a text apart from the action that follows.
func separate(n *parse.TextNode) {
	if before, ok := bytes.CutSuffix(n.Text, []byte("{")); ok {
		n.Text = append(bytes.Clone(before), `{{"{"}}`...)
	}
}

// forTexts calls a function for the texts of a list.
func forTexts(list *parse.ListNode, call func(*parse.TextNode)) {
	if list == nil {
		return
	}
	branch := func(b *parse.BranchNode) {
		forTexts(b.List, call)
		forTexts(b.ElseList, call)
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			call(n)
		case *parse.IfNode:
			branch(&n.BranchNode)
		case *parse.RangeNode:
			branch(&n.BranchNode)
		case *parse.WithNode:
			branch(&n.BranchNode)
		}
	}
}
