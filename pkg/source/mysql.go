package source

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// mysqlSource reads a table or view of a MySQL, MariaDB or TiDB server.
type mysqlSource struct {
	server
	db   *sql.DB
	conn *sql.Conn // nil until the next reading connects again
}

func openMySQL(ctx context.Context, c endpoint.Connection, _ given) (Source, error) {
	c, err := checkServer(c)
	if err != nil {
		return nil, err
	}
	encryption, err := tlsConfig(c)
	if err != nil {
		return nil, err
	}
	s := &mysqlSource{server: newServer(c)}
	config := mysql.NewConfig()
	config.User, config.Passwd = c.Username, string(c.Password)
	config.Net, config.Addr = "tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	if c.Socket() {
		config.Net, config.Addr = "unix", c.Host
	}
	config.DBName = c.Database
	config.Timeout = connectTimeout
	config.DialFunc = s.silence.dial
	config.TLS = encryption
	config.AllowFallbackToPlaintext = tlsMode(c) == endpoint.TLSPrefer
	config.Logger = &mysql.NopLogger{} // the driver returns important messages as errors
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	s.db = sql.OpenDB(connector)
	s.db.SetMaxIdleConns(-1) // each reading has its own connection
	if err := s.connect(ctx); err != nil {
		_ = s.db.Close() // it has no connection
		return nil, err
	}
	return s, nil
}

// connect opens a connection unless one is open.
func (s *mysqlSource) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := s.db.Conn(limited)
	if err != nil {
		return s.failed(ctx, err)
	}
	s.conn = conn
	if err := s.whole(limited); err != nil {
		s.disconnect()
		return err
	}
	return nil
}

// whole removes limits of the server that would shorten a result without an error. It
// doesn't set DEFAULT, because that is the server's own limit.
func (s *mysqlSource) whole(ctx context.Context) error {
	for _, setting := range []string{"sql_select_limit = 18446744073709551615", "sql_big_selects = 1"} {
		_, err := s.conn.ExecContext(ctx, "SET SESSION "+setting)
		if err != nil && !isMySQLError(err, errUnknownVariable) {
			return s.failed(ctx, err)
		}
	}
	return nil
}

// disconnect closes the connection, which also ends the transaction.
func (s *mysqlSource) disconnect() {
	if s.conn != nil {
		_ = s.conn.Close() // nothing was written, so nothing is lost
		s.conn = nil
	}
}

// Place implements Source.
func (s *mysqlSource) Place(line int) string { return s.place(line) }

// Close implements Source.
func (s *mysqlSource) Close() error {
	s.disconnect()
	return s.db.Close()
}

// Records implements Source.
func (s *mysqlSource) Records(ctx context.Context, q Query) iter.Seq2[lynq.Row, error] {
	return stream(func(emit func(lynq.Row) bool) error {
		b, err := newBuilder(q, fixTableText)
		if err != nil {
			return err
		}
		if err := s.connect(ctx); err != nil {
			return err
		}
		defer s.disconnect()
		if err := s.begin(ctx); err != nil {
			return err
		}
		statement, err := s.statement(ctx, q)
		if err != nil {
			return err
		}
		// If the caller stops early, ending the context cuts the result off. Closing it
		// alone would read the rest.
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		rows, err := s.conn.QueryContext(inner, statement)
		if err != nil {
			return s.failed(ctx, err)
		}
		defer func() { cancel(); _ = rows.Close() }()
		if complete, err := s.emit(ctx, rows, b, emit); err != nil || !complete {
			return err
		}
		return s.checkCount(ctx, b.count)
	})
}

// checkCount compares the number of rows read with the server's count in the same
// snapshot.
func (s *mysqlSource) checkCount(ctx context.Context, read int) error {
	var counted int
	err := s.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+s.quotedTable()+whereClause(s.target.Where)).Scan(&counted)
	if err != nil {
		return s.brokeOff(ctx, read, err)
	}
	return checkCount(s.tablePlace(), read, counted)
}

