package source_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// sqliteFile creates a database file with these statements, and returns a connection that
// can write.
func sqliteFile(t testing.TB, statements ...string) (string, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows of 100%?#.db")
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	sqliteExec(t, db, statements...)
	return path, db
}

func sqliteExec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%.200s: %v", statement, err)
		}
	}
}

func sqlite(path, table string) endpoint.Connection {
	return endpoint.Connection{Type: endpoint.SourceSQLite, Path: path, Table: table}
}

func TestSQLiteTypes(t *testing.T) {
	path, _ := sqliteFile(t,
		"CREATE TABLE t (id INTEGER, d DATE, b BOOLEAN, r REAL, n NUMERIC, x BLOB, s, stamp TIMESTAMP, g TEXT GENERATED ALWAYS AS (s || '!'))",
		"INSERT INTO t (id, d, b, r, n, x, s, stamp) VALUES (1, '2024-02-29', TRUE, 1, '1.50', x'74657874', 'ä😀', '2024-02-29 12:30:00')",
		"INSERT INTO t (id, d, b, r, n, x, s, stamp) VALUES (2, 1709164800, 0, 1e300, 9223372036854775807, NULL, '', NULL)")
	rows, err := read(t, sqlite(path, "t"), "id", "d", "B", "r", "n", "x", "s", "stamp", "g")
	if err != nil {
		t.Fatal(err)
	}
	want := []row{
		{1, []string{"1", "2024-02-29", "1", "1.0", "1.5", "text", "ä😀", "2024-02-29 12:30:00", "ä😀!"}},
		{2, []string{"2", "1709164800", "0", "1.0e+300", "9223372036854775807", null, "", null, "!"}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

// TestSQLiteReals checks that SQLite prints all digits of reals, and that lynqctl passes
// them on.
func TestSQLiteReals(t *testing.T) {
	path, db := sqliteFile(t, "CREATE TABLE t (id INTEGER, r)")
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, 5, -5, 0.1, 1e14, 1e15, -1e15, 123456789012345, 1e-5, 1e300, math.Inf(1), math.Inf(-1), 16777217.123456789, 0.1 + 0.2, math.MaxFloat64, 1 << 53, 1234567890123456.75}
	for range 500 {
		numbers = append(numbers, (random.Float64()-0.5)*math.Pow10(random.IntN(40)-20), math.Round(random.Float64()*1e6)/100)
	}
	for i, f := range numbers {
		if _, err := db.Exec("INSERT INTO t VALUES (?, ?)", 10000+i, f); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := read(t, sqlite(path, "t"), "id", "r")
	if err != nil || len(rows) != len(numbers) {
		t.Fatal(len(rows), err)
	}
	for i, row := range values(rows) {
		_, text, _ := strings.Cut(row, "|")
		if f, err := strconv.ParseFloat(text, 64); err != nil || f != numbers[i] {
			t.Errorf("%v is %s", numbers[i], text)
		}
	}
}

func TestSQLiteOrder(t *testing.T) {
	path, _ := sqliteFile(t, "CREATE TABLE t (id COLLATE NOCASE, n)",
		"INSERT INTO t VALUES ('b', 1), ('B', 2), ('a', 3), ('ä', 4), ('a ', 5), (NULL, 6), ('a', 7), ('😀', 8), ('￼', 9), ('', 10), (10, 11), (9, 12), ('Ā', 13)")
	rows, err := read(t, sqlite(path, "t"), "id")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{null, "", "10", "9", "B", "a", "a", "a ", "b", "ä", "Ā", "￼", "😀"}
	if diff := cmp.Diff(want, values(rows)); diff != "" {
		t.Error(diff)
	}
	path, _ = sqliteFile(t, "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE t (id)")
	_, err = read(t, sqlite(path, "t"), "id")
	wantError(t, err, path, "UTF-16", "dump")
}

func TestSQLiteIdentifiers(t *testing.T) {
	path, db := sqliteFile(t, "CREATE TABLE victim (id)", "INSERT INTO victim VALUES ('alive')")
	for _, name := range []string{"order", "select", "MixedCase", "with space", "a.b", `quo"te`, "back`tick", "[brackets]", `x"; DROP TABLE victim; --`, "it's", "ünï😀", "%3f?"} {
		t.Run(name, func(t *testing.T) {
			quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
			sqliteExec(t, db, fmt.Sprintf("CREATE TABLE %s (%s, id)", quoted, quoted), fmt.Sprintf("INSERT INTO %s VALUES ('b', 1), ('a', 2)", quoted))
			rows, err := read(t, sqlite(path, name), name, "id")
			if err != nil {
				t.Errorf("%q: %v", name, err)
			} else if diff := cmp.Diff([]string{"a|2", "b|1"}, values(rows)); diff != "" {
				t.Errorf("%q: %s", name, diff)
			}
		})
	}
	if rows, err := read(t, sqlite(path, "victim"), "id"); err != nil || len(rows) != 1 {
		t.Errorf("the table that injections aim at has rows %v, error %v", rows, err)
	}
}

func TestSQLiteView(t *testing.T) {
	path, _ := sqliteFile(t, "CREATE TABLE t (id, n)", "INSERT INTO t VALUES ('a', 1), ('b', 2)", "CREATE VIEW v AS SELECT id AS uid FROM t WHERE n > 1")
	rows, err := read(t, sqlite(path, "v"), "uid")
	if err != nil || len(rows) != 1 || rows[0].Values[0] != "b" {
		t.Errorf("rows %v, error %v", rows, err)
	}
}

func TestSQLiteErrors(t *testing.T) {
	path, _ := sqliteFile(t, "CREATE TABLE tenants (id, name)", "CREATE VIEW broken AS SELECT x FROM nowhere",
		"INSERT INTO tenants VALUES (1, x'ff')")
	_, err := read(t, sqlite(path, "tenant"), "id")
	wantError(t, err, path+`: table "tenant" does not exist (did you mean "tenants"? there are broken, tenants)`)
	_, err = read(t, sqlite(path, "main.tenants"), "id")
	wantError(t, err, path+`: table "main.tenants" does not exist (did you mean "tenants"?`)
	_, err = read(t, sqlite(path, "tenants"), "namme", "id", "plan")
	wantError(t, err, "table tenants in "+path, `no column "namme", "plan"`, `it has "id", "name"`)
	_, err = read(t, sqlite(path, "tenants"), "id", "name")
	wantError(t, err, "row 1 of table tenants in "+path, `column "name"`, "not UTF-8")
	_, err = read(t, sqlite(path, "broken"), "id")
	wantError(t, err, path, "nowhere")
	_, err = read(t, sqlite(path, ""), "id")
	wantError(t, err, path+": no table is named (set table to one of these, or in a URL add ?table=TABLE: broken, tenants)")

	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = read(t, sqlite(empty, "t"), "id")
	wantError(t, err, `table "t" does not exist`, "no tables")
	text := file(t, "text.db", strings.Repeat("this is no database\n", 100))
	_, err = read(t, sqlite(text.Path, "t"), "id")
	wantError(t, err, text.Path+": it is not a SQLite database")
}

func TestSQLiteDamaged(t *testing.T) {
	path, db := sqliteFile(t, sqliteNumbered(5000)...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 2; i < len(content)*3/4; i++ {
		content[i] = 0xa5
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = read(t, sqlite(path, "t"), "id", "name")
	wantError(t, err, path+": the database is damaged")
}

// TestSQLiteShortIndex has an index without some rows, so that two counts differ.
func TestSQLiteShortIndex(t *testing.T) {
	path, db := sqliteFile(t, "CREATE TABLE t (id TEXT, name TEXT)", "CREATE INDEX i ON t (id)", "INSERT INTO t VALUES ('a', 1), ('b', 2)",
		"CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'i'",
		"PRAGMA writable_schema = ON", "DELETE FROM sqlite_schema WHERE name = 'i'", "PRAGMA writable_schema = RESET",
		"INSERT INTO t VALUES ('c', 3)",
		"PRAGMA writable_schema = ON", "INSERT INTO sqlite_schema SELECT * FROM kept", "PRAGMA writable_schema = RESET")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := read(t, sqlite(path, "t"), "id", "name")
	wantError(t, err, "table t in "+path, "3 rows were read", "COUNT(*) in the same snapshot is 2")
}

func sqliteNumbered(n int) []string {
	return []string{"CREATE TABLE t (id TEXT, name TEXT)",
		fmt.Sprintf("WITH RECURSIVE s(n) AS (SELECT %d UNION ALL SELECT n - 1 FROM s WHERE n > 1) INSERT INTO t SELECT printf('t%%06d', n), printf('%%.80c', 'x') FROM s", n)}
}

func TestSQLiteSnapshot(t *testing.T) {
	const n = 5000
	for _, mode := range []string{"WAL", "DELETE"} {
		path, db := sqliteFile(t, append([]string{"PRAGMA journal_mode = " + mode, "PRAGMA busy_timeout = 0"}, sqliteNumbered(n)...)...)
		src, err := source.Open(t.Context(), sqlite(path, "t"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer closeSource(t, src)
		count, renamed := 0, 0
		for rec, err := range src.Records(t.Context(), source.Query{Columns: []string{"id", "name"}, UID: "id"}) {
			if err != nil {
				t.Fatal(err)
			}
			if count == 0 {
				_, err := db.Exec("DELETE FROM t WHERE id > 't002500'; UPDATE t SET name = 'new'")
				if (mode == "WAL") != (err == nil) {
					t.Errorf("%s: writing during the read: %v", mode, err)
				}
			}
			if rec.Values[1] == "new" {
				renamed++
			}
			count++
		}
		if count != n || renamed != 0 {
			t.Errorf("%s: %d rows, %d of them changed; want the old state's %d", mode, count, renamed, n)
		}
		want := n
		if mode == "WAL" {
			want = n / 2
		}
		if rows, err := records(t.Context(), src, "id"); err != nil || len(rows) != want {
			t.Errorf("%s: the next reading has %d rows (%v), want %d", mode, len(rows), err, want)
		}
	}
}

func TestSQLiteReadsWALOfLiveWriter(t *testing.T) {
	path, db := sqliteFile(t, "PRAGMA journal_mode = WAL", "CREATE TABLE t (id)", "INSERT INTO t VALUES (1)")
	// Only the log has the row, because the writer keeps it open.
	if rows, err := read(t, sqlite(path, "t"), "id"); err != nil || len(rows) != 1 {
		t.Errorf("rows %v, error %v", rows, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if rows, err := read(t, sqlite(path, "t"), "id"); err != nil || len(rows) != 1 {
		t.Errorf("after the writer: rows %v, error %v", rows, err)
	}
}

func TestSQLiteCannotWrite(t *testing.T) {
	path, db := sqliteFile(t, "CREATE TABLE t (id)", "INSERT INTO t VALUES (1)")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if rows, err := read(t, sqlite(path, "t"), "id"); err != nil || len(rows) != 1 {
		t.Errorf("rows %v, error %v", rows, err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !cmp.Equal(before, after) {
		t.Errorf("reading changed the file (%v)", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("reading left %v beside the file (%v)", entries, err)
	}
}

func TestSQLiteLocked(t *testing.T) {
	path, _ := sqliteFile(t, "CREATE TABLE t (id)", "PRAGMA locking_mode = EXCLUSIVE", "INSERT INTO t VALUES (1)")
	ctx, cancel := context.WithCancel(t.Context())
	src, err := source.Open(ctx, sqlite(path, "t"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSource(t, src)
	go cancel()
	if _, err = records(ctx, src, "id"); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ended with %v, want the cancellation", err)
	}
	c := sqlite(path, "t")
	c.Silence = 100 * time.Millisecond // the file stays locked for longer
	_, err = read(t, c, "id")
	wantError(t, err, path+": another program has locked it", "run again")
}

func TestSQLiteCancel(t *testing.T) {
	path, _ := sqliteFile(t, sqliteNumbered(5000)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	src, err := source.Open(ctx, sqlite(path, "t"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSource(t, src)
	if got, want := src.Place(3), "row 3 of table t in "+path; got != want {
		t.Errorf("Place is %q, want %q", got, want)
	}
	for range src.Records(ctx, source.Query{Columns: []string{"id"}, UID: "id"}) {
		break
	}
	count := 0
	var last error
	for _, err := range src.Records(ctx, source.Query{Columns: []string{"id"}, UID: "id"}) {
		last = err
		if count++; count == 5 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the reading ended with %v after %d rows", last, count)
	}
}
