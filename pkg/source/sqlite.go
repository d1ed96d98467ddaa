package source

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// sqliteSource reads a table or view of a SQLite file.
type sqliteSource struct {
	db    *sql.DB
	path  string
	table string
	where endpoint.Where
	// locked is how long a writer may lock the file.
	locked time.Duration
}

// openSQLite opens the file read-only. It never creates a missing file. SQLite checks the
// file at the first read.
func openSQLite(_ context.Context, c endpoint.Connection, _ given) (Source, error) {
	if c.Path == "" {
		return nil, &Error{Place: string(c.Type), What: "no path is set", Fix: "set path to a SQLite file"}
	}
	info, err := statFile(c.Path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Place: c.Path, What: "it is a pipe, not a SQLite file", Fix: "write it to a file first"}
	}
	name := "file:" + url.PathEscape(filepath.ToSlash(filepath.Clean(c.Path))) + "?mode=ro"
	if c.Where.SQL != "" {
		name += "&_dqs=0" // SQLite takes an unknown column in double quotes for a text
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, sqliteError(c.Path, err)
	}
	db.SetMaxOpenConns(1)
	return &sqliteSource{db: db, path: c.Path, table: c.Table, where: c.Where, locked: cmp.Or(c.Silence, connectTimeout)}, nil
}

// onlyTable fills in the table of a SQLite file with one table.
func onlyTable(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	if c.Table != "" {
		return c, nil
	}
	src, err := openSQLite(ctx, c, given{})
	if err != nil {
		return c, err
	}
	defer func() { _ = src.Close() }() // nothing was written
	if _, err := src.Describe(ctx); err != nil {
		return c, err
	}
	if s, ok := src.(*sqliteSource); ok {
		c.Table = s.table
	}
	return c, nil
}

// Place implements Source.
func (s *sqliteSource) Place(line int) string {
	return fmt.Sprintf("row %d of table %s in %s", line, s.table, s.path)
}

// Close implements Source.
func (s *sqliteSource) Close() error { return s.db.Close() }

// Records implements Source. One transaction reads one state of the file.
func (s *sqliteSource) Records(ctx context.Context, q Query) iter.Seq2[lynq.Row, error] {
	return stream(func(emit func(lynq.Row) bool) error {
		b, err := newBuilder(q, fixTableText)
		if err != nil {
			return err
		}
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return s.failed(ctx, 0, err)
		}
		// Nothing was written, so ending the transaction cannot lose anything.
		defer func() { _ = tx.Rollback() }()
		if err := s.begin(ctx, tx); err != nil {
			return err
		}
		statement, err := s.statement(ctx, tx, q)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, statement)
		if err != nil {
			return s.failed(ctx, 0, err)
		}
		defer func() { _ = rows.Close() }()
		if complete, err := s.emit(ctx, rows, b, emit); err != nil || !complete {
			return err
		}
		return s.checkCount(ctx, tx, b.count)
	})
}

// checkCount compares the number of rows read with SQLite's count. They differ if an index
// is damaged.
func (s *sqliteSource) checkCount(ctx context.Context, tx *sql.Tx, read int) error {
	var counted int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+quoteDouble(s.table)+whereClause(s.where)).Scan(&counted); err != nil {
		return s.failed(ctx, read, err)
	}
	return checkCount(s.tablePlace(), read, counted)
}

// tablePlace names the table.
func (s *sqliteSource) tablePlace() string { return fmt.Sprintf("table %s in %s", s.table, s.path) }

// emit passes on the rows. complete is false if the caller stops early.
func (s *sqliteSource) emit(ctx context.Context, rows *sql.Rows, b *builder, emit func(lynq.Row) bool) (complete bool, err error) {
	texts := make([]any, len(b.columns))
	into := make([]any, len(texts))
	for i := range texts {
		into[i] = &texts[i]
	}
	for rows.Next() {
		if err := stopped(ctx, s.path, b.count); err != nil {
			return false, err
		}
		if err := rows.Scan(into...); err != nil {
			return false, s.failed(ctx, b.count, err)
		}
		for i, text := range texts {
			// The query casts each column to text, so a value is a string or nil.
			value, ok := text.(string)
			b.rec.Values[i], b.rec.Null[i] = value, !ok
		}
		b.rec.Line = b.count + 1
		rec, err := b.finish(s.Place)
		if err != nil {
			return false, err
		}
		if !emit(rec) {
			return false, nil
		}
	}
	if err := rows.Err(); err != nil {
		return false, s.failed(ctx, b.count, err)
	}
	return true, nil
}

