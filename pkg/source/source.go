package source

import (
	"context"
	"iter"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Query names the columns to read from a source's table.
type Query struct {
	// Columns are distinct, and have the order of lynq.Row.Values.
	Columns []string
	// UID is the column that orders the records. Columns has it too.
	UID string
}

// Source is an open source of rows.
type Source interface {
	// Records returns the rows in byte order of their uid's text, from one consistent
	// read-only snapshot. Rows whose uid is NULL come first. It keeps rows with a NULL or
	// duplicate uid. An error ends the sequence. The caller must then not treat the rows
	// so far as the whole. When a sequence has ended, the caller may call Records again
	// for a new snapshot.
	Records(ctx context.Context, q Query) iter.Seq2[lynq.Row, error]
	// Describe returns the table's columns in their order.
	Describe(ctx context.Context) ([]Column, error)
	// Place names a record's line for messages, without a password. Examples are
	// "rows.csv:17" and "row 17 of table nodes in mysql://db.example:3306/crm".
	Place(line int) string
	// Close releases the resources of Open.
	Close() error
}

// Key says whether a column identifies rows.
type Key int

// A key has only one column here, because one column of a larger key identifies no row.
const (
	NoKey Key = iota
	UniqueKey
	PrimaryKey
)

// Column describes one column of a source.
type Column struct {
	Name string
	Key  Key
	// Binary is set if the values are bytes and need not be text.
	Binary bool
}

// named returns columns whose names alone are known.
func named(names []string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}
