package source

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// postgresSource reads a table or view of a PostgreSQL server. It uses the text format of
// the protocol, so that values look as the server prints them.
type postgresSource struct {
	server
	config *pgconn.Config
	pg     *pgconn.PgConn // nil until the next reading connects again
}

func openPostgreSQL(ctx context.Context, c endpoint.Connection, _ given) (Source, error) {
	c, err := checkServer(c)
	if err != nil {
		return nil, err
	}
	s := &postgresSource{server: newServer(c)}
	if s.config, err = postgresConfig(c, s.silence.dial); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// connect opens a connection unless one is open.
func (s *postgresSource) connect(ctx context.Context) error {
	if s.pg != nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	pg, err := pgconn.ConnectConfig(limited, s.config)
	if err != nil {
		return s.failed(ctx, err)
	}
	s.pg = pg
	return nil
}

// Place implements Source.
func (s *postgresSource) Place(line int) string { return s.place(line) }

// Close implements Source.
func (s *postgresSource) Close() error {
	if s.pg == nil {
		return nil
	}
	pg := s.pg
	s.pg = nil
	// Close needs no answer from the server, and an ended context closes at once.
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = pg.Close(ended) // the error only reports the ended context
	return nil
}

// Records implements Source. It closes the connection after each reading, because an
// unfinished result makes it useless.
func (s *postgresSource) Records(ctx context.Context, q Query) iter.Seq2[lynq.Row, error] {
	return stream(func(emit func(lynq.Row) bool) error {
		b, err := newBuilder(q, fixTableText)
		if err != nil {
			return err
		}
		if err := s.connect(ctx); err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		if err := s.begin(ctx); err != nil {
			return err
		}
		columns, err := s.columns(ctx, q)
		if err != nil {
			return err
		}
		if complete, err := s.emit(ctx, columns, b, emit); err != nil || !complete {
			return err
		}
		return s.checkCount(ctx, b.count)
	})
}

// checkCount compares the number of rows read with the server's count in the same
// snapshot.
func (s *postgresSource) checkCount(ctx context.Context, read int) error {
	result := s.pg.ExecParams(ctx, "SELECT count(*) FROM "+s.quotedTable()+whereClause(s.target.Where), nil, nil, nil, nil).Read()
	if result.Err != nil {
		return s.brokeOff(ctx, read, result.Err)
	}
	counted, err := strconv.Atoi(string(result.Rows[0][0]))
	if err != nil {
		return s.brokeOff(ctx, read, err)
	}
	return checkCount(s.tablePlace(), read, counted)
}

// begin starts the snapshot. Its settings make values look the same for every client. They
// also turn rows that a policy would hide into an error. They end with the transaction,
// because a pooler shares the connection.
func (s *postgresSource) begin(ctx context.Context) error {
	_, err := s.pg.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL client_encoding = 'UTF8';
SET LOCAL standard_conforming_strings = on;
SET LOCAL TimeZone = 'UTC';
SET LOCAL DateStyle = 'ISO, YMD';
SET LOCAL IntervalStyle = 'postgres';
SET LOCAL bytea_output = 'hex';
SET LOCAL extra_float_digits = 1;
SET LOCAL row_security = off`).ReadAll()
	if err != nil {
		return s.failed(ctx, err)
	}
	return nil
}

// pgColumn is a queried column.
type pgColumn struct {
	expr  string // its value, which the server prints
	order string // the same text as an expression
	bytes bool   // its text has the bytes in hexadecimal
}

// describe sets the expressions for a column's text. A cast to text isn't always what the
// server prints: it adds /32 to an address, and types may define their own. concat prints
// as the server does. But booleans are words, and char(n) has no padding.
func (c *pgColumn) describe(name string, oid uint32) {
	const boolOID, byteaOID, textOID, bpcharOID, varcharOID = 16, 17, 25, 1042, 1043
	c.bytes = oid == byteaOID
	switch cast := "(" + name + ")::text"; oid {
	case boolOID, bpcharOID:
		c.expr, c.order = cast, cast
	case textOID, varcharOID:
		c.expr, c.order = name, cast
	default:
		c.expr, c.order = name, "pg_catalog.concat("+name+")"
	}
}

// columns checks that table and columns exist, and finds those that hold bytes.
func (s *postgresSource) columns(ctx context.Context, q Query) ([]pgColumn, error) {
	if s.target.Table == "" {
		return nil, s.noTable(ctx)
	}
	have, err := s.strings(ctx, `SELECT attname FROM pg_catalog.pg_attribute
WHERE attrelid = pg_catalog.to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, s.quotedTable())
	if err != nil {
		return nil, err
	}
	if len(have) == 0 {
		return nil, s.noTable(ctx)
	}
	found, err := checkColumns(s.tablePlace(), q, have, sameName)
	if err != nil {
		return nil, err
	}
	columns := make([]pgColumn, len(found))
	names := make([]string, len(found))
	for i, at := range found {
		names[i] = pgx.Identifier{have[at]}.Sanitize()
	}
	// A query without rows returns the types, with base types for domains. It also fails
	// if the user may not read.
	empty := s.pg.ExecParams(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+s.quotedTable()+" LIMIT 0", nil, nil, nil, nil)
	empty.NextRow()
	for i, field := range empty.FieldDescriptions() {
		columns[i].describe(names[i], field.DataTypeOID)
	}
	if _, err := empty.Close(); err != nil {
		return nil, s.failed(ctx, err)
	}
	return columns, s.checkWhere(ctx)
}

