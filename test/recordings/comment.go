package recordings

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// part is a piece of a comment, one line of Markdown each. A table and code have several.
type part struct {
	kind  partKind
	text  string
	lines []string
}

type partKind int

// The kinds of parts. They are what lynqctl writes, and all that a comment may have.
const (
	partText partKind = iota
	partHeading
	partItem
	partTable
	partCode
	partOpen   // the summary of details that a reader opened
	partFolded // the summary of others
)

// parts reads a comment. It shows details open, unless the page leaves out what is in them.
func parts(markdown string) ([]part, error) {
	summary := regexp.MustCompile(`^<details><summary>(.*)</summary>$`)
	var all []part
	folded := false
	var code *part
	lines := strings.Split(markdown, "\n")
	for i, line := range lines {
		m := summary.FindStringSubmatch(line)
		switch {
		case code != nil && line == code.text:
			all, code = append(all, part{kind: partCode, lines: code.lines}), nil
		case code != nil:
			code.lines = append(code.lines, line)
		case strings.HasPrefix(line, "```"):
			code = &part{text: strings.TrimRight(line, "abcdefghijklmnopqrstuvwxyz")}
		case m != nil && i+1 < len(lines) && lines[i+1] == "...":
			all, folded = append(all, part{kind: partFolded, text: m[1]}), true
		case m != nil:
			all = append(all, part{kind: partOpen, text: m[1]})
		case line == "</details>":
			folded = false
		case folded || line == "" || strings.HasPrefix(line, "|---"):
		case strings.HasPrefix(line, "<"):
			return nil, fmt.Errorf("a comment with %q can't be drawn (teach test/recordings to)", line)
		case strings.HasPrefix(line, "| "):
			if n := len(all); n == 0 || all[n-1].kind != partTable {
				all = append(all, part{kind: partTable})
			}
			table := &all[len(all)-1]
			table.lines = append(table.lines, line)
		case strings.HasPrefix(line, "### "):
			all = append(all, part{kind: partHeading, text: line[len("### "):]})
		case strings.HasPrefix(line, "- "):
			all = append(all, part{kind: partItem, text: line[len("- "):]})
		default:
			all = append(all, part{text: line})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the comment has no text")
	}
	return all, nil
}

// word is a word of a paragraph with its style: "" for none, b for bold, c for code.
type word struct{ text, style string }

// words returns the words of a line of Markdown.
func words(line string) []word {
	piece := regexp.MustCompile("\\*\\*((?:\\\\.|[^*\\\\])+)\\*\\*|<b>(.*?)</b>|`([^`]+)`|(?:\\\\.|[^*`<\\\\])+|.")
	var all []word
	glued := false // to the word before
	for _, m := range piece.FindAllStringSubmatch(line, -1) {
		text, style := m[0], ""
		switch {
		case m[1] != "" || m[2] != "":
			text, style = m[1]+m[2], "b"
		case m[3] != "":
			text, style = m[3], "c"
		}
		if style != "c" {
			text = html.UnescapeString(regexp.MustCompile(`\\(.)`).ReplaceAllString(text, "$1"))
		}
		for i, w := range strings.Split(text, " ") {
			switch {
			case w == "":
			case i == 0 && glued:
				all = append(all, word{w, style + "+"})
			default:
				all = append(all, word{w, style})
			}
		}
		glued = !strings.HasSuffix(text, " ")
	}
	return all
}

// wide is about the width of a word in the widest of the usual fonts.
func (w word) wide() float64 {
	width := 8.0
	if strings.HasPrefix(w.style, "b") {
		width = 8.8
	}
	return width * float64(utf8.RuneCountInString(w.text))
}

// space is the width between two words.
const space = 5

// wrapped returns lines of words that fit a width, as the content of a text element.
func wrapped(all []word, width float64) []string {
	var lines []string
	var b strings.Builder
	at := 0.0
	for _, w := range all {
		style, glued := strings.CutSuffix(w.style, "+")
		if at > 0 && !glued {
			if at+space+w.wide() > width {
				lines = append(lines, b.String())
				b.Reset()
				at = 0
			} else {
				b.WriteString(" ")
				at += space
			}
		}
		text := html.EscapeString(w.text)
		if style != "" {
			text = `<tspan class="` + style + `">` + text + `</tspan>`
		}
		b.WriteString(text)
		at += w.wide()
	}
	return append(lines, b.String())
}

// The sizes of a comment.
const (
	commentWide = 860
	headHigh    = 36
	lineHigh    = 21
	codeHigh    = 18
	partGap     = 9
)

// sheet is the drawing of a comment, from the top down.
type sheet struct {
	strings.Builder
	y int
}

// commentSVG returns a comment in a theme. The same comment always gives the same bytes.
func commentSVG(title string, all []part, t Theme) string {
	s := &sheet{y: headHigh + margin}
	for i, p := range all {
		s.part(p)
		if next := i + 1; next < len(all) && p.kind == partItem && all[next].kind == partItem {
			continue
		}
		s.y += partGap
	}
	height := s.y + margin - partGap
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", commentWide, height, commentWide, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(title))
	const mono = `ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace`
	fmt.Fprintf(&b, `<style>text{font:14px -apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:%s}.h{font-size:17px;font-weight:600}.b{font-weight:600}.c{font:12.5px %s}.d{font:12px %s;white-space:pre}.f{fill:%s}.g{fill:%s}.r{fill:%s}.box{fill:%s}.edge{fill:none;stroke:%s}</style>`+"\n",
		t.text, mono, mono, t.faint, t.good, t.fail, t.bar, t.edge)
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%d" height="%d" rx="6" fill="%s" stroke="%s"/>`+"\n", commentWide-1, height-1, t.back, t.edge)
	fmt.Fprintf(&b, `<path d="M.5 %d.5V6.5a6 6 0 0 1 6-6H%d.5a6 6 0 0 1 6 6V%d.5Z" fill="%s" stroke="%s"/>`+"\n", headHigh, commentWide-7, headHigh, t.bar, t.edge)
	fmt.Fprintf(&b, `<text x="%d" y="23"><tspan class="b">github-actions</tspan> <tspan class="f">bot commented</tspan></text>`+"\n", margin)
	b.WriteString(s.String())
	b.WriteString("</svg>\n")
	return b.String()
}

func (s *sheet) part(p part) {
	const width = commentWide - 2*margin
	switch p.kind {
	case partHeading:
		s.paragraph("h", margin, width*14/17, words(p.text))
	case partItem:
		fmt.Fprintf(&s.Builder, `<text x="%d" y="%d">•</text>`+"\n", margin+8, s.y+15)
		s.paragraph("", margin+24, width-24, words(p.text))
	case partOpen, partFolded:
		sign := "▸"
		if p.kind == partOpen {
			sign = "▾"
		}
		fmt.Fprintf(&s.Builder, `<text x="%d" y="%d">%s</text>`+"\n", margin, s.y+15, sign)
		s.paragraph("", margin+16, width-16, words(p.text))
	case partTable:
		s.table(p.lines, width)
	case partCode:
		s.code(p.lines, width)
	default:
		s.paragraph("", margin, width, words(p.text))
	}
}

func (s *sheet) paragraph(class string, x, width int, all []word) {
	for _, line := range wrapped(all, float64(width)) {
		fmt.Fprintf(&s.Builder, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, s.y+15, line)
		s.y += lineHigh
	}
}

// code draws a diff in its colours. A line that is too long is cut.
func (s *sheet) code(lines []string, width int) {
	const columns = 108
	fmt.Fprintf(&s.Builder, `<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", margin, s.y, width, codeHigh*len(lines)+16)
	for i, line := range lines {
		class := "d"
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			class += " f"
		case strings.HasPrefix(line, "+"):
			class += " g"
		case strings.HasPrefix(line, "-"):
			class += " r"
		}
		if utf8.RuneCountInString(line) > columns {
			line = string([]rune(line)[:columns-1]) + "…"
		}
		fmt.Fprintf(&s.Builder, `<text class="%s" x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", class, margin+12, s.y+codeHigh*(i+1)+2, html.EscapeString(line))
	}
	s.y += codeHigh*len(lines) + 16
}

// table draws rows. The last column takes the width that the others leave.
func (s *sheet) table(rows []string, width int) {
	var cells [][][]word
	var wide []int
	for _, row := range rows {
		var of [][]word
		for c, text := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "| "), " |"), " | ") {
			all, w := words(text), 24.0
			for _, one := range all {
				w += one.wide() + space
			}
			if c == len(wide) {
				wide = append(wide, 0)
			}
			wide[c] = max(wide[c], int(w))
			of = append(of, all)
		}
		cells = append(cells, of)
	}
	last := len(wide) - 1
	left := width
	for _, w := range wide[:last] {
		left -= w
	}
	wide[last] = left
	top := s.y
	for r, of := range cells {
		x, begin, end := margin, s.y, s.y
		for c, all := range of {
			s.y = begin + 6
			class := ""
			if r == 0 {
				class = "b"
			}
			s.paragraph(class, x+10, wide[c]-20, all)
			end = max(end, s.y+4)
			x += wide[c]
		}
		s.y = end
		fmt.Fprintf(&s.Builder, `<rect class="edge" x="%d.5" y="%d.5" width="%d" height="%d"/>`+"\n", margin, begin, width, s.y-begin)
	}
	x := margin
	for _, w := range wide[:last] {
		x += w
		fmt.Fprintf(&s.Builder, `<path class="edge" d="M%d.5 %dV%d"/>`+"\n", x, top, s.y)
	}
}
