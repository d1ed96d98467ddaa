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

// Evidence tells how the rows of a hub differ from those of the last run.
type Evidence struct {
	Hub lynq.HubKey
	// Last is when the last run read the rows, zero where none did.
	Last time.Time
	// Before counts the rows of the last run, Now those of this one.
	Before, Now Counts
	// NewColumns are mapped since then, GoneColumns no more.
	NewColumns, GoneColumns []string
	// Where is the change of the condition by which the source chooses rows, nil for none.
	Where *Where
	// Lookups have other entries than in the last run.
	Lookups []string
	// Rows is how the rows differ, nil where the last run noted none of them.
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

// Rows tells how active rows differ from those of the last run.
type Rows struct {
	// New were not active then. Vanished were, and are in the source no more; those of
	// Deactivated are there, and inactive.
	New, Vanished, Deactivated int
	// Compared are active in both runs, and Changed have another value in some column.
	Compared, Changed int
	// Columns are those that both runs mapped, sorted. Secret columns are not compared.
	Columns []Column
	// Sampled: there are more rows than a note has room for, and the counts are those of
	// a sample.
	Sampled bool
	// Narrow: an earlier version of lynqctl made the note of the last run. Such a note misses
	// one of 256 changed values.
	Narrow bool
}

// Column tells how a column differs in the rows that were compared.
type Column struct {
	Name string
	// Changed have another value, and Emptied of these none any more.
	Changed, Emptied int
	// Secret: whether its values changed isn't known, but whether they are empty.
	Secret bool
}

// emptied is more than which share of the rows that were compared, as one in so many, may
// not suddenly be empty in a column.
const emptied = 4

// Emptied are the columns that are suddenly empty in more than a quarter of the rows.
func (e *Evidence) Emptied() []Column {
	if e == nil || e.Rows == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Rows.Columns), func(c Column) bool { return c.Emptied*emptied <= e.Rows.Compared })
}

// Since is the evidence of counts and columns alone: what the record of a hub has of the
// last run.
func Since(hub lynq.HubKey, last time.Time, before, now Counts, columnsBefore, columnsNow []string) *Evidence {
	e := &Evidence{Hub: hub, Last: last, Before: before, Now: now}
	if !last.IsZero() {
		e.NewColumns, e.GoneColumns = without(columnsNow, columnsBefore), without(columnsBefore, columnsNow)
	}
	return e
}

// without are the columns that are not among others, sorted.
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
