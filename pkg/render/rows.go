package render

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
)

// rowReader checks rows and passes the active ones on.
type rowReader[T any] struct {
	input        Input
	pipeline     *pipeline[T]
	now          time.Time
	keep         bool // the run keeps uids, and a copy doesn't keep the whole row
	rows, active int
	expired      int       // active rows that have expired
	nextExpiry   time.Time // of the active rows; zero for none

	columns                []string
	uid, activate, expires int // indexes of columns; the last two may be expr.NoColumn

	seen    uids
	renamed renamed
	bad     []badRow
	more    int // number of bad rows beyond the limit
}

// badRow is an error in a row.
type badRow struct {
	line    int
	problem lynq.Problem
}

// read reads all rows. After a bad row, it passes no more rows on, but continues to find
// all bad rows.
func (r *rowReader[T]) read(ctx context.Context) error {
	hub := r.input.Programs[0].Hub
	r.columns, r.uid, r.activate, r.expires = Columns(hub), column(hub, "uid"), column(hub, "activate"), ExpiresColumn(hub)
	r.renamed = renamedOf(hub)
	var b *batch[T]
	for row, err := range r.input.Rows {
		if err != nil {
			return err
		}
		r.rows++
		if !r.check(row) || len(r.bad) > 0 {
			continue
		}
		r.active++
		uid := row.Values[r.uid]
		if r.keep {
			uid = strings.Clone(uid)
		}
		if r.input.Active != nil {
			r.input.Active(uid, row.Values)
		}
		if b == nil {
			if b, err = r.pipeline.next(ctx); err != nil {
				return err
			}
		}
		b.add(row, r.uid, uid)
		if b.full() {
			r.pipeline.send(b)
			b = nil
		}
	}
	r.checkRenamed()
	if len(r.bad) > 0 {
		return r.badRows()
	}
	if b != nil {
		r.pipeline.send(b)
	}
	return nil
}

// check reports whether a row is good and active. An inactive or expired row may have any
// uid. Tables keep history, so a tenant that came back has several rows.
func (r *rowReader[T]) check(row lynq.Row) (good bool) {
	id := row.Values[r.uid]
	active, err := r.isActive(row)
	switch {
	case err != nil:
		r.refuse(row, lynq.Problem{
			Row: id, Column: r.columns[r.activate], What: err.Error(), Fix: "fix the row, or list the value in the hub's activeValues or inactiveValues; nothing is rendered until then",
		})
		return false
	case !active:
		r.inactive(id)
		return false
	}
	end, err := r.expiry(row)
	switch {
	case err != nil:
		r.refuse(row, lynq.Problem{Row: id, Column: r.columns[r.expires], What: err.Error(), Fix: "fix the row, or leave the value empty for never; nothing is rendered until then"})
		return false
	case Expired(end, r.now):
		r.expired++
		r.inactive(id)
		return false
	case strings.TrimSpace(id) == "":
		what := "is empty"
		if len(row.Null) > r.uid && row.Null[r.uid] {
			what = "is NULL"
		}
		r.refuse(row, lynq.Problem{What: fmt.Sprintf("the uid (column %q) %s", r.columns[r.uid], what), Fix: "give every active row a uid"})
		return false
	}
	if good = r.single(row, id); good && !end.IsZero() && (r.nextExpiry.IsZero() || end.Before(r.nextExpiry)) {
		r.nextExpiry = end
	}
	return good
}

// isActive reports what the activation column says. Without one, every row is active.
func (r *rowReader[T]) isActive(row lynq.Row) (bool, error) {
	if r.activate == expr.NoColumn {
		return true, nil
	}
	return r.input.Programs[0].Hub.Activity.Of(row.Values[r.activate])
}

// inactive reports an inactive or expired row to the caller.
func (r *rowReader[T]) inactive(uid string) {
	if r.input.Inactive != nil {
		r.input.Inactive(uid)
	}
}

// expiry returns the time at which a row becomes inactive. It returns zero for never.
func (r *rowReader[T]) expiry(row lynq.Row) (time.Time, error) {
	if r.expires == expr.NoColumn {
		return time.Time{}, nil
	}
	return lynq.ParseMoment(row.Values[r.expires])
}

// Expired reports whether a row that expires at end is expired now. A zero end never
// expires.
func Expired(end, now time.Time) bool { return !end.IsZero() && !now.Before(end) }

// ExpiresColumn returns the index of the column with expiry times, or expr.NoColumn.
func ExpiresColumn(h *form.Hub) int {
	if h.Expires.Column == "" {
		return expr.NoColumn
	}
	return slices.Index(Columns(h), h.Expires.Column)
}

// single reports whether an active row is the first with its uid.
func (r *rowReader[T]) single(row lynq.Row, id string) bool {
	bare := strings.TrimSpace(id)
	if line, twice := r.seen.add(bare, row.Line); twice {
		fix := "a uid names one tenant: keep one row active; the other is at " + r.input.Place(line)
		if id != bare {
			fix += "; blanks around it do not count"
		}
		r.refuse(row, lynq.Problem{What: fmt.Sprintf("uid %s (column %q) has two active rows", phrase.Quote(id), r.columns[r.uid]), Fix: fix})
		return false
	}
	r.renamed.note(row, bare)
	return true
}

// refuse notes the problem of a row that stops the run.
func (r *rowReader[T]) refuse(row lynq.Row, p lynq.Problem) {
	if len(r.bad) == maxFailures {
		r.more++
		return
	}
	p.Pos, p.AtRow, p.Row = lynq.Pos{File: r.input.Place(row.Line)}, true, strings.Clone(p.Row)
	r.bad = append(r.bad, badRow{row.Line, p})
}

// badRows returns the bad rows in the order of their file. They have bad activation values, or
// are active with an empty or duplicate uid (contract: rows).
func (r *rowReader[T]) badRows() *RowsError {
	slices.SortStableFunc(r.bad, func(a, b badRow) int { return cmp.Compare(a.line, b.line) })
	e := &RowsError{More: r.more}
	for _, b := range r.bad {
		e.Problems = append(e.Problems, b.problem)
	}
	return e
}

// RowsError lists rows that stop a run, or that failed to render. It has the order of the file
// or the result.
type RowsError struct {
	Problems lynq.Problems
	More     int // number of unlisted problems
}

// maxFailures is the number of listed problems, so that a form that fails for every row doesn't
// fill the memory.
const maxFailures = 10_000

// add lists problems up to the limit, and counts the others.
func (e *RowsError) add(ps lynq.Problems) {
	room := min(len(ps), maxFailures-len(e.Problems))
	e.Problems = append(e.Problems, ps[:room]...)
	e.More += len(ps) - room
}

// Error is a line for each problem.
func (e *RowsError) Error() string { return strings.Join(e.listed([]string{e.Problems.Error()}), "\n") }

// Lines are for people: rows with the same problem share a line.
func (e *RowsError) Lines() []string { return e.listed(e.Problems.Lines()) }

// listed adds a line for the unlisted problems.
func (e *RowsError) listed(lines []string) []string {
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more", e.More))
	}
	return lines
}
