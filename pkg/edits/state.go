package edits

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	textdiff "github.com/rogpeppe/go-internal/diff"

	"github.com/lynqctl/lynqctl/pkg/changeset"
)

// state is a resource in a version of its file.
type state struct {
	commit changeset.Commit
	digest string // of the template, "" if the version has no such resource, or errors
	// lines are those of the resource, and at is the number of the first one. They are nil if
	// its lines may belong to others, too.
	lines  []string
	at     int
	secret bool // the manifest may have secrets
}

// changesOf returns the commits whose version differs from the one before it. The states
// begin with the newest one, and the last one is where the changes begin.
func changesOf(states []state) []changeset.Commit {
	var changes []changeset.Commit
	for i := range len(states) - 1 {
		if states[i].digest != states[i+1].digest {
			changes = append(changes, states[i].commit)
		}
	}
	return changes
}

// maxLines limits the lines of a difference.
const maxLines = 20

// difference returns the unified diff of a resource's lines, and how many lines it lacks. It
// returns "" if they may have secrets.
func difference(file string, before, after *state) (diff string, more int) {
	if before.secret || after.secret || before.lines == nil || after.lines == nil {
		return "", 0
	}
	text := string(textdiff.Diff("recorded/"+file, joined(before.lines), "now/"+file, joined(after.lines)))
	if text == "" { // what changed stands elsewhere, such as the form's namespace
		return "", 0
	}
	_, text, _ = strings.Cut(text, "\n") // its first line is a command
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	hunk := regexp.MustCompile(`^@@ -(\d+),(\d+) \+(\d+),(\d+) @@`)
	for i, line := range lines {
		if at := hunk.FindStringSubmatch(line); at != nil {
			lines[i] = fmt.Sprintf("@@ -%d,%s +%d,%s @@\n", number(at[1])+before.at-1, at[2], number(at[3])+after.at-1, at[4])
		}
	}
	if more = len(lines) - maxLines; more > 0 {
		lines = lines[:maxLines]
	}
	return strings.TrimSuffix(strings.Join(lines, ""), "\n") + "\n", max(more, 0)
}

func joined(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// number returns the number in a text of digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern permits nothing else
	return n
}

// linesOf returns the lines of the list item that begins at a line, and the number of the
// first one. With documents, a document may begin there, too. It returns none if neither
// begins the line, as in JSON, because the line may then have something else.
func linesOf(text string, at int, documents bool) (from int, lines []string) {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if at < 1 || at > len(all) {
		return 0, nil
	}
	all[0] = strings.TrimPrefix(all[0], "\ufeff") // a mark of the encoding, before the first key
	first := all[at-1]
	dash := indent(first)
	if documents && regexp.MustCompile(`^[A-Za-z]+:`).MatchString(first) {
		dash = -1 // the document ends before the next one
	} else if rest := first[dash:]; !strings.HasPrefix(rest, "- ") || strings.HasPrefix(strings.TrimLeft(rest[1:], " "), "{") {
		return 0, nil
	}
	end := at
	for i := at; i < len(all); i++ {
		switch line := strings.TrimSpace(all[i]); {
		case line == "" || strings.HasPrefix(line, "#") && indent(all[i]) <= max(dash, 0):
			// it belongs to the item only if more of the item follows
		case indent(all[i]) <= dash, strings.HasPrefix(all[i], "---"), strings.HasPrefix(all[i], "..."):
			return at, all[at-1 : end]
		default:
			end = i + 1
		}
	}
	return at, all[at-1 : end]
}

// indent returns the number of spaces before a line's text.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
