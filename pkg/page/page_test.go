package page_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/page"
)

// hostile is a text that would be markup or a script without escaping.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(1)>" onclick="alert(1)`

func example() *page.Page {
	return &page.Page{
		Title: "lynqctl diff", Facts: []string{"1 of 3 nodes would change"},
		Notices: []page.Notice{{Label: "refused", Text: hostile, Fix: "check the rows"}},
		Tables:  []page.Table{{Title: "Nodes", Columns: []page.Column{{Name: "NODE", Filters: true}, {Name: "STATUS", Toned: true, Filters: true}}, Rows: []page.Row{{Cells: []string{"acme-web", hostile}, Tone: page.Bad}}}},
		Nodes: []page.Node{{Name: "acme-web", Where: "namespace shop, form web", Objects: []page.Object{
			{Name: "ConfigMap shop/acme", Action: "update", Cause: "row (column plan)", Note: hostile, Group: "#1" + hostile, Diff: "--- live\n+++ next\n@@ -1 +1 @@\n-plan: gold\n+plan: " + hostile + "\n"},
		}}},
	}
}

func written(t *testing.T, p *page.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWrite wants the same page for the same report, with escaped texts, and without
// requests.
func TestWrite(t *testing.T) {
	text := written(t, example())
	if text != written(t, example()) {
		t.Error("two pages of one report differ")
	}
	if n := strings.Count(text, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	for _, markup := range []string{"<img", "<link", "http://", "https://", `" onclick`} {
		t.Run(markup, func(t *testing.T) {
			if strings.Contains(text, markup) {
				t.Errorf("the page has %s", markup)
			}
		})
	}
	for _, want := range []string{"acme-web", `<span class="removed">-plan: gold</span>`, `<td data-filter="acme-web">acme-web</td><td class="bad long" data-filter="&lt;`, `update row (column plan) #1&lt;`, `<span class="soft">#1&lt;`, "check the rows", "lynqctl diff", `<span class="worry">1 update</span>`, `data-filter="update">1 update</span>`} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(text, want) {
				t.Errorf("the page lacks %s", want)
			}
		})
	}
}

// TestNotices wants the first notices of each label, and the others folded.
func TestNotices(t *testing.T) {
	p := &page.Page{Title: "lynqctl diff"}
	for i := range 8 {
		p.Notices = append(p.Notices, page.Notice{Label: "failed", Text: fmt.Sprint("node ", i)}, page.Notice{Label: "leaving", Text: fmt.Sprint("row ", i), Tone: page.Worry})
	}
	shown, folded, _ := strings.Cut(written(t, p), "<details><summary>3 more: failed</summary>")
	for text, want := range map[string]string{"node 4": shown, "node 5": folded, "row 0": folded, "<details><summary>3 more: leaving</summary>": folded} {
		t.Run(text, func(t *testing.T) {
			if !strings.Contains(want, text) {
				t.Errorf("%q isn't where it belongs", text)
			}
		})
	}
	if strings.Contains(shown, "node 5") || !strings.Contains(folded, `<div class="notice worry">`) {
		t.Errorf("the page shows\n%s\nand folds\n%s", shown, folded)
	}
}

// TestClosed wants each opened element closed.
func TestClosed(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(written(t, example())))
	d.Strict = false
	d.AutoClose = []string{"meta", "input"}
	d.Entity = xml.HTMLEntity
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Errorf("%d elements are open at the end", depth)
	}
}

// TestWriteFails wants an error if a write fails.
func TestWriteFails(t *testing.T) {
	if err := page.Write(broken{}, example()); err == nil {
		t.Error("no error")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }
