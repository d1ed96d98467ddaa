package evidence

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Lines returns the evidence for people. It is nil if nothing differs, or without a last run.
func (e *Evidence) Lines() []string {
	if lines := e.All(); len(lines) > 1 || len(lines) == 1 && e.Before != e.Now {
		return lines
	}
	return nil
}

// All is Lines, also if nothing differs from the last run.
func (e *Evidence) All() []string {
	if e == nil || e.Last.IsZero() {
		return nil
	}
	var lines []string
	add := func(line string) {
		if line != "" {
			lines = append(lines, line)
		}
	}
	add(e.Cause())
	add(e.Rows.moved())
	add(e.Rows.changed())
	add(e.columns())
	if len(e.Lookups) > 0 {
		add("lookups changed: " + strings.Join(e.Lookups, ", "))
	}
	counts := fmt.Sprintf("%s (%d in the last run, %s), %d active (%d), %d inactive (%d)", phrase.Count(e.Now.Rows, "row"), e.Before.Rows, e.Last.UTC().Format(time.RFC3339),
		e.Now.Active, e.Before.Active, e.Now.Inactive, e.Before.Inactive)
	return append([]string{counts}, lines...)
}

// moved says how many rows came and went.
func (r *Rows) moved() string {
	if r == nil {
		return ""
	}
	var parts []string
	switch {
	case r.New == 1:
		parts = append(parts, "1 row is new")
	case r.New > 1:
		parts = append(parts, fmt.Sprintf("%d rows are new", r.New))
	}
	row := func(n int) string {
		if len(parts) > 0 {
			return strconv.Itoa(n)
		}
		return phrase.Count(n, "row")
	}
	if r.Vanished > 0 {
		parts = append(parts, row(r.Vanished)+" vanished")
	}
	if r.Deactivated > 0 {
		parts = append(parts, row(r.Deactivated)+" became inactive")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + r.sample()
}

// changed says which columns changed, in how many rows.
func (r *Rows) changed() string {
	if r == nil {
		return ""
	}
	var parts []string
	for _, c := range r.Columns {
		part := c.Name
		if c.Changed > 0 {
			part += fmt.Sprintf(" in %d", c.Changed)
		}
		if c.Emptied > 0 {
			part += fmt.Sprintf(" (empty in %d)", c.Emptied)
		}
		if c.Changed+c.Emptied > 0 {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s%d of %s changed: %s%s", r.atLeast(), r.Changed, phrase.Count(r.Compared, "row"), strings.Join(parts, ", "), r.sample())
}

// sure is the number of changed rows up to which a note hardly misses another change. A note
// misses one of 65 536 changed values, and one of an earlier version one of 256.
const (
	sure       = 2000
	sureNarrow = 9
)

// atLeast says that the number of changed rows is a lower bound, if it probably is.
func (r *Rows) atLeast() string {
	most := sure
	if r.Narrow {
		most = sureNarrow
	}
	if r.Changed > most && r.Changed < r.Compared {
		return "at least "
	}
	return ""
}

func (r *Rows) sample() string {
	if r.Sampled {
		return " (in a sample)"
	}
	return ""
}

// columns says which columns are mapped now and weren't, and the other way round.
func (e *Evidence) columns() string {
	var parts []string
	if len(e.NewColumns) > 0 {
		parts = append(parts, "new "+strings.Join(e.NewColumns, ", "))
	}
	if len(e.GoneColumns) > 0 {
		parts = append(parts, "gone "+strings.Join(e.GoneColumns, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return "columns: " + strings.Join(parts, "; ")
}
