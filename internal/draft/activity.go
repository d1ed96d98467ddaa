package draft

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// mostWords limits the different words in a column that shows which rows are active. A
// column with more words means something else.
const mostWords = 12

// yesWords returns common words for active rows in lower case, and noWords those for
// inactive ones.
func yesWords() []string {
	return []string{"active", "activated", "enabled", "enable", "live", "online", "open", "running", "valid", "ok", "up", "y", "yes", "t", "true", "on"}
}

func noWords() []string {
	return []string{
		"inactive", "deactivated", "disabled", "disable", "offline", "closed", "stopped", "invalid", "down", "n", "no", "f", "false", "off",
		"archived", "blocked", "canceled", "cancelled", "deleted", "discarded", "expired", "removed", "suspended", "terminated",
	}
}

// activity sorts the values of a column into those of active and of inactive rows. For a
// column of yes and no values, it returns the zero Activity. Unclear are words that people
// must sort. ok is false if the column doesn't show which rows are active.
func (c *Column) activity() (a lynq.Activity, unclear []string, ok bool) {
	if c.notActivation() == "" {
		if c.saysInactive() {
			a = c.inverted()
		}
		return a, nil, true
	}
	if len(c.words()) == 0 {
		return a, nil, false
	}
	for _, v := range c.Values {
		list := &unclear
		switch active, err := lynq.ParseActive(v); {
		case err == nil && active, slices.Contains(yesWords(), strings.ToLower(v)):
			list = &a.Active
		case err == nil, slices.Contains(noWords(), strings.ToLower(v)):
			list = &a.Inactive
		}
		if !slices.Contains(*list, v) {
			*list = append(*list, v)
		}
	}
	slices.Sort(a.Active)
	slices.Sort(a.Inactive)
	slices.Sort(unclear)
	return a, unclear, len(a.Active) > 0
}

// saysInactive reports whether the name of a column, such as "is_archived", says that true
// means inactive.
func (c *Column) saysInactive() bool { return saysInactive(strings.Split(snake(c.Name), "_")) }

func saysInactive(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return len(w) > 3 && slices.Contains(noWords(), w) && w != "false" })
}

// inverted returns the activity of a column in which true means inactive.
func (c *Column) inverted() lynq.Activity {
	a := lynq.Activity{Active: []string{"0", "f", "false", "n", "no", "off"}, Inactive: []string{"1", "on", "t", "true", "y", "yes"}}
	for _, v := range c.Values {
		list := &a.Active
		if active, err := lynq.ParseActive(v); err == nil && active {
			list = &a.Inactive
		}
		if !slices.Contains(*list, v) {
			*list = append(*list, v)
		}
	}
	return a
}

// longestWord limits the bytes of a word that shows which rows are active.
const longestWord = 120

// isWord reports whether a value is a word of a few letters and digits.
func isWord(v string) bool {
	const most = 30
	n := 0
	for _, r := range v {
		isAlnum := unicode.IsLetter(r) || unicode.IsNumber(r)
		if n++; n > most || !isAlnum && (n == 1 || r != ' ' && r != '_' && r != '-') {
			return false
		}
	}
	return n > 0
}

// words returns the values that are neither yes nor no, sorted. It returns none if a value
// isn't a word, or if there are too many.
func (c *Column) words() []string {
	var words []string
	for _, v := range c.Values {
		if _, err := lynq.ParseActive(v); err == nil || slices.Contains(words, v) {
			continue
		}
		if !isWord(v) || len(words) == mostWords {
			return nil
		}
		words = append(words, v)
	}
	slices.Sort(words)
	return words
}
