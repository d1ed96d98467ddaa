package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq/markdown"
)

// Page is a report.
type Page struct {
	Title string
	// Facts summarize the report, and Notices say what is wrong.
	Facts   []string
	Notices []Notice
	Tables  []Table
	// Forms are edited forms. They have no Action.
	Forms []Object
	// Nodes are folded until the reader opens them.
	Nodes []Node
}

// Notice is something that a person must know.
type Notice struct {
	Label string // such as "refused", "failed"
	Text  string
	Fix   string // "" means none
	Tone  Tone   // Worry if nothing failed
}

// Table is a list.
type Table struct {
	Title   string // "" means none
	Columns []Column
	Rows    []Row
}

// Column is a column of a table. Toned colours its cells by their row's Tone. If scripts run,
// a click on a cell of a column that Filters filters the page by its text.
type Column struct {
	Name           string
	Toned, Filters bool
}

// Row is a line of a table.
type Row struct {
	Cells []string
	Tone  Tone
}

// Tone says how good or bad something is.
type Tone string

// The tones.
const (
	Plain Tone = ""
	Good  Tone = "good"
	Worry Tone = "worry"
	Bad   Tone = "bad"
)

// Node is a node with its changed objects.
type Node struct {
	Name, Where string
	Objects     []Object
}

// Object is a change of one object. Diff is a unified diff, "" for none. Group names its group
// of equal changes, as in #1, or is "".
type Object struct {
	Name, Action, Cause, Note, Diff, Group string
}

//go:embed page.html
var source string

//go:embed page.js
var script string

// Write writes a page. It returns the writer's error.
func Write(w io.Writer, p *Page) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"lines": lines, "text": markdown.Printable, "filter": filterText, "lower": strings.ToLower, "tone": toneOf, "actions": actions,
		"totals": totals, "notices": grouped, "class": class, "filters": filters,
	}).Parse(source)
	if err != nil {
		return fmt.Errorf("internal error: %w", err)
	}
	sum := sha256.Sum256([]byte(script))
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		*Page
		Script template.JS
		Hash   string
	}{p, template.JS(script), base64.StdEncoding.EncodeToString(sum[:])}) //nolint:gosec // the script is this package's own
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// line is a line of a diff.
type line struct{ Class, Text string }

// lines splits a diff into lines with their classes.
func lines(diff string) []line {
	var all []line
	for text := range strings.Lines(diff) {
		l := line{"", markdown.Printable(strings.TrimSuffix(text, "\n"))}
		switch {
		case strings.HasPrefix(text, "---"), strings.HasPrefix(text, "+++"):
			l.Class = "file"
		case strings.HasPrefix(text, "@@"):
			l.Class = "hunk"
		case strings.HasPrefix(text, "+"):
			l.Class = "added"
		case strings.HasPrefix(text, "-"):
			l.Class = "removed"
		}
		all = append(all, l)
	}
	return all
}

// filterText returns the text in which the box searches for a node.
func filterText(n Node) string {
	words := []string{n.Name, n.Where}
	for _, o := range n.Objects {
		words = append(words, o.Name, o.Action, o.Cause, o.Group)
	}
	return strings.ToLower(markdown.Printable(strings.Join(words, " ")))
}

// shownNotices is the number of notices with one label that a page doesn't fold.
const shownNotices = 5

// notices are the notices with one label.
type notices struct {
	Label       string
	First, More []Notice
}

// grouped groups notices by their labels, in the order of the first ones.
func grouped(all []Notice) []notices {
	var groups []notices
	for _, n := range all {
		i := slices.IndexFunc(groups, func(g notices) bool { return g.Label == n.Label })
		if i < 0 {
			i, groups = len(groups), append(groups, notices{Label: n.Label})
		}
		if g := &groups[i]; len(g.First) < shownNotices {
			g.First = append(g.First, n)
		} else {
			g.More = append(g.More, n)
		}
	}
	return groups
}

// longCell is the length from which a cell may break into several lines.
const longCell = 48

// class returns the CSS classes of a cell.
func class(columns []Column, r Row, i int) string {
	var classes []string
	if i < len(columns) && columns[i].Toned && r.Tone != Plain {
		classes = append(classes, string(r.Tone))
	}
	if utf8.RuneCountInString(r.Cells[i]) >= longCell {
		classes = append(classes, "long")
	}
	return strings.Join(classes, " ")
}

// filters reports whether the cells of a column filter the page.
func filters(columns []Column, i int) bool { return i < len(columns) && columns[i].Filters }

// totals counts the actions on the objects of all nodes, deletions first.
func totals(nodes []Node) []toned {
	var objects []Object
	for i := range nodes {
		objects = append(objects, nodes[i].Objects...)
	}
	all := actions(objects)
	order := []Tone{Bad, Worry, Good, Plain}
	slices.SortStableFunc(all, func(a, b toned) int { return slices.Index(order, a.Tone) - slices.Index(order, b.Tone) })
	return all
}

// toned is a count of an action, with its tone.
type toned struct {
	Word, Text string
	Tone       Tone
}

// actions counts the actions on the objects of a node, in their order.
func actions(objects []Object) []toned {
	counts := map[string]int{}
	var order []string
	for _, o := range objects {
		if counts[o.Action]++; counts[o.Action] == 1 {
			order = append(order, o.Action)
		}
	}
	all := make([]toned, len(order))
	for i, a := range order {
		all[i] = toned{a, fmt.Sprintf("%d %s", counts[a], a), toneOf(a)}
	}
	return all
}

// toneOf returns the tone of an action.
func toneOf(what string) Tone {
	switch word, _, _ := strings.Cut(what, " "); word {
	case "create", "adopt", "added":
		return Good
	case "delete", "collect", "recreate", "purge", "removed":
		return Bad
	case "update", "orphan", "release", "track", "changed":
		return Worry
	}
	return Plain
}
