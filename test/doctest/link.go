package doctest

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Problem is an error in a line of a page.
type Problem struct {
	Path string
	Line int
	What string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.What) }

// problem returns a Problem of this page.
func (p *Page) problem(line int, format string, args ...any) Problem {
	return Problem{Path: p.Path, Line: line, What: fmt.Sprintf(format, args...)}
}

// Links checks links to files and headings below a folder. It wants the first page to lead
// to all others. A page leads to those in the folder with its name. Of links to other places,
// Links checks only the form.
func Links(root string, pages []*Page) []Problem {
	anchors := map[string]map[string]bool{}
	for _, p := range pages {
		anchors[p.Path] = p.anchors()
	}
	var problems []Problem
	index := map[string]bool{pages[0].Path: true}
	for _, p := range pages {
		for _, l := range p.links() {
			if what := broken(root, anchors, p.Path, l.Text); what != "" {
				problems = append(problems, p.problem(l.Line, "%s", what))
			}
			link, _, _ := strings.Cut(l.Text, "#")
			target := path.Join(path.Dir(p.Path), link)
			if p == pages[0] || path.Dir(target)+".md" == p.Path {
				index[target] = true
			}
		}
	}
	for _, p := range pages {
		if !index[p.Path] {
			problems = append(problems, p.problem(1, "%s does not lead here", pages[0].Path))
		}
	}
	return problems
}

// broken says what is wrong with a link of a page, or returns "".
func broken(root string, anchors map[string]map[string]bool, page, link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return fmt.Sprintf("link %q: %v", link, err)
	}
	if u.Scheme != "" || u.Host != "" {
		if u.Scheme != "https" || !strings.Contains(u.Host, ".") {
			return fmt.Sprintf("link %q is no address with https", link)
		}
		return ""
	}
	target := page
	if u.Path != "" {
		target = path.Join(path.Dir(page), u.Path)
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil || strings.HasPrefix(target, "../") {
			return fmt.Sprintf("link %q leads to no file of the tree", link)
		}
	}
	if u.Fragment == "" {
		return ""
	}
	headings, isPage := anchors[target]
	if !isPage {
		return fmt.Sprintf("link %q leads to a heading of what is no page", link)
	}
	if !headings[u.Fragment] {
		return fmt.Sprintf("link %q: %s has no such heading", link, target)
	}
	return ""
}

// links returns the targets of a page's links, with their lines.
func (p *Page) links() []Paragraph {
	link := regexp.MustCompile(`(?:\]\(|<(?:img|source) [^>]*src(?:set)?=")([^()\s"]+)`)
	var links []Paragraph
	for _, q := range p.Paragraphs {
		text := hideCode(q.Text)
		for _, m := range link.FindAllStringSubmatchIndex(text, -1) {
			links = append(links, Paragraph{q.Line + strings.Count(text[:m[2]], "\n"), text[m[2]:m[3]]})
		}
	}
	return links
}

// Code returns the pieces of code in a page's prose, with their lines.
func (p *Page) Code() []Paragraph {
	var code []Paragraph
	for _, q := range p.Paragraphs {
		for _, m := range inlineCode().FindAllStringSubmatchIndex(q.Text, -1) {
			piece := strings.Join(strings.Fields(q.Text[m[2]:m[3]]), " ")
			code = append(code, Paragraph{q.Line + strings.Count(q.Text[:m[2]], "\n"), piece})
		}
	}
	return code
}

func inlineCode() *regexp.Regexp { return regexp.MustCompile("`([^`]+)`") }

// hideCode blanks code in prose, because code contains no links.
func hideCode(text string) string {
	return inlineCode().ReplaceAllStringFunc(text, func(code string) string {
		return regexp.MustCompile(`[^\n]`).ReplaceAllString(code, "x")
	})
}

// anchors returns the names of places in a page: those of its headings, as GitHub makes
// them, and explicit ones as <a id="NAME"></a>.
func (p *Page) anchors() map[string]bool {
	anchors := map[string]bool{}
	seen := map[string]int{}
	named := regexp.MustCompile(`<a id="([^"]+)"></a>`)
	for _, q := range p.Paragraphs {
		for _, m := range named.FindAllStringSubmatch(hideCode(q.Text), -1) {
			anchors[m[1]] = true
		}
		if !isHeading(q.Text) {
			continue
		}
		name := anchor(strings.TrimLeft(q.Text, "#"))
		if n := seen[name]; n > 0 {
			anchors[fmt.Sprintf("%s-%d", name, n)] = true
		} else {
			anchors[name] = true
		}
		seen[name]++
	}
	return anchors
}

// anchor returns the name of a heading: lower-case letters, digits, dashes, underscores.
func anchor(heading string) string {
	heading = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(strings.TrimSpace(heading), "$1")
	heading = regexp.MustCompile(`[^\p{L}\p{M}\p{N}\- _]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(heading, " ", "-")
}