// begin starts the snapshot. It sets time zone, character set and padding, so that values
// look the same for every client.
func (s *mysqlSource) begin(ctx context.Context) error {
	for _, statement := range []string{
		"SET NAMES utf8mb4",
		"SET time_zone = '+00:00', sql_mode = ''",
		"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
	} {
		if _, err := s.conn.ExecContext(ctx, statement); err != nil {
			return s.failed(ctx, err)
		}
	}
	_, err := s.conn.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
	if isMySQLError(err, errParse) {
		// TiDB doesn't support READ ONLY together with a snapshot. lynqctl writes nothing
		// anyway.
		_, err = s.conn.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
	}
	if err != nil {
		return s.failed(ctx, err)
	}
	return nil
}

// statement checks the table and the columns, and returns the query.
func (s *mysqlSource) statement(ctx context.Context, q Query) (string, error) {
	names, types, err := s.columns(ctx)
	if err != nil {
		return "", err
	}
	found, err := checkColumns(s.tablePlace(), q, names, strings.EqualFold)
	if err != nil {
		return "", err
	}
	if err := s.checkWhere(ctx); err != nil {
		return "", err
	}
	list := make([]string, len(found))
	order := ""
	for i, at := range found {
		if function := mysqlFunction(types[at]); function != "" {
			return "", &Error{Place: s.tablePlace(), What: fmt.Sprintf("column %q holds %s values, which are bytes and no text", names[at], types[at]), Fix: "read a view that selects " + function + " of it"}
		}
		list[i] = mysqlText(quoteBacktick(names[at]), types[at])
		if q.Columns[i] == q.UID {
			order = "CAST(CONVERT(" + list[i] + " USING utf8mb4) AS BINARY)"
		}
	}
	return fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s", strings.Join(list, ", "), s.quotedTable(), whereClause(s.target.Where), order), nil
}

// checkWhere has the server prepare the condition, which reads no row.
func (s *mysqlSource) checkWhere(ctx context.Context) error {
	where := s.target.Where
	if where.SQL == "" {
		return nil
	}
	prepared, err := s.conn.PrepareContext(ctx, whereProbe(s.quotedTable(), where))
	if err == nil {
		defer func() { _ = prepared.Close() }() // the connection ends it anyway
	}
	answer, ok := errors.AsType[*mysql.MySQLError](err)
	switch {
	case err == nil:
		return nil
	case !ok || isMySQLError(err, errTableDenied, errColumnDenied, errViewInvalid):
		return s.failed(ctx, err)
	}
	return whereError(where, s.tablePlace(), answer.Message)
}

// mysqlText returns the expression for a column's text. The server formats numbers,
// because the driver would drop leading zeros and change the notation. Bits become a
// number.
func mysqlText(column, typeName string) string {
	kind := strings.TrimRight(strings.ToLower(typeName), " ")
	if cut := strings.IndexAny(kind, "( "); cut >= 0 {
		kind = kind[:cut]
	}
	switch kind {
	case "bit":
		return "CAST(CAST(" + column + " AS UNSIGNED) AS CHAR)"
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year", "float", "double":
		return "CAST(" + column + " AS CHAR)"
	}
	return column
}

// mysqlFunction returns the function that turns values of a type into text. It returns "" for
// types whose values lynqctl reads. Bytes of these types are sometimes UTF-8 by accident.
func mysqlFunction(typeName string) string {
	kind, _, _ := strings.Cut(strings.ToLower(typeName), "(")
	switch strings.TrimSpace(kind) {
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection":
		return "ST_AsText"
	case "vector":
		return "VEC_ToText (in MySQL VECTOR_TO_STRING)"
	}
	return ""
}