// failed explains why a query ended early.
func (s *sqliteSource) failed(ctx context.Context, rows int, err error) error {
	if isDone(ctx, err) {
		return brokeOff(ctx, s.path, rows, err)
	}
	return sqliteError(s.path, err)
}

// begin takes the snapshot with a first read. It waits for a writer itself, because the
// end of a context doesn't stop SQLite's own wait.
func (s *sqliteSource) begin(ctx context.Context, tx *sql.Tx) error {
	deadline := time.Now().Add(s.locked)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		encoding, err := s.names(ctx, tx, "SELECT encoding FROM pragma_encoding, (SELECT count(*) FROM sqlite_schema)")
		switch {
		case err == nil && !slices.Equal(encoding, []string{"UTF-8"}):
			return &Error{Place: s.path, What: "the database stores text as UTF-16, in another order", Fix: "dump it, and restore it into a new database"}
		case !isLocked(err) || time.Now().After(deadline):
			return err
		}
		select {
		case <-ctx.Done():
			return brokeOff(ctx, s.path, 0, err)
		case <-ticker.C:
		}
	}
}

// isLocked reports whether a writer has locked the file.
func isLocked(err error) bool {
	cause, ok := errors.AsType[*sqlite.Error](err)
	return ok && (cause.Code()&0xff == sqlite3.SQLITE_BUSY || cause.Code()&0xff == sqlite3.SQLITE_LOCKED)
}

