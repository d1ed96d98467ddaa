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

// flags returns the words for yes and no in lower case, in pairs.
func flags() [][2]string {
	return [][2]string{
		{"1", "0"}, {"true", "false"}, {"t", "f"}, {"yes", "no"}, {"y", "n"}, {"on", "off"},
		{"ja", "nein"}, {"wahr", "falsch"}, {"oui", "non"}, {"vrai", "faux"}, {"si", "no"}, {"s\u00ed", "no"}, {"verdadero", "falso"}, {"vero", "falso"},
	}
}

// parseFlag interprets a word for yes or no in any case.
func parseFlag(v string) (yes, ok bool) {
	for _, pair := range flags() {
		if i := slices.Index(pair[:], strings.ToLower(v)); i >= 0 {
			return i == 0, true
		}
	}
	return false, false
}

// counterpart returns the opposite of a word for yes or no, in its case: "N" for "Y".
func counterpart(v string) string {
	lower, other := strings.ToLower(v), ""
	for _, pair := range flags() {
		if i := slices.Index(pair[:], lower); i >= 0 && other == "" {
			other = pair[1-i]
		}
	}
	switch v {
	case lower:
		return other
	case strings.ToUpper(v):
		return strings.ToUpper(other)
	}
	return strings.ToUpper(other[:1]) + other[1:]
}

// yesWords returns common words for active rows in lower case, and noWords those for
// inactive ones.
func yesWords() []string {
	return []string{"active", "activated", "enabled", "enable", "live", "online", "open", "running", "valid", "ok", "up", "aktiv"}
}

func noWords() []string {
	return []string{
		"inactive", "deactivated", "disabled", "disable", "offline", "closed", "stopped", "invalid", "down", "inaktiv",
		"archived", "blocked", "canceled", "cancelled", "deleted", "discarded", "expired", "removed", "suspended", "terminated",
		"banned", "churned", "deprovisioned", "retired", "revoked", "trashed",
	}
}

// activity sorts the values of a column into those of active and of inactive rows. For a
// column of yes and no values, it returns the zero Activity. Unclear are words that people
// must sort. ok is false if the column doesn't show which rows are active.
func (c *Column) activity() (a lynq.Activity, unclear []string, ok bool) {
	inverted := c.meaning() == saysInactive
	switch {
	case c.hasFlags() && (inverted || c.notActivation() != ""):
		return c.flagged(inverted), nil, true
	case c.hasFlags():
		return a, nil, true
	case inverted, len(c.words()) == 0:
		return a, nil, false
	}
	for _, v := range c.Values {
		list := &unclear
		active, ok := parseFlag(v)
		switch {
		case ok && active, slices.Contains(yesWords(), strings.ToLower(v)):
			list = &a.Active
		case ok, v == "", slices.Contains(noWords(), strings.ToLower(v)):
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

// flagged returns the activity of a column of yes and no values. The lists also have values
// that the rows don't have yet.
func (c *Column) flagged(inverted bool) lynq.Activity {
	yes, no := []string{"1", "on", "t", "true", "y", "yes"}, []string{"0", "f", "false", "n", "no", "off"}
	for _, v := range c.Values {
		if v == "" { // NULL doesn't say yes
			if !slices.Contains(no, v) {
				no = append(no, v)
			}
			continue
		}
		positive, negative := v, counterpart(v)
		if isYes, _ := parseFlag(v); !isYes {
			positive, negative = negative, positive
		}
		if !slices.Contains(yes, positive) {
			yes = append(yes, positive)
		}
		if !slices.Contains(no, negative) {
			no = append(no, negative)
		}
	}
	if inverted {
		return lynq.Activity{Active: no, Inactive: yes}
	}
	return lynq.Activity{Active: yes, Inactive: no}
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
		if _, isFlag := parseFlag(v); isFlag || v == "" || slices.Contains(words, v) {
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
