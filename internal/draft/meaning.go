package draft

import (
	"slices"
	"strings"
)

// meaning is what the name of a column says about its rows.
type meaning int

const (
	saysNothing  meaning = iota
	saysActive           // true means active
	saysInactive         // true means inactive
	saysState            // words say which rows are active
	saysEnd              // a row is inactive from the time in the column
)

// meaning returns what the name of a column says. Only the whole name counts: "is_deleted"
// says something, and "deleted_by" and "closed_tickets" don't.
func (c *Column) meaning() meaning {
	words := nameWords(c.Name)
	if slices.Contains(expiresNames(), strings.Join(words, "_")) {
		return saysEnd
	}
	words, timed := withoutTime(words)
	if last := len(words) - 1; last > 0 && slices.Contains([]string{"flag", "yn", "ind", "indicator", "bool"}, words[last]) {
		words = words[:last]
	}
	inverted, alone := false, len(words) == 1
	for len(words) > 1 && slices.Contains(beforeMeaning(), words[0]) {
		inverted = inverted != (words[0] == "not" || words[0] == "non")
		words = words[1:]
	}
	if len(words) != 1 {
		return saysNothing
	}
	inactive := slices.Contains(inactiveNames(), words[0])
	switch {
	case timed && inactive && !inverted:
		return saysEnd
	case timed:
		return saysNothing
	case inactive != inverted && (inactive || slices.Contains(activeNames(), words[0])):
		return saysInactive
	case inactive || slices.Contains(activeNames(), words[0]):
		return saysActive
	case words[0] == "status" && !inverted, words[0] == "state" && alone: // addresses have states, too
		return saysState
	}
	return saysNothing
}

// nameWords returns the words of a column's name in lower case. PostgreSQL turns isDeleted
// and deletedAt into single words.
func nameWords(name string) []string {
	words := strings.Split(snake(name), "_")
	if len(words) != 1 {
		return words
	}
	word := words[0]
	if rest, is := strings.CutPrefix(word, "is"); is && (slices.Contains(inactiveNames(), rest) || slices.Contains(activeNames(), rest)) {
		return []string{"is", rest}
	}
	for _, end := range timeWords() {
		if rest, ends := strings.CutSuffix(word, end); ends && slices.Contains(inactiveNames(), rest) {
			return []string{rest, end}
		}
	}
	return words
}

// withoutTime removes the words that say that a column contains times.
func withoutTime(words []string) (rest []string, timed bool) {
	if last := len(words) - 1; last > 0 && words[last] == "utc" {
		words = words[:last]
	}
	if last := len(words) - 1; last > 0 && slices.Contains(timeWords(), words[last]) {
		return words[:last], true
	}
	if len(words) > 1 && (words[0] == "date" || words[0] == "time") {
		return words[1:], true
	}
	return words, false
}

func timeWords() []string { return []string{"at", "on", "date", "time", "timestamp", "ts"} }

// beforeMeaning returns words that come before the word with the meaning.
func beforeMeaning() []string {
	return []string{
		"is", "was", "has", "been", "not", "non", "soft", "record", "row", "currently",
		"tenant", "account", "customer", "client", "company", "org", "organization", "organisation", "user",
	}
}

func activeNames() []string {
	return []string{"active", "activate", "activated", "enabled", "enable", "live", "aktiv", "actif", "activo", "ativo", "attivo", "actief"}
}

// inactiveNames returns words for inactive rows that are also names of columns.
func inactiveNames() []string {
	names := []string{"del", "cancellation", "deactivation", "deletion", "removal", "suspension", "termination"}
	for _, w := range noWords() {
		if len(w) > 3 {
			names = append(names, w)
		}
	}
	return names
}

// isShown reports whether init understands the values of a column whose name says
// something.
func (c *Column) isShown() bool {
	_, _, ok := c.activity()
	switch {
	case c.Binary:
		return false
	case c.meaning() == saysEnd:
		return c.hasMoments()
	}
	return ok || c.isEnd()
}
