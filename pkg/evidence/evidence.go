package evidence

import (
	"fmt"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Counts count the rows of a source.
type Counts struct {
	Rows     int `json:"rows"`
	Active   int `json:"active"`
	Inactive int `json:"inactive"`
}

// Evidence says how the rows of a hub differ from those of the last run.
type Evidence struct {
	Hub lynq.HubKey
	// Last is the time when the last run read the rows, zero without one.
	Last time.Time
	// Before counts the rows of the last run, Now those of this one.
	Before, Now Counts
	// NewColumns are mapped since then, and GoneColumns no longer.
	NewColumns, GoneColumns []string
	// Where is a change of the condition by which the source chooses rows, or nil.
	Where *Where
	// Lookups have other entries than in the last run.
	Lookups []string
	// Rows says how the rows differ. It is nil if the last run noted none.
	Rows *Rows
}

// Where is a condition that isn't that of the last run. "" is every row.
type Where struct {
	Before string `json:"before"`
	Now    string `json:"now"`
}

// Cause says that the condition changed, as the likely reason for rows that vanish, or
// returns "".
func (e *Evidence) Cause() string {
	if e == nil || e.Where == nil {
		return ""
	}
	return e.Where.text()
}

func (w *Where) text() string {
	shown := func(sql string) string {
		if sql == "" {
			return "absent"
		}
		return phrase.Quote(sql)
	}
	return fmt.Sprintf("where of the hub changed from %s to %s since the last run", shown(w.Before), shown(w.Now))
}

// Rows says how active rows differ from those of the last run.
type Rows struct {
	// New counts rows that weren't active then. Vanished counts rows that are gone, and
	// Deactivated those that are inactive now.
	New, Vanished, Deactivated int
	// Compared counts rows that are active in both runs, and Changed those of them with another
	// value in some column.
	Compared, Changed int
	// Columns are those that both runs mapped, sorted, without secret columns.
	Columns []Column
	// Sampled is set if the counts are those of a sample, because a note has no room for all
	// rows.
	Sampled bool
	// Narrow is set if an earlier version of lynqctl made the note of the last run. Such a note
	// misses one of 256 changed values.
	Narrow bool
}

// Column says how a column differs in the compared rows.
type Column struct {
	Name string
	// Changed counts rows with another value, and Emptied those of them without a value.
	Changed, Emptied int
	// Secret is set if a note shows only whether its values are empty.
	Secret bool
}

// emptied is the part of the compared rows, as one in so many, that may suddenly be empty in a
// column.
const emptied = 4

// Emptied returns the columns that are suddenly empty in more than a quarter of the rows.
func (e *Evidence) Emptied() []Column {
	if e == nil || e.Rows == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Rows.Columns), func(c Column) bool { return c.Emptied*emptied <= e.Rows.Compared })
}

// Since returns the evidence of counts and columns, which the hub record has of the last run.
func Since(hub lynq.HubKey, last time.Time, before, now Counts, columnsBefore, columnsNow []string) *Evidence {
	e := &Evidence{Hub: hub, Last: last, Before: before, Now: now}
	if !last.IsZero() {
		e.NewColumns, e.GoneColumns = without(columnsNow, columnsBefore), without(columnsBefore, columnsNow)
	}
	return e
}

// without returns the columns that aren't among others, sorted.
func without(columns, others []string) []string {
	var left []string
	for _, c := range columns {
		if !slices.Contains(others, c) {
			left = append(left, c)
		}
	}
	slices.Sort(left)
	return left
}
