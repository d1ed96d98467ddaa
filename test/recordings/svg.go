package recordings

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Theme has the colours of a terminal.
type Theme struct {
	Name                           string
	back, bar, edge                string
	text, faint, good, worry, fail string
}

// Themes returns light and dark, in GitHub's colours, so that a recording fits its page.
func Themes() []Theme {
	return []Theme{
		{"light", "#ffffff", "#f6f8fa", "#d0d7de", "#1f2328", "#656d76", "#1a7f37", "#9a6700", "#cf222e"},
		{"dark", "#0d1117", "#161b22", "#30363d", "#e6edf3", "#7d8590", "#3fb950", "#d29922", "#f85149"},
	}
}

// The sizes of a terminal. The widest of the usual fonts has characters of 0.61 em.
const (
	fontSize    = 14
	lineHeight  = 20
	columnWidth = 0.61 * fontSize
	barHeight   = 32
	margin      = 18
	leastWide   = 72
	// MostColumns fits a page at a readable size.
	MostColumns = 100
)

// SVG returns the recording in a theme. The same recording always gives the same bytes.
func (r *Recording) SVG(t Theme) string {
	if r.comment != nil {
		return commentSVG(r.Examples[0].Command, r.comment, t)
	}
	lines, columns := r.lines(), leastWide
	for _, l := range lines {
		columns = max(columns, utf8.RuneCountInString(l.text))
	}
	width := int(columnWidth*float64(columns)) + 2*margin
	height := barHeight + 2*margin + lineHeight*len(lines)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" xml:space="preserve">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(r.Examples[len(r.Examples)-1].Command))
	fmt.Fprintf(&b, `<style>text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:%s}.b{font-weight:600}.f{fill:%s}.g{fill:%s}.w{fill:%s}.r{fill:%s}</style>`+"\n",
		fontSize, t.text, t.faint, t.good, t.worry, t.fail)
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%d" height="%d" rx="8" fill="%s" stroke="%s"/>`+"\n", width-1, height-1, t.back, t.edge)
	fmt.Fprintf(&b, `<path d="M.5 %d.5V8.5a8 8 0 0 1 8-8H%d.5a8 8 0 0 1 8 8V%d.5Z" fill="%s" stroke="%s"/>`+"\n", barHeight, width-9, barHeight, t.bar, t.edge)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="5" fill="%s"/>`+"\n", margin+5+18*i, barHeight/2, t.edge)
	}
	for i, l := range lines {
		if l.text != "" {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, barHeight+margin+lineHeight*i+fontSize, l.spans())
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// line is a line of a terminal.
type line struct {
	text    string
	command bool
}

// lines returns the lines of all examples, with a blank one before each further command.
func (r *Recording) lines() []line {
	var lines []line
	for i, e := range r.Examples {
		if i > 0 {
			lines = append(lines, line{})
		}
		for j, text := range strings.Split(e.Command, "\n") {
			lines = append(lines, line{map[bool]string{true: "$ ", false: "> "}[j == 0] + text, true})
		}
		if want := strings.Trim(e.Want, "\n"); want != "" {
			for text := range strings.SplitSeq(want, "\n") {
				lines = append(lines, line{text: text})
			}
		}
	}
	return lines
}

// rule colours the groups of a pattern, each in a style.
type rule struct {
	what   *regexp.Regexp
	styles []string
}

// rules returns lynqctl's own colours in a terminal. internal/ui has the originals.
func rules() []rule {
	const object = `^(\S+)  [A-Z]\w+ \S+  `
	return []rule{
		{regexp.MustCompile(`^(\.\.\.|@@.*)$`), []string{"f"}},
		{regexp.MustCompile(`^((?:---|\+\+\+) .*)$`), []string{"b"}},
		{regexp.MustCompile(`^(\+.*)$`), []string{"g"}},
		{regexp.MustCompile(`^(-.*)$`), []string{"r"}},
		{regexp.MustCompile(`^  (\+ \w+)`), []string{"g"}},
		{regexp.MustCompile(`^  (~ update|- orphan)`), []string{"w"}},
		{regexp.MustCompile(`^  (- delete|! \w+)`), []string{"r"}},
		{regexp.MustCompile(object + `(create\b)`), []string{"b", "g"}},
		{regexp.MustCompile(object + `(update\b)`), []string{"b", "w"}},
		{regexp.MustCompile(object + `(delete\b)`), []string{"b", "r"}},
		{regexp.MustCompile(object + `(\w+) \(`), []string{"b", "g"}},
		{regexp.MustCompile(`^(\S+)  namespace `), []string{"b"}},
		{regexp.MustCompile(`^([A-Z]+(?: +[A-Z]+)+)$`), []string{"b"}},
		{regexp.MustCompile(`^(\d+ nodes?: .*)$`), []string{"b"}},
		{regexp.MustCompile(`^\S+ +\d+/\d+ +(Ready)\b`), []string{"g"}},
	}
}

// spans returns a line as SVG.
func (l line) spans() string {
	if l.command {
		return `<tspan class="f">` + html.EscapeString(l.text[:2]) + `</tspan><tspan class="b">` + html.EscapeString(l.text[2:]) + `</tspan>`
	}
	for _, r := range rules() {
		m := r.what.FindStringSubmatchIndex(l.text)
		if m == nil {
			continue
		}
		var b strings.Builder
		at := 0
		for i, style := range r.styles {
			from, to := m[2*i+2], m[2*i+3]
			fmt.Fprintf(&b, `%s<tspan class="%s">%s</tspan>`, html.EscapeString(l.text[at:from]), style, html.EscapeString(l.text[from:to]))
			at = to
		}
		return b.String() + html.EscapeString(l.text[at:])
	}
	return html.EscapeString(l.text)
}
