package diff

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/markdown"
	"github.com/lynqctl/lynqctl/pkg/page"
)

func reportOf(nodes, objects int, text string) *Report {
	r := &Report{Total: nodes}
	for i := range nodes {
		n := Node{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Namespace: "shop", Name: fmt.Sprintf("n%04d-web", i)}}
		for j := range objects {
			o := Object{
				Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("o%d", j)}, Action: "update",
				Before: "a: 1\n", After: text, Cause: Cause{Kind: CauseDrift},
			}
			o.Diff = o.unified()
			n.Objects = append(n.Objects, o)
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

func TestMarkdown(t *testing.T) {
	r := reportOf(1, 1, "a: 2\n")
	r.Total = 3
	r.Refusals = []limits.Refusal{{Guard: "max-delete", Hub: lynq.HubKey{Name: "crm"}, What: "2 of 3 nodes would go"}}
	r.Nodes = append(r.Nodes, Node{NodeID: lynq.NodeID{Name: "x-web"}, Problem: "it <b>failed</b>"})
	want := "### lynqctl diff: 1 of 3 nodes would change\n" +
		"\n- **refused** (max-delete, hub `crm`): 2 of 3 nodes would go\n- **failed**: node `x-web`: it &lt;b&gt;failed&lt;/b&gt;\n" +
		"\n| node | object | action | cause |\n|---|---|---|---|\n| `n0000-web` | `ConfigMap shop/o0` | update | drift |\n" +
		"\n<details><summary><b>n0000-web</b> (namespace shop, form web)</summary>\n" +
		"\n**`ConfigMap shop/o0`** update: drift\n" +
		"\n```diff\n--- live/ConfigMap/shop/o0\n+++ next/ConfigMap/shop/o0\n@@ -1,1 +1,1 @@\n-a: 1\n+a: 2\n```\n\n</details>\n"
	if d := cmp.Diff(want, Markdown(r)); d != "" {
		t.Error(d)
	}
	if got := Markdown(&Report{Total: 2}); got != "### lynqctl diff: nothing would change\n" {
		t.Error(got)
	}
}

// A reason that many nodes share is told once.
func TestMarkdownOfOneReason(t *testing.T) {
	r := reportOf(3, 0, "")
	for i := range r.Nodes {
		r.Nodes[i].Problem = "secrets is forbidden"
	}
	want := "### lynqctl diff: 0 of 3 nodes would change\n\n- **failed**: node `" + r.Nodes[0].Name + "` and 2 others: secrets is forbidden\n"
	if got := Markdown(r); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// ofOwnForms gives each node a form of its own, or that many nodes one, so that others don't
// change in the same way.
func ofOwnForms(r *Report, nodes ...int) *Report {
	for i := range r.Nodes {
		at := i
		if len(nodes) > 0 {
			at /= nodes[0]
		}
		r.Nodes[i].Form.Name = fmt.Sprint("form", at)
	}
	return r
}

// A comment is never longer than a forge takes, is whole Markdown then, and says
// how much is left out.
func TestMarkdownIsBounded(t *testing.T) {
	problems := reportOf(5000, 0, "")
	for i := range problems.Nodes {
		problems.Nodes[i].Problem = strings.Repeat("x", 50) + strings.NewReplacer("1", "a", "0", "b").Replace(strconv.FormatInt(int64(i), 2)) // numbers alone make no other cause
	}
	for _, tt := range []struct {
		name  string
		r     *Report
		wants string
	}{
		{"many nodes", ofOwnForms(reportOf(3000, 2, "a: 2\n")), "| ... | and "},
		{"many nodes that change in one way", reportOf(3000, 2, "a: 2\n"), " and 2800 more"},
		{"many groups", ofOwnForms(reportOf(24_000, 1, "a: 2\n"), 12), "more groups**"},
		{"many objects", reportOf(1, 6000, "a: 2\n"), "objects are left out**"},
		{"large objects", reportOf(20, 1, strings.Repeat("b: 2\n", 30_000)), "more lines left out"},
		{"text of several bytes a character", reportOf(20, 1, strings.Repeat("b: 日本 é 😀\n", 30_000)), "more lines left out"},
		{"one long line", reportOf(3, 1, "a: "+strings.Repeat("x", 200_000)+"\n"), "more line left out"},
		{"many problems", problems, "more problems"},
		{"a huge cause", func() *Report {
			r := reportOf(1, 1, "a: 2\n")
			r.Nodes[0].Objects[0].Cause = Cause{Kind: CauseDrift, Manager: &Manager{Name: strings.Repeat("m", 100_000)}}
			return r
		}(), "1 object are left out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Markdown(tt.r)
			if len(got) > markdown.MaxLength || !utf8.ValidString(got) {
				t.Errorf("%d bytes, valid %t", len(got), utf8.ValidString(got))
			}
			if !strings.Contains(got, tt.wants) {
				t.Errorf("it lacks %q: ...%s", tt.wants, got[max(0, len(got)-300):])
			}
			if strings.Count(got, "<details>") != strings.Count(got, "</details>") || strings.Count(got, "```")%2 != 0 {
				t.Error("something is left open")
			}
		})
	}
}

// What rows hold is text: it ends no fence, and is no Markdown or HTML.
func TestMarkdownIsText(t *testing.T) {
	r := reportOf(1, 1, "a: |\n  ```\n  </details>\x1b[31m\u202e\n")
	r.Nodes[0].Objects[0].Note = "took `x` | <img src=x> from [a](b) @all \x1b[31m"
	got := Markdown(r)
	if !strings.Contains(got, "\n````diff\n") || !strings.Contains(got, "\n````\n") {
		t.Error("the fence is too short")
	}
	if strings.ContainsAny(got, "\x1b\u202e") {
		t.Error("control characters are left")
	}
	if !strings.Contains(got, "took \\`x\\` \\| &lt;img src=x&gt; from \\[a\\](b) &#64;all") {
		t.Error(got)
	}
}

// TestMarkdownEvidence: a comment tells how the rows differ from those of the last run,
// also where nothing differs.
func TestMarkdownEvidence(t *testing.T) {
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &Report{Evidence: []evidence.Evidence{
		{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Last: last, Before: evidence.Counts{Rows: 3, Active: 3}, Now: evidence.Counts{Rows: 3, Active: 3}},
		{Hub: lynq.HubKey{Namespace: "shop", Name: "new"}, Now: evidence.Counts{Rows: 3, Active: 3}},
	}}
	text := Markdown(r)
	want := "\nThe source, compared with the last run:\n\n- hub shop/crm: 3 rows (3 in the last run, 2026-01-02T03:04:05Z), 3 active (3), 0 inactive (0)\n"
	if !strings.HasSuffix(text, want) {
		t.Errorf("%q doesn't end with %q", text, want)
	}
	if facts := Page("diff", r).Facts; len(facts) != 2 || facts[1] != "hub shop/crm: 3 rows (3 in the last run, 2026-01-02T03:04:05Z), 3 active (3), 0 inactive (0)" {
		t.Errorf("facts of a page: %q", facts)
	}
}

// TestPageFailures wants a notice for each cause, before those of leaving nodes, and no
// change of an object for which apply would fail.
func TestPageFailures(t *testing.T) {
	r := reportOf(4, 1, "a: 2\n")
	for i, why := range []string{"bad", "worse", "bad"} {
		r.Nodes[i].Objects[0].Problem = why
	}
	r.Leaving = []Leaving{{NodeID: lynq.NodeID{Name: "gone-web"}, Message: "its row is gone"}}
	p := Page("diff", r)
	want := []page.Notice{
		{Label: "apply would fail", Text: "node n0000-web and 1 other, ConfigMap shop/o0: bad"},
		{Label: "apply would fail", Text: "node n0001-web, ConfigMap shop/o0: worse"},
		{Label: "leaving", Text: "node gone-web: its row is gone", Tone: page.Worry},
	}
	if diff := cmp.Diff(want, p.Notices); diff != "" {
		t.Error(diff)
	}
	if len(p.Nodes) != 1 || p.Nodes[0].Name != "n0003-web" {
		t.Errorf("changes of %+v", p.Nodes)
	}
}

// TestPageGroups wants a page to show the findings, the groups of many nodes, and each object
// with the number of its group.
func TestPageGroups(t *testing.T) {
	p := Page("diff", reportOf(12, 1, "a: 2\n"))
	if want := []page.Notice{{Label: "info", Text: "many-same: 12 objects: most nodes change in the same way", Tone: page.Worry}}; !cmp.Equal(p.Notices, want) {
		t.Errorf("notices: %+v", p.Notices)
	}
	if len(p.Tables) != 1 || len(p.Tables[0].Rows) != 1 || p.Tables[0].Rows[0].Cells[0] != "#1" || p.Nodes[11].Objects[0].Group != "#1" {
		t.Errorf("tables: %+v, objects: %+v", p.Tables, p.Nodes[11].Objects)
	}
	if p = Page("diff", reportOf(2, 1, "a: 2\n")); len(p.Tables) > 0 || p.Nodes[0].Objects[0].Group != "" {
		t.Errorf("two nodes are many: %+v", p)
	}
}
