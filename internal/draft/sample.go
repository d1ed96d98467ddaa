package draft

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// sampleRows is the number of first rows that a Sample keeps.
const sampleRows = 500

// Sample chooses the rows that show what all rows of a table show. It keeps the first rows,
// and each later row with a value that changes what its column means. So it stays small,
// whatever the size of the table.
type Sample struct {
	table   *Table
	columns []int // the table's columns in the order of a row's values
	seen    []facts
	rows    int
}

// facts are what the values of a column have shown so far.
type facts struct {
	shown    [kinds]bool
	distinct map[string]bool // at most a few more than mostWords
}

// kinds is the number of facts that one value can show.
const kinds = 9

// NewSample returns the sample of a table. columns are the indexes of its columns in the
// order of a row's values.
func NewSample(t *Table, columns []int) *Sample {
	s := &Sample{table: t, columns: columns, seen: make([]facts, len(columns))}
	for i := range s.seen {
		s.seen[i].distinct = map[string]bool{}
	}
	return s
}

// Add adds a row if it belongs in the sample.
func (s *Sample) Add(values []string) {
	s.rows++
	isNew := s.rows <= sampleRows
	for i, v := range values {
		isNew = s.seen[i].note(v) || isNew
	}
	if isNew {
		s.Keep(values)
	}
}

// Keep adds a row in any case.
func (s *Sample) Keep(values []string) {
	for i, at := range s.columns {
		c := &s.table.Columns[at]
		c.Values = append(c.Values, strings.Clone(values[i]))
	}
}

// note reports whether a value shows something new about its column.
func (f *facts) note(v string) bool {
	if f.distinct[v] {
		return false
	}
	isNew := false
	for kind, holds := range shows() {
		if !f.shown[kind] && holds(v) {
			f.shown[kind], isNew = true, true
		}
	}
	if len(f.distinct) <= 2*mostWords && len(v) <= longestWord {
		f.distinct[strings.Clone(v)], isNew = true, true
	}
	return isNew
}

// shows returns the tests of a value on which the meaning of a column depends.
func shows() [kinds]func(string) bool {
	return [kinds]func(string) bool{
		func(v string) bool { return v != "" },
		func(v string) bool { return strings.TrimSpace(v) == "" },
		func(v string) bool { _, err := strconv.ParseFloat(v, 64); return err != nil },
		func(v string) bool { _, err := strconv.ParseUint(v, 10, 16); return err != nil },
		func(v string) bool { _, err := lynq.ParseMoment(v); return err != nil },
		func(v string) bool { _, err := lynq.ParseActive(v); return err != nil && !isWord(v) },
		func(v string) bool { return isName(v) && !startsWithLetter(v) },
		func(v string) bool { return !isName(v) },
		func(v string) bool { return isTitle(v) || secretValue(v) },
	}
}

// Off reports whether a row of a draft's table is inactive, or has an end. values are in the
// order of the sample's rows.
func (s *Sample) Off(d *Draft, values []string) bool {
	active, err := d.Activity.Of(s.value(d.Activate, values))
	end := s.value(d.Expires, values)
	return s.has(d.Activate) && err == nil && !active || strings.TrimSpace(end) != ""
}

// Rows counts rows by what a draft makes of them. Unclear rows have values that people must sort.
type Rows struct{ Active, Inactive, Unclear int }

// Count counts a row as a run at this time would.
func (s *Sample) Count(rows *Rows, d *Draft, values []string, now time.Time) {
	active, err := true, error(nil)
	if s.has(d.Activate) {
		active, err = d.Activity.Of(s.value(d.Activate, values))
	}
	var end time.Time
	if err == nil && active {
		end, err = lynq.ParseMoment(s.value(d.Expires, values))
	}
	switch {
	case err != nil:
		rows.Unclear++
	case !active, render.Expired(end, now):
		rows.Inactive++
	default:
		rows.Active++
	}
}

// has reports whether the sample's rows have a column. value returns its value in a row, or "".
func (s *Sample) has(column string) bool { return s.at(column) >= 0 }

func (s *Sample) value(column string, values []string) string {
	if i := s.at(column); i >= 0 {
		return values[i]
	}
	return ""
}

func (s *Sample) at(column string) int {
	return slices.IndexFunc(s.columns, func(at int) bool { return column != "" && s.table.Columns[at].Name == column })
}