// columns returns names and types of the columns that the user may see.
func (s *mysqlSource) columns(ctx context.Context) (names, types []string, err error) {
	if s.target.Table == "" {
		return nil, nil, s.noTable(ctx)
	}
	rows, err := s.conn.QueryContext(ctx, "SHOW COLUMNS FROM "+s.quotedTable()) //nolint:gosec // the name is quoted
	if isMySQLError(err, errNoSuchTable, errBadDatabase, errDatabaseDenied) {
		return nil, nil, s.noTable(ctx)
	}
	if isMySQLError(err, errTableDenied) {
		return nil, nil, s.denied(ctx, err)
	}
	if err != nil {
		return nil, nil, s.failed(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name, typeName string
		var rest [4]sql.RawBytes
		if err := rows.Scan(&name, &typeName, &rest[0], &rest[1], &rest[2], &rest[3]); err != nil {
			return nil, nil, s.failed(ctx, err)
		}
		names, types = append(names, name), append(types, typeName)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, s.failed(ctx, err)
	}
	return names, types, nil
}

// noTable returns the error for a missing table, with the existing tables.
func (s *mysqlSource) noTable(ctx context.Context) error {
	schema, table := splitTable(s.target.Table)
	query := "SHOW TABLES"
	if schema != "" {
		query += " FROM " + quoteBacktick(schema)
	}
	exist, err := s.names(ctx, query)
	if isMySQLError(err, errBadDatabase, errDatabaseDenied) {
		return s.noSchema(ctx, schema, nil)
	}
	if err != nil {
		return s.failed(ctx, err)
	}
	var elsewhere []string
	if schema == "" && table != "" {
		elsewhere, err = s.names(ctx, "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_NAME = ? ORDER BY 1", table)
		if err != nil {
			return s.failed(ctx, err)
		}
	}
	return missingTable(s.name, s.target.Table, table, exist, elsewhere...)
}

// denied returns the error for a table that the user may not read. Servers send it, too, if
// the schema doesn't exist.
func (s *mysqlSource) denied(ctx context.Context, cause error) error {
	schema, _ := splitTable(s.target.Table)
	if schema == "" {
		return s.failed(ctx, cause)
	}
	return s.noSchema(ctx, schema, cause)
}

// noSchema returns the error for a schema that the user doesn't see, with those that the
// user sees. denial is the server's answer, or nil if it says that the schema is missing.
func (s *mysqlSource) noSchema(ctx context.Context, schema string, denial error) error {
	schemas, err := s.names(ctx, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA")
	if err != nil {
		return s.failed(ctx, err)
	}
	if denial != nil && slices.ContainsFunc(schemas, func(name string) bool { return strings.EqualFold(name, schema) }) {
		return s.failed(ctx, denial)
	}
	var dotted []string
	if s.target.Database != "" {
		if dotted, err = s.names(ctx, "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", s.target.Table); err != nil {
			return s.failed(ctx, err)
		}
	}
	return s.missingSchema(schema, schemas, dotted, denial)
}

// names returns the first column of a small result.
func (s *mysqlSource) names(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// emit passes on the rows. complete is false if the caller stops early.
func (s *mysqlSource) emit(ctx context.Context, rows *sql.Rows, b *builder, emit func(lynq.Row) bool) (complete bool, err error) {
	texts := make([]sql.RawBytes, len(b.columns))
	into := make([]any, len(texts))
	for i := range texts {
		into[i] = &texts[i]
	}
	for rows.Next() {
		if err := stopped(ctx, s.name, b.count); err != nil {
			return false, err
		}
		if err := rows.Scan(into...); err != nil {
			return false, s.brokeOff(ctx, b.count, err)
		}
		for _, text := range texts {
			if text == nil {
				b.addNull()
			} else {
				b.add(text)
			}
		}
		rec, err := b.record(b.count+1, s.Place)
		if err != nil {
			return false, err
		}
		if !emit(rec) {
			return false, nil
		}
	}
	if err = rows.Err(); err == nil {
		return true, nil
	}
	if _, ok := errors.AsType[*mysql.MySQLError](err); ok && b.count == 0 {
		return false, s.failed(ctx, err)
	}
	return false, s.brokeOff(ctx, b.count, err)
}

// quotedTable returns the table's name, quoted for a statement.
func (s *mysqlSource) quotedTable() string {
	schema, table := splitTable(s.target.Table)
	if schema == "" {
		return quoteBacktick(table)
	}
	return quoteBacktick(schema) + "." + quoteBacktick(table)
}

// quoteBacktick quotes an identifier for MySQL.
func quoteBacktick(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// These error numbers of the server have their own messages.
const (
	errDatabaseDenied  = 1044
	errAccessDenied    = 1045
	errNoDatabase      = 1046
	errBadDatabase     = 1049
	errParse           = 1064
	errHostDenied      = 1130
	errTableDenied     = 1142
	errColumnDenied    = 1143
	errNoSuchTable     = 1146
	errUnknownVariable = 1193
	errViewInvalid     = 1356
	errNoPassword      = 1698
	errMustChange      = 1820
	errExpired         = 1862
	errLocked          = 3118
	errLockedMariaDB   = 4151
)

func isMySQLError(err error, numbers ...uint16) bool {
	answer, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return false
	}
	for _, number := range numbers {
		if answer.Number == number {
			return true
		}
	}
	return false
}

// failed adds a fix to an error before the first row.
func (s *mysqlSource) failed(ctx context.Context, err error) error {
	answer, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		if errors.Is(err, mysql.ErrNoTLS) {
			return withoutTLS(s.target)
		}
		if errors.Is(err, driver.ErrBadConn) {
			err = mysql.ErrInvalidConn // one text for one cause, which watch reports once
		}
		return s.networkError(ctx, err)
	}
	switch answer.Number {
	case errAccessDenied, errHostDenied, errNoPassword, errMustChange, errExpired, errLocked, errLockedMariaDB:
		return s.loginError(answer.Message)
	case errDatabaseDenied, errBadDatabase:
		return s.databaseError()
	case errNoDatabase:
		return &Error{Place: s.name, What: "no database is set", Fix: "set database, or table to schema.table", Err: answer}
	case errTableDenied, errColumnDenied:
		return s.deniedError(answer.Message, "grant this user SELECT on it")
	case errViewInvalid:
		return &Error{Place: s.tablePlace(), What: "the view does not work", Fix: "fix the view, or its definer's rights", Err: answer}
	}
	return &Error{Place: s.name, What: "the server reports an error", Err: said(err)}
}

// Describe implements Source.
func (s *mysqlSource) Describe(ctx context.Context) ([]Column, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	defer s.disconnect()
	names, types, err := s.columns(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := s.keys(ctx)
	if err != nil {
		return nil, err
	}
	columns := named(names)
	for i := range columns {
		kind := strings.ToLower(types[i])
		columns[i].Binary = strings.Contains(kind, "blob") || strings.Contains(kind, "binary")
		columns[i].Key = keys[names[i]]
	}
	return columns, nil
}

// keys returns the keys that have one column. A view has none.
func (s *mysqlSource) keys(ctx context.Context) (map[string]Key, error) {
	rows, err := s.conn.QueryContext(ctx, "SHOW COLUMNS FROM "+s.quotedTable()) //nolint:gosec // the name is quoted
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	keys := map[string]Key{}
	var primary []string
	for rows.Next() {
		var name, key string
		var rest [4]sql.RawBytes
		if err := rows.Scan(&name, &rest[0], &rest[1], &key, &rest[2], &rest[3]); err != nil {
			return nil, s.failed(ctx, err)
		}
		switch key {
		case "PRI":
			primary = append(primary, name)
		case "UNI": // the server reports only keys with one column
			keys[name] = UniqueKey
		}
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed(ctx, err)
	}
	if len(primary) == 1 {
		keys[primary[0]] = PrimaryKey
	}
	return keys, nil
}

// saidMySQL is said for an error of MySQL, and nil for another one.
func saidMySQL(err error) error {
	answer, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok || answer.Number == errViewInvalid {
		return nil
	}
	told := *answer
	told.Message = withoutValues(string(answer.SQLState[:]), answer.Message)
	return &told
}
