package recordings

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// Bar is a line of a chart.
type Bar struct {
	Name    string
	Seconds float64
}

// Bars reads a part of the table of whole processes from the text of docs/performance.md, by
// the number in the first column. The numbers are the milliseconds of CSV.
func Bars(page, rows string) ([]Bar, error) {
	_, part, found := strings.Cut(page, "\n| "+rows+" | `floor` | ")
	if !found {
		return nil, fmt.Errorf("docs/performance.md has no row %q with `floor`", rows)
	}
	part, _, _ = strings.Cut("| | `floor` | "+part, "\n| 1")
	said := map[string]string{"floor": "a loop, no checks", "lynqctl": "lynqctl", "lynqctl-stream": "lynqctl --stream", "usual": "the usual way"}
	var bars []Bar
	for _, m := range regexp.MustCompile("(?m)^\\| \\| `([a-z-]+)` \\| ([0-9.]+) \\|").FindAllStringSubmatch(part, -1) {
		ms, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, err
		}
		bars = append(bars, Bar{said[m[1]], ms / 1000})
	}
	return bars, nil
}

// The sizes of a chart.
const (
	barWide = 520
	barHigh = 30
	barFrom = 150
)

// Chart returns bars as SVG in a theme. Those of lynqctl stand out.
func Chart(title string, bars []Bar, t Theme) string {
	most := 0.0
	for _, bar := range bars {
		most = max(most, bar.Seconds)
	}
	var b strings.Builder
	drawFrame(&b, t, title, barFrom+barWide+80+margin, 2*margin+barHigh*(len(bars)+1))
	fmt.Fprintf(&b, `<text class="n" x="%d" y="%d">%s</text>`+"\n", margin, margin+14, html.EscapeString(title))
	for i, bar := range bars {
		y, wide := margin+barHigh*(i+1), max(2, int(barWide*bar.Seconds/most))
		class := "bar"
		if strings.HasPrefix(bar.Name, "lynqctl") {
			class = "best"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, y+15, html.EscapeString(bar.Name))
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="2"/>`+"\n", class, barFrom, y, wide, barHigh-8)
		fmt.Fprintf(&b, `<text class="l" x="%d" y="%d">%.2g s</text>`+"\n", barFrom+wide+8, y+15, bar.Seconds)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
