package lynq

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Row is one row of a hub's source.
type Row struct {
	// Values has the text of each requested column, in that order, as valid UTF-8. NULL is "".
	// A source uses the slice again for its next row, but not the strings.
	Values []string
	// Null says which values are NULL instead of "". A source uses it again, too.
	Null []bool
	// Line is the row's line in its file, or its number in the result of a database, from 1.
	Line int
}

// Activity says which values of a hub's activation column make a row active, and which
// inactive. Without any values, the words of ParseActive count.
type Activity struct{ Active, Inactive []string }

// Of reads the text of a row's activation column, with "" for NULL. A value that is in no list
// is an error, because a typo must never deactivate a tenant.
func (a Activity) Of(text string) (active bool, err error) {
	switch {
	case len(a.Active)+len(a.Inactive) == 0:
		return ParseActive(text)
	case slices.Contains(a.Active, text):
		return true, nil
	case slices.Contains(a.Inactive, text):
		return false, nil
	}
	return false, fmt.Errorf("activation value %s is neither in activeValues (%s) nor in inactiveValues (%s)", phrase.Quote(text), quoted(a.Active), quoted(a.Inactive))
}

// quoted lists values for a message.
func quoted(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = phrase.Quote(v)
	}
	return strings.Join(all, " ")
}

// ParseActive reads the text of a row's activation column. NULL comes as "", which is inactive.
// All but the words below are errors, because a typo must never deactivate a tenant.
func ParseActive(text string) (bool, error) {
	switch text {
	case "1", "true", "True", "TRUE", "yes", "Yes", "YES", "t", "on":
		return true, nil
	case "0", "false", "False", "FALSE", "no", "No", "NO", "f", "off", "":
		return false, nil
	}
	return false, fmt.Errorf("activation value %s is neither active (1 true yes t on) nor inactive (0 false no f off, empty, NULL)", phrase.Quote(text))
}
