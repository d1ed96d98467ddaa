package apply

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// masked is what is wrong with a row without what is in the row: of each line, what
// is quoted behind the row's name, and the values where they are not quoted. The uid
// is no secret, and which row it is has to be known.
func masked(text, uid string, values []string) string {
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)
	// Of a value that is shown in part, no part is found by the whole.
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
