package monitoring

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql"
)

// The sizes of the picture in its own units: a cell of Grafana's grid, and the space around
// panels.
const (
	cellWidth, cellHeight = 52.0, 30.0
	gap, head             = 8.0, 40.0
	pictureWidth          = 24*cellWidth + gap
)

// colours returns colours that people can distinguish even if they can't tell red from
// green.
func colours() []string {
	return []string{"#0072b2", "#e69f00", "#009e73", "#cc3311", "#9966cc", "#56b4e9", "#7f7f7f", "#b8860b"}
}

// picture draws panels of the dashboard as SVG.
type picture struct {
	bytes.Buffer
	run *recording
}

// TestPicture wants the picture in docs/metrics.md to show Prometheus' answers to the
// dashboard's queries over the recorded run.
func TestPicture(t *testing.T) {
	t.Parallel()
	d, r := readDashboard(t), readRun(t)
	store := play(t, r, nil)
	rows := 0
	for _, p := range d.Panels {
		rows = max(rows, p.GridPos.Y+p.GridPos.H)
	}
	height := head + float64(rows)*cellHeight + gap
	g := &picture{run: r}
	g.addf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="11" fill="#333">`, pictureWidth, height)
	g.addf(`<title>The dashboard's queries over the recorded run</title><rect width="100%%" height="100%%" fill="#f4f5f5"/>`)
	g.addf(`<text x="%g" y="26" font-size="16" font-weight="bold">lynqctl</text>`, gap)
	for _, p := range d.Panels {
		var all []shown
		for _, target := range p.Targets {
			for _, s := range queryRun(t, r, store, target.Expr) {
				all = append(all, shown{legendOf(target.LegendFormat, s), s})
			}
		}
		slices.SortStableFunc(all, func(a, b shown) int { return strings.Compare(a.name, b.name) })
		g.panel(&p, all)
	}
	g.addf("</svg>")
	sameFile(t, g.String(), "docs", "dashboard.svg")
}

// shown is a series with its name.
type shown struct {
	name   string
	series promql.Series
}

func (g *picture) addf(format string, args ...any) {
	_, _ = fmt.Fprintf(g, format+"\n", args...)
}

// box is the place of a drawing, with the values of its borders.
type box struct{ x, y, w, h, from, till, low, high float64 }

func (g *picture) panel(p *dashboardPanel, all []shown) {
	x, y := gap+float64(p.GridPos.X)*cellWidth, head+float64(p.GridPos.Y)*cellHeight
	w, h := float64(p.GridPos.W)*cellWidth-gap, float64(p.GridPos.H)*cellHeight-gap
	g.addf(`<rect x="%g" y="%g" width="%g" height="%g" rx="2" fill="#fff" stroke="#ddd"/>`, x, y, w, h)
	g.addf(`<text x="%g" y="%g" font-weight="bold">%s</text>`, x+8, y+17, html.EscapeString(p.Title))
	if p.Type == "stat" {
		last := all[0].series.Floats[len(all[0].series.Floats)-1]
		g.addf(`<text x="%g" y="%g" font-size="26" text-anchor="middle" fill="#0072b2">%s</text>`, x+w/2, y+h/2+20, inUnit(last.F, p.FieldConfig.Defaults.Unit))
		return
	}
	b := box{x: x + 44, y: y + 28, w: w - 56, h: h - 76, till: g.run.end().Minutes() * slower}
	if p.FieldConfig.Defaults.Custom.Stacking.Mode == "normal" {
		stack(all)
	}
	b.scale(p, all)
	g.axes(&b, p.FieldConfig.Defaults.Unit)
	for i, s := range all {
		g.line(&b, s.series, colours()[i%len(colours())])
	}
	g.legend(x+8, y+h-20, w-16, all)
}

// stack puts each series on top of those before it.
func stack(all []shown) {
	sums := map[int64]float64{}
	for i := range all {
		points := slices.Clone(all[i].series.Floats)
		for j := range points {
			sums[points[j].T] += points[j].F
			points[j].F = sums[points[j].T]
		}
		all[i].series.Floats = points
	}
}

// scale finds the values of the box's lower and upper border.
func (b *box) scale(p *dashboardPanel, all []shown) {
	if p.FieldConfig.Defaults.Min != nil {
		b.low = *p.FieldConfig.Defaults.Min
	}
	for _, s := range all {
		for _, point := range s.series.Floats {
			if !math.IsNaN(point.F) {
				b.low, b.high = min(b.low, point.F), max(b.high, point.F)
			}
		}
	}
	if b.high == 0 && b.low < 0 {
		return
	}
	b.high *= 1.02
	step := math.Pow(10, math.Floor(math.Log10(max(b.high, 0.01))))
	for _, times := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10} {
		if times*step >= b.high {
			b.high = times * step
			break
		}
	}
}

func (g *picture) axes(b *box, unit string) {
	for i := range 3 {
		value := b.low + (b.high-b.low)*float64(i)/2
		y := b.y + b.h - b.h*float64(i)/2
		g.addf(`<path d="M%g %gh%g" stroke="#e5e5e5"/><text x="%g" y="%g" font-size="9" text-anchor="end">%s</text>`, b.x, y, b.w, b.x-4, y+3, inUnit(value, unit))
	}
	for minutes := 0.0; minutes <= b.till; minutes += 30 {
		g.addf(`<text x="%.1f" y="%g" font-size="9" text-anchor="middle">%.0f min</text>`, b.x+b.w*minutes/b.till, b.y+b.h+13, minutes)
	}
}

// line draws a series. It skips points without a value or a change.
func (g *picture) line(b *box, s promql.Series, colour string) {
	var path bytes.Buffer
	last := int64(0)
	for i, point := range s.Floats {
		if math.IsNaN(point.F) {
			continue
		}
		at := timestamp.Time(point.T).Sub(g.run.began)
		x, y := b.x+b.w*(at.Minutes()-b.from)/(b.till-b.from), b.y+b.h-b.h*(point.F-b.low)/(b.high-b.low)
		switch joined := point.T-last <= time.Minute.Milliseconds(); {
		case !joined:
			fmt.Fprintf(&path, "M%.1f %.1f", x, y)
		case i+1 < len(s.Floats) && s.Floats[i-1].F == point.F && s.Floats[i+1].F == point.F && s.Floats[i+1].T-point.T <= time.Minute.Milliseconds():
		default:
			fmt.Fprintf(&path, "L%.1f %.1f", x, y)
		}
		last = point.T
	}
	g.addf(`<path d="%s" fill="none" stroke="%s" stroke-width="1.4" stroke-linecap="round"/>`, path.String(), colour)
}

// legend names the series, in lines.
func (g *picture) legend(x, y, w float64, all []shown) {
	at := 0.0
	for i, s := range all {
		wide := 24 + 5.6*float64(len(s.name))
		if at > 0 && at+wide > w {
			at, y = 0, y+13
		}
		g.addf(`<path d="M%.1f %gh10" stroke="%s" stroke-width="3"/><text x="%.1f" y="%g" font-size="10">%s</text>`, x+at, y-3, colours()[i%len(colours())], x+at+14, y, html.EscapeString(s.name))
		at += wide
	}
}

// inUnit returns a value about as Grafana shows it.
func inUnit(v float64, unit string) string {
	short := strconv.FormatFloat(v, 'g', 2, 64)
	if math.Abs(v) >= 100 {
		short = strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	switch unit {
	case "s":
		if v >= 120 {
			return strconv.FormatFloat(v/60, 'f', 0, 64) + " min"
		}
		return short + " s"
	case "reqps":
		return short + " /s"
	}
	return short
}
