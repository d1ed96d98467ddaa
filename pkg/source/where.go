package source

import (
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// whereClause returns the end of a statement that limits its rows. CheckWhere has seen that
// the condition doesn't close the parenthesis.
func whereClause(w endpoint.Where) string {
	if w.SQL == "" {
		return ""
	}
	return " WHERE (" + w.SQL + ")"
}

// whereProbe returns a statement with the condition over its table alone, for the server's
// check.
func whereProbe(table string, w endpoint.Where) string {
	return "SELECT 1 FROM " + table + whereClause(w)
}

// whereError returns the error for a condition that a server refuses. The server has read
// no row then, so its message quotes only the condition.
func whereError(w endpoint.Where, table, message string) error {
	return &Error{Place: w.At, What: table + " doesn't take where: " + phrase.Shown(message), Fix: "write one expression over the columns of the table, in the SQL of this server"}
}
