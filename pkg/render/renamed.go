package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
)

// renamed has a hub's active rows with a previous uid.
type renamed struct {
	column int // column with the previous uid; expr.NoColumn for none
	rows   []renamedRow
}

// renamedRow is a row with a previous uid. The uids have no white space around them.
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

// note stores an active row with a previous uid that differs from its uid.
func (r *renamed) note(row lynq.Row, uid string) {
	if r.column == expr.NoColumn {
		return
	}
	if previous := strings.TrimSpace(row.Values[r.column]); previous != "" && previous != uid {
		r.rows = append(r.rows, renamedRow{row.Line, strings.Clone(uid), strings.Clone(previous)})
	}
}

// checkRenamed refuses a previous uid that another active row has, or had too. An active
// row owns the node of its uid, whatever another row claims.
func (r *rowReader[T]) checkRenamed() {
	const fix = "a node goes on as that of one row; clear the value"
	first := map[string]renamedRow{}
	for _, row := range r.renamed.rows {
		at := lynq.Row{Line: row.line}
		column := r.columns[r.renamed.column]
		if line, active := r.seen.line(row.previous); active {
			r.refuse(at, lynq.Problem{Row: row.uid, Column: column, What: fmt.Sprintf("%s is the uid of an active row, at %s", phrase.Quote(row.previous), r.input.Place(line)), Fix: fix})
		} else if other, twice := first[row.previous]; twice {
			r.refuse(at, lynq.Problem{Row: row.uid, Column: column, What: fmt.Sprintf("row %s had the uid %s too, at %s", phrase.Quote(other.uid), phrase.Quote(row.previous), r.input.Place(other.line)), Fix: fix})
		}
		first[row.previous] = row
		if r.input.Renamed != nil {
			r.input.Renamed(row.uid, row.previous)
		}
	}
}
