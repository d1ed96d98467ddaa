package apply

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

const (
	// mask stands for a value of a row.
	mask = "•••"
	// fewLetters are in so many words that a value of no more is masked only where
	// it is quoted.
	fewLetters = 3
)

// masked is what is wrong with a row without what is in the row: of each line, what
// is quoted behind the row's name, and the values where they are not quoted. The uid
// is no secret, and which row it is has to be known.
func masked(text, uid string, values []string) string {
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)
	// Of a value that is shown in part, no part is found by the whole.
	part := regexp.MustCompile(`.*… \(\d+ more bytes\)`)
	row := fmt.Sprintf("row %s: ", lynq.Quote(uid))
	values = slices.Clone(values)
	for _, v := range values {
		values = append(values, lynq.OneLine(v)) // as messages quote it
	}
	values = slices.DeleteFunc(values, func(v string) bool { return len(v) <= fewLetters || v == uid })
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // one may be in another
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		said := line
		if at := strings.Index(line, row); at >= 0 {
			said = line[at+len(row):]
		}
		before := strings.TrimSuffix(line, said)
		said = quoted.ReplaceAllString(said, `"`+mask+`"`)
		said = part.ReplaceAllString(said, mask)
		for _, v := range values {
			said = strings.ReplaceAll(said, v, mask)
		}
		lines[i] = before + said
	}
	return strings.Join(lines, "\n")
}