// checkWhere has the server prepare the condition, which reads no row.
func (s *postgresSource) checkWhere(ctx context.Context) error {
	where := s.target.Where
	if where.SQL == "" {
		return nil
	}
	_, err := s.pg.Prepare(ctx, "", whereProbe(s.quotedTable(), where), nil)
	answer, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		return nil
	case !ok || answer.Code == "42501" || !strings.HasPrefix(answer.Code, "42") && !strings.HasPrefix(answer.Code, "22"):
		return s.failed(ctx, err)
	}
	return whereError(where, s.tablePlace(), answer.Message)
}

// noTable returns the error for a missing table, with the existing tables.
func (s *postgresSource) noTable(ctx context.Context) error {
	schema, table := splitTable(s.target.Table)
	const tables = ` FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND `
	if schema != "" {
		schemas, err := s.strings(ctx, `SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname !~ $1`, "^pg_(toast|temp)")
		if err != nil {
			return err
		}
		if !slices.Contains(schemas, schema) {
			dotted, err := s.strings(ctx, `SELECT nspname || '.' || relname`+tables+`pg_catalog.pg_table_is_visible(c.oid) AND relname = $1`, s.target.Table)
			if err != nil {
				return err
			}
			return s.missingSchema(schema, schemas, dotted, nil)
		}
	}
	exist, err := s.strings(ctx, `SELECT relname`+tables+`CASE WHEN $1 = '' THEN pg_catalog.pg_table_is_visible(c.oid)
AND nspname <> 'pg_catalog' ELSE nspname = $1 END ORDER BY relname COLLATE "C"`, schema)
	if err != nil {
		return err
	}
	var elsewhere []string
	if schema == "" && table != "" {
		elsewhere, err = s.strings(ctx, `SELECT nspname || '.' || relname`+tables+`relname = $1 AND nspname !~ '^pg_' ORDER BY 1`, table)
		if err != nil {
			return err
		}
	}
	return missingTable(s.name, s.target.Table, table, exist, elsewhere...)
}

// strings returns the first column of a small result.
func (s *postgresSource) strings(ctx context.Context, query, arg string) ([]string, error) {
	result := s.pg.ExecParams(ctx, query, [][]byte{[]byte(arg)}, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, s.failed(ctx, result.Err)
	}
	texts := make([]string, len(result.Rows))
	for i, row := range result.Rows {
		texts[i] = string(row[0])
	}
	return texts, nil
}

