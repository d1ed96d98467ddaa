package source

import (
	"context"
	"database/sql"
	"strings"
)

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
