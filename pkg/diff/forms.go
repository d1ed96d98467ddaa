package diff

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq/markdown"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/page"
)

// maxForms limits the bytes of the edits of forms in a comment, and maxCommits the commits of
// an edit.
const (
	maxForms   = 10_000
	maxCommits = 10
)

// FormsMarkdown shows in a comment how forms changed: the commits, and folded their
// differences. What doesn't fit is counted.
func FormsMarkdown(edits []*changeset.Edit) string {
	var b strings.Builder
	for i, e := range edits {
		text := fmt.Sprintf("\n**%s** at %s: %s\n", markdown.Text(formName(e)), markdown.Code(e.Place), markdown.Text(e.String()))
		if e.Diff != "" || len(e.Commits) > 1 {
			text += fmt.Sprintf("\n<details><summary>Change of the form</summary>\n%s%s\n</details>\n", commitLines(e), formDiff(e))
		}
		if b.Len()+len(text) > maxForms {
			fmt.Fprintf(&b, "\n**%s**\n", phrase.Count(len(edits)-i, "more edited resource"))
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

func formName(e *changeset.Edit) string { return "Form " + e.Form + ", resource " + e.Resource }

// commitLines lists the commits of an edit with several.
func commitLines(e *changeset.Edit) string {
	if len(e.Commits) < 2 {
		return ""
	}
	var b strings.Builder
	b.WriteByte('\n')
	for i, c := range e.Commits {
		if i == maxCommits {
			fmt.Fprintf(&b, "- and %s\n", phrase.Count(len(e.Commits)-i, "earlier commit"))
			break
		}
		fmt.Fprintf(&b, "- %s %s\n", markdown.Code(c.ID), markdown.Text(c.Subject))
	}
	return b.String()
}

// formDiff is the difference of an edit as a block.
func formDiff(e *changeset.Edit) string {
	if e.Diff == "" {
		return ""
	}
	block := fenced(e.Diff, maxSample)
	if e.More > 0 {
		block += "\n" + phrase.Count(e.More, "more line") + "\n"
	}
	return block
}

// PageForms shows edits of forms on a page.
func PageForms(edits []*changeset.Edit) []page.Object {
	var all []page.Object
	for _, e := range edits {
		o := page.Object{Name: formName(e), Cause: e.Place + ": " + e.String(), Diff: e.Diff}
		if e.More > 0 {
			o.Note = "The difference has " + phrase.Count(e.More, "more line") + "."
		}
		all = append(all, o)
	}
	return all
}
