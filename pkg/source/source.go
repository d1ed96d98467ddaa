package source

import (
	"context"
	"iter"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Query says what to read of a source's table.
type Query struct {
	// Columns to read, distinct, in the order in which lynq.Row.Values has them.
	Columns []string
	// UID is the one of Columns by which the records are ordered.
	UID string
}

// Source is an opened source of rows.
type Source interface {
	// Records yields the rows in ascending byte order of the text of their
	// uid, from one consistent read-only snapshot. Rows whose uid is NULL come
	// first; neither they nor rows with one uid are left out. An error ends the
	// sequence, and means that what came before it must not be taken for the
	// whole. Records may be called again, for a new snapshot, when the last
	// sequence has ended.
	Records(ctx context.Context, q Query) iter.Seq2[lynq.Row, error]
	// Describe tells the columns of the table, in its order.
	Describe(ctx context.Context) ([]Column, error)
	// Place names record line for messages: "rows.csv:17", or "row 17 of
	// table nodes in mysql://db.example:3306/crm". Never holds a password.
	Place(line int) string
	// Close frees what Open took.
	Close() error
}
