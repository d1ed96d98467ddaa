package applycmd

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// masked returns a row's error message without the row's content. In each line, it masks
// quoted text after the row's name, and unquoted values. It keeps the uid, which isn't
// secret and identifies the row.
func masked(text, uid string, values []string) string {
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)
	// A search for the whole value wouldn't find a value that is shown in part.
	part := regexp.MustCompile(`.*… \(\d+ more bytes\)`)
	row := fmt.Sprintf("row %s: ", phrase.Quote(uid))
	mask := redact.New(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == uid })...)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		said := line
		if at := strings.Index(line, row); at >= 0 {
			said = line[at+len(row):]
		}
		before := strings.TrimSuffix(line, said)
		said = quoted.ReplaceAllString(said, `"`+redact.Hidden+`"`)
		said = part.ReplaceAllString(said, redact.Hidden)
		lines[i] = before + mask.Hide(said)
	}
	return strings.Join(lines, "\n")
}
