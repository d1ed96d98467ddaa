package applycmd

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// masked returns a row's problems without the row's content, a line for each. It masks quoted
// text and unquoted values in the cause and the fix. It keeps the uid, which isn't secret and
// identifies the row.
func masked(problems lynq.Problems, uid string, values []string) string {
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)
	// A search for the whole value wouldn't find a value that is shown in part.
	part := regexp.MustCompile(`.*… \(\d+ more bytes\)`)
	mask := redact.New(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == uid })...)
	hide := func(text string) string {
		text = quoted.ReplaceAllString(phrase.OneLine(text), `"`+redact.Hidden+`"`)
		return mask.Hide(part.ReplaceAllString(text, redact.Hidden))
	}
	var lines []string
	for _, p := range problems.Sorted() {
		if p.Verb || p.Row == "" { // the cause may name other rows
			lines = append(lines, hide(p.String()))
			continue
		}
		p.What, p.Fix = hide(p.What), hide(p.Fix)
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}