// emit passes on the rows. complete is false if the caller stops early.
func (s *postgresSource) emit(ctx context.Context, columns []pgColumn, b *builder, emit func(lynq.Row) bool) (complete bool, err error) {
	exprs := make([]string, len(columns))
	for i, column := range columns {
		exprs[i] = column.expr
	}
	uid := columns[b.uid]
	query := fmt.Sprintf(`SELECT %s FROM %s%s ORDER BY %s COLLATE "C" NULLS FIRST, pg_catalog.num_nulls(%s) DESC`, strings.Join(exprs, ", "), s.quotedTable(), whereClause(s.target.Where), uid.order, uid.expr)
	result := s.pg.ExecParams(ctx, query, nil, nil, nil, nil)
	for result.NextRow() {
		if err := stopped(ctx, s.name, b.count); err != nil {
			return false, err
		}
		for i, value := range result.Values() {
			if err := b.addPostgres(value, columns[i].bytes); err != nil {
				return false, &Error{Place: s.Place(b.count + 1), What: fmt.Sprintf("column %q cannot be decoded", b.columns[i]), Err: err}
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
	if _, err = result.Close(); err == nil {
		return true, nil
	}
	if _, ok := errors.AsType[*pgconn.PgError](err); ok && b.count == 0 {
		return false, s.failed(ctx, err)
	}
	return false, s.brokeOff(ctx, b.count, err)
}

// addPostgres appends a value as the server sent it. Bytes arrive as \x and hexadecimal
// digits.
func (b *builder) addPostgres(value []byte, isBytes bool) error {
	switch {
	case value == nil:
		b.addNull()
	case isBytes:
		var err error
		if b.text, err = hex.AppendDecode(b.text, value[min(2, len(value)):]); err != nil {
			return err
		}
		b.end(false)
	default:
		b.add(value)
	}
	return nil
}

// quotedTable returns the table's name, quoted for a statement.
func (s *postgresSource) quotedTable() string {
	schema, table := splitTable(s.target.Table)
	if schema == "" {
		return pgx.Identifier{table}.Sanitize()
	}
	return pgx.Identifier{schema, table}.Sanitize()
}

// failed adds a fix to an error before the first row.
func (s *postgresSource) failed(ctx context.Context, err error) error {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if tlsMode(s.target) != endpoint.TLSPrefer && strings.Contains(err.Error(), "server refused TLS connection") {
			return withoutTLS(s.target)
		}
		if strings.Contains(err.Error(), "authentication method requirement") {
			return clearText(s.target)
		}
		return s.networkError(ctx, err)
	}
	switch answer.Code {
	case "28P01", "28000": // invalid_password, invalid_authorization_specification
		return s.loginError(answer.Message)
	case "3D000": // invalid_catalog_name
		return s.databaseError()
	case "42501": // insufficient_privilege
		if answer.Routine == "check_enable_rls" { // the message may be in any language
			return s.hiddenError(answer.Message)
		}
		if s.pg == nil {
			return s.loginError(answer.Message)
		}
		return s.deniedError(answer.Message, "grant this user SELECT on it, and USAGE on its schema")
	}
	return &Error{Place: s.name, What: "the server reports an error", Err: said(err)}
}

// Describe implements Source.
func (s *postgresSource) Describe(ctx context.Context) ([]Column, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	if s.target.Table == "" {
		return nil, s.noTable(ctx)
	}
	// The result has one text for each column. It starts with a digit for the key and one
	// for bytes, and ends with the name. Indexes on expressions or parts of a table don't
	// count as keys.
	found, err := s.strings(ctx, `SELECT CASE WHEN coalesce(bool_or(i.indisprimary), false) THEN '2' WHEN count(i.indrelid) > 0 THEN '1' ELSE '0' END
|| CASE WHEN a.atttypid = 'pg_catalog.bytea'::regtype THEN '1' ELSE '0' END || a.attname
FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_index i
ON i.indrelid = a.attrelid AND i.indisunique AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum AND i.indpred IS NULL AND i.indexprs IS NULL
WHERE a.attrelid = pg_catalog.to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
GROUP BY a.attnum, a.attname, a.atttypid ORDER BY a.attnum`, s.quotedTable())
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, s.noTable(ctx)
	}
	columns := make([]Column, len(found))
	for i, text := range found {
		columns[i] = Column{Name: text[2:], Key: Key(text[0] - '0'), Binary: text[1] == '1'}
	}
	return columns, nil
}

// saidPostgreSQL is said for an error of PostgreSQL, and nil for another one.
func saidPostgreSQL(err error) error {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return nil
	}
	return errors.New(withoutValues(answer.Code, answer.Message) + " (SQLSTATE " + answer.Code + ")")
}
