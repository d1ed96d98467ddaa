package recordings

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// Picture is boxes in a grid, with arrows between them.
type Picture struct {
	Name, Title string
	Boxes       []Box
	Arrows      []Arrow
}

// Box has a column and a row. The first line of its text is its name.
type Box struct {
	Column, Row int
	Text        string
	Tone        string // class of its edge: "", "g", "w" or "r"
}

// Arrow leads from one box to another, both given by name. It turns once if they share
// neither row nor column, and then starts sideways unless it starts upright.
type Arrow struct {
	From, To, Label string
	Upright         bool
}

// The sizes of a picture. Three columns fit a page at a readable size.
const (
	boxWide   = 184
	gapWide   = 124
	gapHigh   = 64
	textHigh  = 17
	textFirst = 24
)

// SVG returns the picture in a theme. The same picture always gives the same bytes.
func (p *Picture) SVG(t Theme) string {
	columns, rows := 0, 0
	for _, b := range p.Boxes {
		columns, rows = max(columns, b.Column+1), max(rows, b.Row+1)
	}
	width := columns*boxWide + (columns-1)*gapWide + 2*margin
	height := rows*p.boxHigh() + (rows-1)*gapHigh + 2*margin
	var b strings.Builder
	drawFrame(&b, t, p.Title, width, height)
	for _, a := range p.Arrows {
		p.arrow(&b, a)
	}
	for _, box := range p.Boxes {
		x, y := p.corner(box)
		fmt.Fprintf(&b, `<rect class="box %s" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+"\n", box.Tone, x, y, boxWide, p.boxHigh())
		for i, line := range strings.Split(box.Text, "\n") {
			class := "n"
			if i > 0 {
				class = "t"
			}
			drawText(&b, class, x+boxWide/2, y+textFirst+textHigh*i, line)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawFrame begins an SVG with the theme's styles.
func drawFrame(b *strings.Builder, t Theme, title string, width, height int) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(b, "<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(b, `<style>text{font:12px -apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:%s}.n{font-size:13px;font-weight:600}.l{fill:%s}.box{fill:%s;stroke:%s;stroke-width:1.5}.g{stroke:%s}.w{stroke:%s}.r{stroke:%s}.a{fill:none;stroke:%s;stroke-width:1.5;marker-end:url(#head)}.bar{fill:%s}.best{fill:%s}</style>`+"\n",
		t.text, t.faint, t.bar, t.edge, t.good, t.worry, t.fail, t.faint, t.edge, t.good)
	fmt.Fprintf(b, `<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10Z" fill="%s"/></marker>`+"\n", t.faint)
	fmt.Fprintf(b, `<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n", width, height, t.back)
}

func drawText(b *strings.Builder, class string, x, y int, text string) {
	fmt.Fprintf(b, `<text class="%s" x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", class, x, y, html.EscapeString(text))
}

// boxHigh returns the height of all boxes, which the longest text needs.
func (p *Picture) boxHigh() int {
	lines := 0
	for _, b := range p.Boxes {
		lines = max(lines, strings.Count(b.Text, "\n"))
	}
	return textFirst + textHigh*lines + 14
}

// corner returns the upper left corner of a box.
func (p *Picture) corner(b Box) (x, y int) {
	return margin + b.Column*(boxWide+gapWide), margin + b.Row*(p.boxHigh()+gapHigh)
}

// named returns the box with a name.
func (p *Picture) named(name string) Box {
	i := slices.IndexFunc(p.Boxes, func(b Box) bool { return b.name() == name })
	return p.Boxes[i]
}

func (b Box) name() string {
	name, _, _ := strings.Cut(b.Text, "\n")
	return name
}

// arrow draws an arrow with its label.
func (p *Picture) arrow(b *strings.Builder, a Arrow) {
	from, to := p.named(a.From), p.named(a.To)
	fx, fy := p.corner(from)
	tx, ty := p.corner(to)
	high := p.boxHigh()
	midX, midY := boxWide/2, high/2
	right, down := sign(to.Column-from.Column), sign(to.Row-from.Row)
	shift := 0
	if slices.ContainsFunc(p.Arrows, func(back Arrow) bool { return back.From == a.To && back.To == a.From }) {
		shift = 10 * (right + down) // beside the arrow back
	}
	lines := strings.Split(a.Label, "\n")
	switch {
	case down == 0:
		x1, x2, y := fx+midX+right*midX, tx+midX-right*midX, fy+midY-shift
		fmt.Fprintf(b, `<path class="a" d="M%d %dH%d"/>`+"\n", x1, y, x2)
		drawLabel(b, (x1+x2)/2, y, shift < 0, lines)
	case right == 0:
		y1, y2, x := fy+midY+down*midY, ty+midY-down*midY, fx+midX+shift
		fmt.Fprintf(b, `<path class="a" d="M%d %dV%d"/>`+"\n", x, y1, y2)
		for i, line := range lines {
			fmt.Fprintf(b, `<text class="l" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", x-8, (y1+y2)/2+4+15*i-15*(len(lines)-1)/2, html.EscapeString(line))
		}
	case a.Upright:
		x1, x2, y := fx+midX, tx+midX-right*midX, ty+midY
		fmt.Fprintf(b, `<path class="a" d="M%d %dV%dH%d"/>`+"\n", x1, fy+midY+down*midY, y, x2)
		drawLabel(b, (x1+x2)/2, y, false, lines)
	default:
		x1, y := fx+midX+right*midX, fy+midY
		fmt.Fprintf(b, `<path class="a" d="M%d %dH%dV%d"/>`+"\n", x1, y, tx+midX, ty+midY-down*midY)
		drawLabel(b, (x1+tx+midX)/2, y, false, lines)
	}
}

// drawLabel draws a label above a horizontal line, or below.
func drawLabel(b *strings.Builder, x, y int, below bool, lines []string) {
	for i, line := range lines {
		at := y - 7 - 15*(len(lines)-1-i)
		if below {
			at = y + 16 + 15*i
		}
		drawText(b, "l", x, at, line)
	}
}

func sign(n int) int { return min(1, max(-1, n)) }
