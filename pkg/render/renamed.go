package render

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
)

// renamed are the active rows of a hub that had another uid before.
type renamed struct {
	column int // with that uid, expr.NoColumn for none
	rows   []renamedRow
}

// renamedRow is a row that had another uid before. The uids have no blanks around them.
type renamedRow struct {
	line          int
	uid, previous string
}

func renamedOf(h *form.Hub) renamed {
	if h.PreviousUID.Column == "" {
		return renamed{column: expr.NoColumn}
	}
	return renamed{column: slices.Index(Columns(h), h.PreviousUID.Column)}
}

// note notes an active row. One without an earlier uid, or with the one that it has, was
// not renamed.
func (r *renamed) note(row lynq.Row, uid string) {
	if r.column == expr.NoColumn {
		return
	}
	if previous := strings.TrimSpace(row.Values[r.column]); previous != "" && previous != uid {
		r.rows = append(r.rows, renamedRow{row.Line, strings.Clone(uid), strings.Clone(previous)})
	}
}

// checkRenamed refuses rows that had the uid which another active row has, or had too. The
// node of an active row is that row's, whatever another row says.
func (r *rowReader[T]) checkRenamed() {
	const fix = "a node goes on as that of one row; clear the value"
	first := map[string]renamedRow{}
	for _, row := range r.renamed.rows {
		at := lynq.Row{Line: row.line}
		column := r.columns[r.renamed.column]
		if line, active := r.seen.line(row.previous); active {
			r.refuse(at, fix, "row %s, column %q: %s is the uid of an active row, at %s", phrase.Quote(row.uid), column, phrase.Quote(row.previous), r.input.Place(line))
		} else if other, twice := first[row.previous]; twice {
			r.refuse(at, fix, "row %s, column %q: row %s had the uid %s too, at %s", phrase.Quote(row.uid), column, phrase.Quote(other.uid), phrase.Quote(row.previous), r.input.Place(other.line))
		}
		first[row.previous] = row
		if r.input.Renamed != nil {
			r.input.Renamed(row.uid, row.previous)
		}
	}
}