// statement checks the table and the columns, and returns the query.
func (s *sqliteSource) statement(ctx context.Context, tx *sql.Tx, q Query) (string, error) {
	if err := s.useOnly(ctx, tx); err != nil {
		return "", err
	}
	have, err := s.names(ctx, tx, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1", s.table)
	if err != nil {
		return "", err
	}
	if len(have) == 0 {
		return "", s.noTable(ctx, tx)
	}
	found, err := checkColumns(s.tablePlace(), q, have, strings.EqualFold)
	if err != nil {
		return "", err
	}
	if err := s.checkWhere(ctx, tx); err != nil {
		return "", err
	}
	var list strings.Builder
	order := ""
	for i, at := range found {
		// SQLite takes an unknown name alone as a string. After a table, it is an error.
		expr := "CAST(" + quoteDouble(s.table) + "." + quoteDouble(have[at]) + " AS TEXT)"
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(expr)
		if q.Columns[i] == q.UID {
			order = expr + " COLLATE BINARY"
		}
	}
	return fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s", &list, quoteDouble(s.table), whereClause(s.where), order), nil
}

// checkWhere compiles the condition without running it.
func (s *sqliteSource) checkWhere(ctx context.Context, tx *sql.Tx) error {
	if s.where.SQL == "" {
		return nil
	}
	rows, err := tx.QueryContext(ctx, explain(whereProbe(quoteDouble(s.table), s.where)))
	if err == nil {
		defer func() { _ = rows.Close() }()
		err = rows.Err()
	}
	if answer, ok := errors.AsType[*sqlite.Error](err); ok && answer.Code()&0xff == sqlite3.SQLITE_ERROR {
		return whereError(s.where, s.tablePlace(), answer.Error())
	}
	if err != nil {
		return s.failed(ctx, 0, err)
	}
	return nil
}

// explain returns a statement that SQLite compiles and doesn't run.
func explain(statement string) string { return "EXPLAIN " + statement }

// useOnly chooses the table of a file with a single table or view, if nobody named one.
func (s *sqliteSource) useOnly(ctx context.Context, tx *sql.Tx) error {
	if s.table != "" {
		return nil
	}
	exist, err := s.tables(ctx, tx)
	if err == nil && len(exist) == 1 {
		s.table = exist[0]
	}
	return err
}

// tables returns the names of all tables and views.
func (s *sqliteSource) tables(ctx context.Context, tx *sql.Tx) ([]string, error) {
	return s.names(ctx, tx, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
}

// noTable returns the error for a missing table, with the existing tables.
func (s *sqliteSource) noTable(ctx context.Context, tx *sql.Tx) error {
	exist, err := s.tables(ctx, tx)
	if err != nil {
		return err
	}
	table := s.table
	if _, bare := splitTable(table); slices.Contains(exist, bare) {
		table = bare // a file has no schemas
	}
	return missingTable(s.path, s.table, table, exist)
}

// names returns the first column of a small result.
func (s *sqliteSource) names(ctx context.Context, tx *sql.Tx, query string, args ...any) ([]string, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.failed(ctx, 0, err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, s.failed(ctx, 0, err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed(ctx, 0, err)
	}
	return names, nil
}

// quoteDouble quotes an identifier for SQLite.
func quoteDouble(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// sqliteError adds a fix to a driver's error.
func sqliteError(path string, err error) error {
	e := &Error{Place: path, What: "reading failed", Err: said(err)}
	var cause *sqlite.Error
	if !errors.As(err, &cause) {
		return e
	}
	switch cause.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB:
		e.What, e.Fix = "it is not a SQLite database", "check the path; lynqctl can't read encrypted databases"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.What, e.Fix = "another program has locked it", "run again when it has finished"
	case sqlite3.SQLITE_CORRUPT:
		e.What, e.Fix = "the database is damaged", "restore it, or try the sqlite3 program's .recover"
	case sqlite3.SQLITE_CANTOPEN:
		e.What, e.Fix = "it can't be opened", "a database in WAL mode needs a folder that this user may write, or a copy made with VACUUM INTO"
	case sqlite3.SQLITE_READONLY:
		e.What, e.Fix = "its last writer did not finish", "open it once with a program that may write"
	}
	return e
}

// Describe implements Source.
func (s *sqliteSource) Describe(ctx context.Context) ([]Column, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, s.failed(ctx, 0, err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	if err := s.begin(ctx, tx); err != nil {
		return nil, err
	}
	if err := s.useOnly(ctx, tx); err != nil {
		return nil, err
	}
	names, err := s.names(ctx, tx, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1", s.table)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, s.noTable(ctx, tx)
	}
	columns := named(names)
	for key, query := range map[Key]string{
		PrimaryKey: "SELECT name FROM pragma_table_xinfo(?1) WHERE pk > 0 AND (SELECT count(*) FROM pragma_table_xinfo(?1) WHERE pk > 0) = 1",
		UniqueKey: `SELECT min(c.name) FROM pragma_index_list(?1) AS i JOIN pragma_index_xinfo(i.name) AS c
WHERE i."unique" AND NOT i.partial AND i.origin <> 'pk' AND c.key GROUP BY i.name HAVING count(*) = 1 AND min(c.name) IS NOT NULL`,
	} {
		keys, err := s.names(ctx, tx, query, s.table)
		if err != nil {
			return nil, err
		}
		mark(columns, keys, func(c *Column) { c.Key = max(c.Key, key) })
	}
	binary, err := s.names(ctx, tx, "SELECT name FROM pragma_table_xinfo(?) WHERE upper(type) LIKE '%BLOB%' OR upper(type) LIKE '%BINARY%'", s.table)
	if err != nil {
		return nil, err
	}
	mark(columns, binary, func(c *Column) { c.Binary = true })
	return columns, nil
}

// mark calls do for the columns with these names.
func mark(columns []Column, names []string, do func(*Column)) {
	for i := range columns {
		for _, name := range names {
			if strings.EqualFold(columns[i].Name, name) {
				do(&columns[i])
			}
		}
	}
}

// saidSQLite is said for an error of SQLite, and nil for another one.
func saidSQLite(err error) error {
	answer, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return nil
	}
	return &saidError{withoutValues("", answer.Error()), answer}
}

// saidError is an error of SQLite without values of rows.
type saidError struct {
	text  string
	cause error
}

func (e *saidError) Error() string { return e.text }
func (e *saidError) Unwrap() error { return e.cause }
