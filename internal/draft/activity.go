package draft

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// mostWords is how many words a column may have that says in words what is active:
// one with more says something else.
const mostWords = 12

// Words that columns have for active and inactive, in lower case.
func yesWords() []string {
	return []string{"active", "activated", "enabled", "enable", "live", "online", "open", "running", "valid", "ok", "up", "y", "yes", "t", "true", "on"}
}

func noWords() []string {
	return []string{
		"inactive", "deactivated", "disabled", "disable", "offline", "closed", "stopped", "invalid", "down", "n", "no", "f", "false", "off",
		"archived", "blocked", "canceled", "cancelled", "deleted", "expired", "removed", "suspended", "terminated",
	}
}

// activity sorts the values of a column into those of active and of inactive rows. It is
// the zero Activity for a column of yes and no values. Unclear are words that people must
// sort. False means that the column doesn't say which rows are active.
func (c *Column) activity() (a lynq.Activity, unclear []string, ok bool) {
	if c.notActivation() == "" {
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

// words are the values that are neither yes nor no, sorted; none where one of them
// is no word, or they are too many.
func (c *Column) words() []string {
	word := regexp.MustCompile(`^[\pL\pN][\pL\pN _-]{0,29}$`)
	var words []string
	for _, v := range c.Values {
		if _, err := lynq.ParseActive(v); err == nil || slices.Contains(words, v) {
			continue
		}
		if !word.MatchString(v) || len(words) == mostWords {
			return nil
		}
		words = append(words, v)
	}
	slices.Sort(words)
	return words
}
