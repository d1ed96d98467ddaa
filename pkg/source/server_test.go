package source_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
	"github.com/lynqctl/lynqctl/test/dbtest"
)

// eachServer runs a test on both servers. quote quotes an identifier.
func eachServer(t *testing.T, test func(t *testing.T, s *dbtest.Server, quote func(string) string)) {
	t.Run("mysql", func(t *testing.T) {
		test(t, servers.MariaDB(t), func(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" })
	})
	t.Run("postgresql", func(t *testing.T) {
		test(t, servers.PostgreSQL(t), func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` })
	})
}

// numbered fills a table with n rows of about 100 bytes, whose ids start with t000001.
func numbered(t *testing.T, s *dbtest.Server, table string, n int) {
	t.Helper()
	fill := fmt.Sprintf("INSERT INTO %s SELECT CONCAT('t', LPAD(seq, 6, '0')), REPEAT('x', 80) FROM seq_1_to_%d ORDER BY seq DESC", table, n)
	if s.Type == endpoint.SourcePostgreSQL {
		fill = fmt.Sprintf("INSERT INTO %s SELECT 't' || lpad(n::text, 6, '0'), repeat('x', 80) FROM generate_series(%d, 1, -1) n", table, n)
	}
	s.Exec(t, "DROP TABLE IF EXISTS "+table, "CREATE TABLE "+table+" (id varchar(20), name varchar(100))", fill)
}

func TestServerOrderAndNulls(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		column := "id varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"
		if s.Type == endpoint.SourcePostgreSQL {
			column = `id varchar(20) COLLATE "en-x-icu"`
		}
		s.Exec(t, "DROP TABLE IF EXISTS ordered", "CREATE TABLE ordered ("+column+", n int, name varchar(20))",
			"INSERT INTO ordered VALUES ('b', 1, ''), ('B', 2, NULL), ('a', 3, 'x'), ('ä', 4, 'x'), ('a ', 5, 'x'), ('a-b', 6, 'x'), ('ab', 7, 'x'), (NULL, 8, 'x'), ('a', 9, 'x'), ('😀', 10, 'x'), ('￼', 11, 'x'), ('', 12, 'x'), ('10', 13, 'x'), ('9', 14, 'x')",
			"UPDATE ordered SET name = 'same' WHERE id = 'a' AND n IN (3, 9)")
		rows, err := read(t, s.Connection("ordered"), "id", "name")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{null + "|x", "|x", "10|x", "9|x", "B|" + null, "a|same", "a|same", "a |x", "a-b|x", "ab|x", "b|", "ä|x", "￼|x", "😀|x"}
		if diff := cmp.Diff(want, values(rows)); diff != "" {
			t.Error(diff)
		}
		byNumber, err := read(t, s.Connection("ordered"), "n", "id")
		if err != nil {
			t.Fatal(err)
		}
		if got := values(byNumber)[:3]; !cmp.Equal(got, []string{"1|b", "10|😀", "11|￼"}) {
			t.Errorf("numbers are ordered %q, want the order of their texts", got)
		}
	})
}

func TestServerIdentifiers(t *testing.T) {
	names := []string{"order", "select", "MixedCase", "with space", `quo"te`, "back`tick", "semi;colon", "x\"; DROP TABLE victim; --", "x`; DROP TABLE victim; -- -", "it's", "ünï😀"}
	eachServer(t, func(t *testing.T, s *dbtest.Server, quote func(string) string) {
		s.Exec(t, "DROP TABLE IF EXISTS victim", "CREATE TABLE victim (id varchar(10))", "INSERT INTO victim VALUES ('alive')")
		for _, name := range names {
			if s.Type == endpoint.SourceMySQL && strings.Contains(name, "😀") {
				name = "ünï" // MySQL's identifiers end at U+FFFF
			}
			s.Exec(t, "DROP TABLE IF EXISTS "+quote(name),
				"CREATE TABLE "+quote(name)+" ("+quote(name)+" varchar(10), id varchar(10))",
				"INSERT INTO "+quote(name)+" VALUES ('b', '1'), ('a', '2')")
			for _, table := range []string{name, schemaOf(s) + "." + name} {
				rows, err := read(t, s.Connection(table), name, "id")
				if err != nil {
					t.Errorf("%q: %v", table, err)
				} else if diff := cmp.Diff([]string{"a|2", "b|1"}, values(rows)); diff != "" {
					t.Errorf("%q: %s", table, diff)
				}
			}
		}
		if rows, err := read(t, s.Connection("victim"), "id"); err != nil || len(rows) != 1 {
			t.Errorf("the table that injections aim at has rows %v, error %v", rows, err)
		}
	})
}

// schemaOf returns the schema of a server's test tables.
func schemaOf(s *dbtest.Server) string {
	if s.Type == endpoint.SourcePostgreSQL {
		return "public"
	}
	return s.Database
}

func TestMySQLTypes(t *testing.T) {
	s := servers.MariaDB(t)
	checkTypes(t, s, []typeCase{
		{"tinyint(1)", "1", "1"},
		{"boolean", "FALSE", "0"},
		{"int", "-42", "-42"},
		{"int(6) unsigned zerofill", "42", "000042"},
		{"bigint unsigned", "18446744073709551615", "18446744073709551615"},
		{"decimal(30,10)", "'12345678901234567890.0123456789'", "12345678901234567890.0123456789"},
		{"float", "3.14", "3.14"},
		{"double", "1000000", "1000000"},
		{"double", "1e300", "1e300"},
		{"double", "0.1", "0.1"},
		{"year", "2024", "2024"},
		{"date", "'2024-02-29'", "2024-02-29"},
		{"date", "'0000-00-00'", "0000-00-00"},
		{"datetime", "'2024-02-29 12:30:00'", "2024-02-29 12:30:00"},
		{"datetime(6)", "'2024-02-29 12:30:00.000001'", "2024-02-29 12:30:00.000001"},
		{"timestamp NULL", "'2024-02-29 12:30:00'", "2024-02-29 12:30:00"},
		{"time", "'-12:30:00'", "-12:30:00"},
		{"bit(1)", "b'1'", "1"},
		{"bit(1)", "b'0'", "0"},
		{"bit(8)", "b'10000001'", "129"},
		{"bit(64)", "b'1111111111111111111111111111111111111111111111111111111111111111'", "18446744073709551615"},
		{"char(5)", "'ab'", "ab"},
		{"text CHARACTER SET utf8mb4", "'😀 ä'", "😀 ä"},
		{"varchar(20) CHARACTER SET latin1", "'ä€'", "ä€"},
		{"longtext CHARACTER SET utf8mb4", "REPEAT('ä', 200000)", strings.Repeat("ä", 200000)},
		{"enum('on', 'off')", "'off'", "off"},
		{"set('a', 'b', 'c')", "'c,a'", "a,c"},
		{"json", `'{"b": [1, 2.50], "a": null}'`, `{"b": [1, 2.50], "a": null}`},
		{"uuid", "'123E4567-e89b-12d3-a456-426614174000'", "123e4567-e89b-12d3-a456-426614174000"},
		{"char(36)", "'123e4567-e89b-12d3-a456-426614174000'", "123e4567-e89b-12d3-a456-426614174000"},
		{"inet6", "'::1'", "::1"},
		{"blob", "'text in bytes'", "text in bytes"},
		{"varbinary(20)", "_utf8mb4'ä'", "ä"},
	})
}

func TestPostgreSQLTypes(t *testing.T) {
	s := servers.PostgreSQL(t)
	s.Exec(t, "DROP TYPE IF EXISTS mood CASCADE", "CREATE TYPE mood AS ENUM ('sad', 'ok')",
		"DROP DOMAIN IF EXISTS raw CASCADE", "CREATE DOMAIN raw AS bytea", "SET TimeZone = 'Asia/Tokyo'")
	checkTypes(t, s, []typeCase{
		{"boolean", "true", "true"},
		{"boolean", "false", "false"},
		{"smallint", "-42", "-42"},
		{"bigint", "9223372036854775807", "9223372036854775807"},
		{"numeric", "'12345678901234567890.0123456789'", "12345678901234567890.0123456789"},
		{"numeric(10,2)", "1.5", "1.50"},
		{"real", "3.14", "3.14"},
		{"double precision", "0.1", "0.1"},
		{"double precision", "1e300", "1e+300"},
		{"date", "'2024-02-29'", "2024-02-29"},
		{"timestamp", "'2024-02-29 12:30:00.5'", "2024-02-29 12:30:00.5"},
		{"timestamptz", "'2024-02-29 12:30:00+09'", "2024-02-29 03:30:00+00"},
		{"time", "'12:30'", "12:30:00"},
		{"interval", "'1 day 02:00'", "1 day 02:00:00"},
		{"bit(1)", "B'1'", "1"},
		{"bit(8)", "B'10000001'", "10000001"},
		{"char(5)", "'ab'", "ab"},
		{"text", "'😀 ä'", "😀 ä"},
		{"mood", "'ok'", "ok"},
		{"json", `'{"b": [1, 2.50],  "a": null}'`, `{"b": [1, 2.50],  "a": null}`},
		{"jsonb", `'{"b": [1, 2.50],  "a": null}'`, `{"a": null, "b": [1, 2.50]}`},
		{"uuid", "'123E4567-e89b-12d3-a456-426614174000'", "123e4567-e89b-12d3-a456-426614174000"},
		{"inet", "'10.0.0.1/8'", "10.0.0.1/8"},
		{"text[]", `ARRAY['a b', NULL]`, `{"a b",NULL}`},
		{"xml", "'<a/>'", "<a/>"},
		{"bytea", "'text in bytes'", "text in bytes"},
		{"bytea", "convert_to('ä', 'UTF8')", "ä"},
		{"bytea", "''", ""},
		{"raw", "'domain'", "domain"},
	})
}

// typeCase is a column type, a value in SQL, and its expected text.
type typeCase struct{ kind, sql, want string }

// checkTypes reads each value, and NULL, from a column of the type.
func checkTypes(t *testing.T, s *dbtest.Server, cases []typeCase) {
	for _, c := range cases {
		t.Run(c.kind, func(t *testing.T) {
			s.Exec(t, "DROP TABLE IF EXISTS typed", "CREATE TABLE typed (id int, v "+c.kind+")",
				"INSERT INTO typed (id, v) VALUES (1, "+c.sql+"), (2, NULL)")
			rows, err := read(t, s.Connection("typed"), "id", "v")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"1|" + c.want, "2|" + null}, values(rows)); diff != "" {
				t.Error(diff)
			}
			// As a uid, each type must sort like its text.
			s.Exec(t, "DELETE FROM typed WHERE id = 2")
			if _, err := read(t, s.Connection("typed"), "v"); err != nil {
				t.Errorf("as uid: %v", err)
			}
		})
	}
}

func TestMySQLBitOrder(t *testing.T) {
	s := servers.MariaDB(t)
	s.Exec(t, "DROP TABLE IF EXISTS bits", "CREATE TABLE bits (id bit(8))", "INSERT INTO bits VALUES (9), (100), (20)")
	rows, err := read(t, s.Connection("bits"), "id")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"100", "20", "9"}, values(rows)); diff != "" {
		t.Error(diff)
	}
}

// TestMySQLLongUIDs checks that lynqctl notices the wrong order of long texts. The server
// sorts them by their first bytes only.
func TestMySQLLongUIDs(t *testing.T) {
	s := servers.MariaDB(t)
	s.Exec(t, "DROP TABLE IF EXISTS longs", "CREATE TABLE longs (id text)", "INSERT INTO longs VALUES (CONCAT(REPEAT('x', 2000), 'b')), (CONCAT(REPEAT('x', 2000), 'a'))")
	_, err := read(t, s.Connection("longs"), "id")
	wantError(t, err, "row 2 of table longs in mysql://", `column "id" in byte order`)
}

func TestServerBytesAreNotText(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		kind, value := "blob", "x'FF00'"
		if s.Type == endpoint.SourcePostgreSQL {
			kind, value = "bytea", `'\xFF00'`
		}
		s.Exec(t, "DROP TABLE IF EXISTS bytes", "CREATE TABLE bytes (id int, secret "+kind+")",
			"INSERT INTO bytes VALUES (1, 'fine'), (2, "+value+")")
		rows, err := read(t, s.Connection("bytes"), "id", "secret")
		wantError(t, err, "row 2 of table bytes in "+string(s.Type)+"://127.0.0.1:", `column "secret"`, "not UTF-8", "view")
		if len(rows) != 1 {
			t.Errorf("%d rows before the error, want 1", len(rows))
		}
	})
}

// TestMySQLServerLimits checks that session limits of the server neither shorten results
// nor refuse the table.
func TestMySQLServerLimits(t *testing.T) {
	s := servers.MariaDB(t)
	numbered(t, s, "limited", 20)
	t.Cleanup(func() {
		s.Exec(t, "SET GLOBAL sql_select_limit = DEFAULT", "SET GLOBAL max_join_size = DEFAULT", "SET GLOBAL sql_big_selects = 1")
	})
	for _, limit := range []string{"sql_select_limit = 1", "sql_select_limit = 0", "max_join_size = 2"} {
		t.Run(limit, func(t *testing.T) {
			s.Exec(t, "SET GLOBAL "+limit)
			rows, err := read(t, s.Connection("limited"), "id", "name")
			if err != nil || len(rows) != 20 {
				t.Errorf("%s: %d rows, error %v; want all 20", limit, len(rows), err)
			}
			src, err := source.Open(t.Context(), s.Connection("limited"), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if columns, err := src.Describe(t.Context()); err != nil || len(columns) != 2 {
				t.Errorf("%s: %d columns, error %v; want 2", limit, len(columns), err)
			}
			closeSource(t, src)
		})
	}
}

// TestPostgreSQLRowSecurity checks that rows hidden by a policy cause an error. A view of
// the table's owner can show the allowed rows.
func TestPostgreSQLRowSecurity(t *testing.T) {
	s := servers.PostgreSQL(t)
	s.Exec(t, "DROP TABLE IF EXISTS policed CASCADE", "CREATE TABLE policed (id int, customer text)",
		"INSERT INTO policed VALUES (1, 'reader'), (2, 'other')",
		"CREATE VIEW policedview AS SELECT * FROM policed WHERE customer = 'reader'",
		"CREATE POLICY own ON policed USING (customer = current_user)",
		"ALTER TABLE policed ENABLE ROW LEVEL SECURITY")
	_, err := read(t, s.Connection("policed"), "id")
	wantError(t, err, "postgresql://", `row level security would hide rows of table policed from user "reader"`, "BYPASSRLS", "view")
	rows, err := read(t, s.Connection("policedview"), "id")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1"}, values(rows)); diff != "" {
		t.Error(diff)
	}
}

// TestServerShortResult has a server that sends fewer rows than it counts. A view
// simulates this.
func TestServerShortResult(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "shortbase", 5)
		asked := "(SELECT INFO FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID())"
		if s.Type == endpoint.SourcePostgreSQL {
			asked = "lower(current_query())"
		}
		s.Exec(t, "DROP VIEW IF EXISTS shortview",
			"CREATE VIEW shortview AS SELECT * FROM shortbase WHERE id <= 't000003' OR "+asked+" LIKE '%count(*)%'")
		rows, err := read(t, s.Connection("shortview"), "id")
		wantError(t, err, "table shortview in "+string(s.Type)+"://", "3 rows were read", "COUNT(*) in the same snapshot is 5")
		if len(rows) != 3 {
			t.Errorf("%d rows before the error, want 3", len(rows))
		}
		if _, err := read(t, s.Connection("shortbase"), "id"); err != nil {
			t.Error(err)
		}
	})
}

func TestServerView(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "base", 3)
		s.Exec(t, "DROP VIEW IF EXISTS looking", "CREATE VIEW looking AS SELECT id AS uid, UPPER(name) AS up FROM base WHERE id <> 't000002'")
		rows, err := read(t, s.Connection("looking"), "uid")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"t000001", "t000003"}, values(rows)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMySQLColumnsWithoutCase(t *testing.T) {
	s := servers.MariaDB(t)
	s.Exec(t, "DROP TABLE IF EXISTS cased", "CREATE TABLE cased (Id int)", "INSERT INTO cased VALUES (1)")
	if rows, err := read(t, s.Connection("cased"), "iD"); err != nil || len(rows) != 1 {
		t.Errorf("rows %v, error %v; MySQL's column names have no case", rows, err)
	}
}

func TestMySQLColumnRights(t *testing.T) {
	s := servers.MariaDB(t)
	s.Exec(t, "CREATE DATABASE IF NOT EXISTS vault", "DROP TABLE IF EXISTS vault.t", "CREATE TABLE vault.t (id int, open int, hidden int)",
		"INSERT INTO vault.t VALUES (1, 2, 3)", "GRANT SELECT (id, open) ON vault.t TO reader@'%'")
	if rows, err := read(t, s.Connection("vault.t"), "id", "open"); err != nil || len(rows) != 1 {
		t.Errorf("rows %v, error %v; the rights to these columns suffice", rows, err)
	}
	_, err := read(t, s.Connection("vault.t"), "id", "hidden")
	wantError(t, err, `no column "hidden"`, `"open"`)
}

func TestServerBigTable(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		const n = 20000
		numbered(t, s, "big", n)
		src, err := source.Open(t.Context(), s.Connection("big"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer closeSource(t, src)
		// A source can be read again, even if a reading stopped early.
		for _, stop := range []int{n, 10, n} {
			count := 0
			for rec, err := range src.Records(t.Context(), source.Query{Columns: []string{"name", "id"}, UID: "id"}) {
				if err != nil {
					t.Fatal(err)
				}
				count++
				if want := fmt.Sprintf("t%06d", count); rec.Values[1] != want || rec.Line != count {
					t.Fatalf("row %d is %q with line %d", count, rec.Values[1], rec.Line)
				}
				if count == stop {
					break
				}
			}
			if count != stop {
				t.Fatalf("%d rows, want %d", count, stop)
			}
		}
	})
}

func TestServerSnapshot(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		const n = 20000
		numbered(t, s, "moving", n)
		src, err := source.Open(t.Context(), s.Connection("moving"), nil, nil)
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
				s.Exec(t, "DELETE FROM moving WHERE id > 't010000'", "UPDATE moving SET name = 'new'", "INSERT INTO moving VALUES ('t999999', 'new')")
			}
			count++
			if rec.Values[1] == "new" {
				renamed++
			}
		}
		if count != n || renamed != 0 {
			t.Errorf("%d rows, %d of them changed; want the old state's %d", count, renamed, n)
		}
		after, err := records(t.Context(), src, "id")
		if err != nil || len(after) != n/2+1 {
			t.Errorf("the next reading has %d rows (%v), want %d", len(after), err, n/2+1)
		}
	})
}

func TestServerCutConnection(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		const n = 20000
		numbered(t, s, "cut", n)
		for _, after := range []int64{20_000, 200_000, 1_000_000} {
			c := s.Connection("cut")
			c.TLS = endpoint.TLSDisable
			c.Port = dbtest.CutProxy(t, s.Port, after)
			rows, err := read(t, c, "id", "name")
			wantError(t, err, "server ended the result", fmt.Sprintf("127.0.0.1:%d", c.Port), "ignores these rows")
			if len(rows) == 0 || len(rows) >= n {
				t.Errorf("cut after %d bytes: %d rows came, want some of %d", after, len(rows), n)
			}
		}
		c := s.Connection("cut")
		c.Port = dbtest.CutProxy(t, s.Port, 50)
		_, err := read(t, c, "id", "name")
		wantError(t, err, "127.0.0.1:")
	})
}

// TestServerSilent checks that a silent server ends the reading. The error names the
// server, the request, the waiting time and the fix.
func TestServerSilent(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "silent", 20000)
		silentAfter := func(after int64, limit time.Duration) (rows int) {
			c := s.Connection("silent")
			c.TLS, c.Silence = endpoint.TLSDisable, limit
			c.Port = dbtest.StallProxy(t, s.Port, after)
			came, err := read(t, c, "id", "name")
			wantError(t, err, fmt.Sprintf("127.0.0.1:%d/%s: ", c.Port, s.Database), "the server sent nothing for "+limit.String())
			if len(came) == 0 {
				wantError(t, err, "while table silent was read (check for locks and long queries on the server")
			} else {
				wantError(t, err, fmt.Sprintf("after %d rows of table silent (lynqctl ignores these rows; ", len(came)))
			}
			return len(came)
		}
		limit := 50 * time.Millisecond
		if rows := silentAfter(0, limit); rows != 0 {
			t.Errorf("%d rows of a server that sends nothing", rows)
		}
		// A server at work pauses, too, so that the limit has to be longer on a busy machine.
		for silentAfter(200_000, limit) == 0 {
			if limit *= 2; limit > 10*time.Second {
				t.Fatal("no rows before the silence")
			}
		}
	})
}

// TestServerEveryCut cuts a short exchange at each byte. No cut result may look complete.
func TestServerEveryCut(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "short", 3)
		whole := false
		for after := int64(100); !whole; after += 17 {
			c := s.Connection("short")
			c.TLS = endpoint.TLSDisable
			c.Port = dbtest.CutProxy(t, s.Port, after)
			rows, err := read(t, c, "id")
			if whole = err == nil; whole && len(rows) != 3 {
				t.Fatalf("cut after %d bytes: %d rows and no error", after, len(rows))
			}
			if after > 10_000 {
				t.Fatal("no proxy lets the whole exchange through")
			}
		}
	})
}

func TestServerCancel(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "endless", 20000)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		src, err := source.Open(ctx, s.Connection("endless"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer closeSource(t, src)
		count := 0
		var last error
		for _, err := range src.Records(ctx, source.Query{Columns: []string{"id"}, UID: "id"}) {
			last = err
			if count++; count == 5 {
				cancel()
			}
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("the reading ended with %v after %d rows, want the cancellation", last, count)
		}
		if _, err := source.Open(ctx, s.Connection("endless"), nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Open with an ended context: %v", err)
		}
	})
}

func TestServerTLS(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "guarded", 1)
		other := filepath.Join(t.TempDir(), "empty.pem")
		if err := os.WriteFile(other, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, user, host, ca string
			mode                 endpoint.TLSMode
			want                 []string // parts of the error; nil for none
		}{
			{name: "prefer", user: s.TLSOnly, host: "127.0.0.1", mode: endpoint.TLSPrefer},
			{name: "default", user: s.TLSOnly, host: "127.0.0.1"},
			{name: "require", user: s.TLSOnly, host: "127.0.0.1", mode: endpoint.TLSRequire},
			{name: "disable", user: s.Reader, host: "127.0.0.1", mode: endpoint.TLSDisable},
			{name: "disable where TLS is required", user: s.TLSOnly, host: "127.0.0.1", mode: endpoint.TLSDisable, want: []string{"refuses user", s.TLSOnly, "tls"}},
			{name: "verified", user: s.TLSOnly, host: "localhost", ca: s.CAFile, mode: endpoint.TLSVerifyFull},
			{name: "wrong host", user: s.TLSOnly, host: "127.0.0.1", ca: s.CAFile, mode: endpoint.TLSVerifyFull, want: []string{"verify-full", "certificate", "127.0.0.1"}},
			{name: "wrong CA", user: s.TLSOnly, host: "localhost", ca: s.OtherCAFile, mode: endpoint.TLSVerifyFull, want: []string{"verify-full", "unknown authority"}},
			{name: "system CAs", user: s.TLSOnly, host: "localhost", mode: endpoint.TLSVerifyFull, want: []string{"verify-full", "certificate"}},
			{name: "missing CA", user: s.TLSOnly, host: "localhost", ca: "nowhere.pem", mode: endpoint.TLSVerifyFull, want: []string{"nowhere.pem: no such file"}},
			{name: "empty CA", user: s.TLSOnly, host: "localhost", ca: other, mode: endpoint.TLSVerifyFull, want: []string{"empty.pem", "no PEM certificate"}},
			{name: "CA without use", user: s.TLSOnly, host: "localhost", ca: s.CAFile, mode: endpoint.TLSRequire, want: []string{"CA file", "verify-full"}},
			{name: "unknown mode", user: s.TLSOnly, host: "localhost", mode: "allow", want: []string{`"allow" is not known`, "verify-full"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				conn := s.Connection("guarded")
				conn.Username, conn.Host, conn.CAFile, conn.TLS = c.user, c.host, c.ca, c.mode
				rows, err := read(t, conn, "id")
				if c.want != nil {
					wantError(t, err, c.want...)
				} else if err != nil || len(rows) != 1 {
					t.Errorf("rows %v, error %v", rows, err)
				}
			})
		}
	})
}

// away is an address of this machine that lynqctl treats as another machine.
const away = "0.0.0.0"

// TestServerPassword checks that a password leaves this machine only for a verified
// server, or if the hub allows it.
func TestServerPassword(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "guarded", 1)
		for _, c := range []struct {
			name   string
			change func(*endpoint.Connection)
			warns  bool
			want   []string // parts of the error; nil for none
		}{
			{name: "default", change: func(*endpoint.Connection) {}, want: []string{"verify-full", "certificate", "caFile", "tls: prefer"}},
			{name: "CA", change: func(c *endpoint.Connection) { c.CAFile = s.CAFile }, want: []string{"verify-full", away}},
			{name: "prefer", change: func(c *endpoint.Connection) { c.TLS = endpoint.TLSPrefer }, warns: true},
			{name: "require", change: func(c *endpoint.Connection) { c.TLS = endpoint.TLSRequire }, warns: true},
			{name: "disable", change: func(c *endpoint.Connection) { c.TLS = endpoint.TLSDisable }, warns: true},
			{name: "no password", change: func(c *endpoint.Connection) { c.Password = "" }, want: []string{"refuses user"}},
			{name: "this machine", change: func(c *endpoint.Connection) { c.Host = "localhost" }},
			{name: "CA for this machine", change: func(c *endpoint.Connection) { c.Host, c.CAFile = "localhost", s.CAFile }},
			{name: "wrong CA for this machine", change: func(c *endpoint.Connection) { c.Host, c.CAFile = "localhost", s.OtherCAFile }, want: []string{"unknown authority"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				conn := s.Connection("guarded")
				conn.Host = away
				c.change(&conn)
				if risk := source.Warning(conn); (risk != "") != c.warns || strings.Contains(risk, string(s.Password)) {
					t.Errorf("warning %q, want one: %v", risk, c.warns)
				}
				rows, err := read(t, conn, "id")
				if c.want != nil {
					wantError(t, err, c.want...)
				} else if err != nil || len(rows) != 1 {
					t.Errorf("rows %v, error %v", rows, err)
				}
			})
		}
	})
}

// TestPostgreSQLClearText checks that an unverified server gets no password in clear text,
// unless the hub allows it.
func TestPostgreSQLClearText(t *testing.T) {
	s := servers.PostgreSQL(t)
	numbered(t, s, "clear", 1)
	for mode, works := range map[endpoint.TLSMode]bool{endpoint.TLSDisable: false, endpoint.TLSRequire: false, endpoint.TLSPrefer: true} {
		t.Run(string(mode), func(t *testing.T) {
			c := s.Connection("clear")
			c.Username, c.Host, c.TLS = s.ClearText, away, mode
			rows, err := read(t, c, "id")
			if !works {
				wantError(t, err, "clear text", string(mode), "verify-full", "caFile")
			} else if err != nil || len(rows) != 1 {
				t.Errorf("%s: rows %v, error %v", mode, rows, err)
			}
			c.Host = "127.0.0.1"
			if _, err := read(t, c, "id"); err != nil {
				t.Errorf("%s on this machine: %v", mode, err)
			}
		})
	}
}

func TestMySQLWithoutTLS(t *testing.T) {
	s := servers.MariaDBWithoutTLS(t)
	numbered(t, s, "plain", 1)
	for mode, works := range map[endpoint.TLSMode]bool{endpoint.TLSDisable: true, endpoint.TLSPrefer: true, endpoint.TLSRequire: false, endpoint.TLSVerifyFull: false} {
		t.Run(string(mode), func(t *testing.T) {
			c := s.Connection("plain")
			c.TLS = mode
			rows, err := read(t, c, "id")
			if !works {
				wantError(t, err, "doesn't support TLS", "disable")
			} else if err != nil || len(rows) != 1 {
				t.Errorf("%s: rows %v, error %v", mode, rows, err)
			}
		})
	}
}

// eventually waits until a server has reloaded its settings.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	limit, ticker := time.NewTimer(2*time.Minute), time.NewTicker(20*time.Millisecond)
	defer limit.Stop()
	defer ticker.Stop()
	for !done() {
		select {
		case <-limit.C:
			t.Fatal("the server did not change its settings")
		case <-ticker.C:
		}
	}
}

func TestPostgreSQLWithoutTLS(t *testing.T) {
	s := servers.PostgreSQL(t)
	numbered(t, s, "plain", 1)
	s.Exec(t, "ALTER SYSTEM SET ssl = off", "SELECT pg_reload_conf()")
	c := s.Connection("plain")
	c.TLS = endpoint.TLSRequire
	t.Cleanup(func() {
		s.Exec(t, "ALTER SYSTEM RESET ssl", "SELECT pg_reload_conf()")
		eventually(t, func() bool { _, err := read(t, c, "id"); return err == nil })
	})
	eventually(t, func() bool { _, err := read(t, c, "id"); return err != nil })
	_, err := read(t, c, "id")
	wantError(t, err, "doesn't support TLS", "disable")
	c.TLS, c.Host = "", away
	_, err = read(t, c, "id")
	wantError(t, err, "doesn't support TLS", "tls: prefer")
	c.TLS = endpoint.TLSPrefer
	if rows, err := read(t, c, "id"); err != nil || len(rows) != 1 {
		t.Errorf("prefer: rows %v, error %v", rows, err)
	}
}

func TestServerErrors(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, quote func(string) string) {
		numbered(t, s, "tenants", 1)
		s.Exec(t, "DROP TABLE IF EXISTS "+quote("my.table"), "CREATE TABLE "+quote("my.table")+" (id int)", "CREATE SCHEMA IF NOT EXISTS shelf",
			"DROP TABLE IF EXISTS shelf.faraway", "CREATE TABLE shelf.faraway (id int)", "GRANT SELECT ON shelf.faraway TO reader")
		s.Exec(t, "DROP TABLE IF EXISTS private", "CREATE TABLE private (id int)")
		if s.Type == endpoint.SourcePostgreSQL {
			s.Exec(t, "REVOKE ALL ON private FROM reader")
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		closed := int(netip.MustParseAddrPort(listener.Addr().String()).Port())
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s://127.0.0.1:%d/crm: ", s.Type, s.Port)
		for _, c := range []struct {
			name   string
			change func(*endpoint.Connection)
			column string
			want   []string
		}{
			{"wrong password", func(c *endpoint.Connection) { c.Password = "hunter2" }, "id", []string{name, `refuses user "reader"`, "password"}},
			{"wrong user", func(c *endpoint.Connection) { c.Username = "nobody" }, "id", []string{name, `refuses user "nobody"`}},
			{"unreachable", func(c *endpoint.Connection) { c.Port = closed }, "id", []string{fmt.Sprintf("127.0.0.1:%d/crm: the server can't be reached", closed), "refused", "check the host"}},
			{"unknown host", func(c *endpoint.Connection) { c.Host = "no..name" }, "id", []string{`host "no..name" can't be found`, "(check host)"}},
			// This isn't a domain name, so no DNS request is sent.
			{"host in a cluster", func(c *endpoint.Connection) { c.Host = "0..crm-db.shop.svc" }, "id", []string{
				fmt.Sprintf("run kubectl port-forward -n shop service/crm-db %d, and pass --source %s://127.0.0.1:%d", s.Port, s.Type, s.Port)}},
			{"host in a cluster, in full", func(c *endpoint.Connection) { c.Host = "0..crm-db.shop.svc.cluster.local" }, "id", []string{
				fmt.Sprintf("kubectl port-forward -n shop service/crm-db %d,", s.Port)}},
			{"no host", func(c *endpoint.Connection) { c.Host = "" }, "id", []string{"no host"}},
			{"no table", func(c *endpoint.Connection) { c.Table = "" }, "id", []string{name, "no table is named (set table to one of these", "?table=TABLE: ", "tenants"}},
			{"no password", func(c *endpoint.Connection) { c.Password = "" }, "id", []string{name, "no password was sent: set LYNQCTL_SOURCE_PASSWORD"}},
			{"bad port", func(c *endpoint.Connection) { c.Port = 70000 }, "id", []string{"port 70000"}},
			{"missing table", func(c *endpoint.Connection) { c.Table = "tenant" }, "id", []string{name, `table "tenant" does not exist`, `did you mean "tenants"?`}},
			{"missing table in schema", func(c *endpoint.Connection) { c.Table = schemaOf(s) + ".tenant" }, "id", []string{name, `did you mean "tenants"?`}},
			{"missing schema", func(c *endpoint.Connection) { c.Table = "nosuch.tenants" }, "id", []string{name,
				`"reader"`, `sees no schema "nosuch" (table takes TABLE or SCHEMA.TABLE; there are `}},
			{"misspelt schema", func(c *endpoint.Connection) { c.Table = schemaOf(s) + "x.tenants" }, "id", []string{
				fmt.Sprintf(`sees no schema "%[1]sx" (table takes TABLE or SCHEMA.TABLE; did you mean %[1]q?`, schemaOf(s))}},
			{"a table with a dot", func(c *endpoint.Connection) { c.Table = "my.table" }, "id", []string{
				fmt.Sprintf(`sees no schema "my" (a table whose name has a dot needs its schema: set table to "%s.my.table")`, schemaOf(s))}},
			{"a table of another schema", func(c *endpoint.Connection) { c.Table = "faraway" }, "id", []string{
				`table "faraway" does not exist (did you mean "shelf.faraway"? a table in another schema needs SCHEMA.TABLE)`}},
			{"missing column", func(*endpoint.Connection) {}, "namme", []string{"table tenants in " + name[:len(name)-2], `no column "namme", "plan"`, `did you mean "name"`, `it has "id", "name"`}},
		} {
			t.Run(c.name, func(t *testing.T) {
				conn := s.Connection("tenants")
				c.change(&conn)
				columns := []string{c.column}
				if c.name == "missing column" {
					columns = append(columns, "plan")
				}
				_, err := read(t, conn, columns...)
				wantError(t, err, c.want...)
			})
		}
		t.Run("unknown database", func(t *testing.T) {
			conn := s.Connection("tenants")
			conn.Database = "nosuch"
			_, err := read(t, conn, "id")
			wantError(t, err, `database "nosuch" does not exist`)
		})
		t.Run("typed", func(t *testing.T) {
			_, err := read(t, s.Connection("tenants"), "plan", "id")
			missing, ok := errors.AsType[*source.MissingColumnsError](err)
			if !ok || !cmp.Equal(missing.Missing, []string{"plan"}) || !cmp.Equal(missing.Have, []string{"id", "name"}) {
				t.Errorf("error %#v", err)
			}
		})
	})
}

// TestServerKeepsValues has a view that fails on a row. The error must not show the row.
func TestServerKeepsValues(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		numbered(t, s, "tenants", 1)
		s.Exec(t, "DROP VIEW IF EXISTS failing", "DROP FUNCTION IF EXISTS reveal")
		if s.Type == endpoint.SourcePostgreSQL {
			s.Exec(t, "CREATE VIEW failing AS SELECT id, (id || 'hunter2')::int AS name FROM tenants", "GRANT SELECT ON failing TO reader")
		} else {
			s.Exec(t, "CREATE FUNCTION reveal(t TEXT) RETURNS TEXT DETERMINISTIC BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = t; RETURN t; END",
				"CREATE VIEW failing AS SELECT id, reveal(concat(id, 'hunter2')) AS name FROM tenants")
		}
		_, err := read(t, s.Connection("failing"), "id", "name")
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "the server reports an error") {
			t.Errorf("error %v", err)
		}
	})
}

func TestServerDenied(t *testing.T) {
	maria := servers.MariaDB(t)
	maria.Exec(t, "CREATE DATABASE IF NOT EXISTS vault", "DROP TABLE IF EXISTS vault.private", "CREATE TABLE vault.private (id int)")
	_, err := read(t, maria.Connection("vault.private"), "id")
	wantError(t, err, `user "reader" may not read table vault.private`, "grant")

	postgres := servers.PostgreSQL(t)
	postgres.Exec(t, "DROP TABLE IF EXISTS private", "CREATE TABLE private (id int)", "REVOKE ALL ON private FROM reader")
	_, err = read(t, postgres.Connection("private"), "id")
	wantError(t, err, `user "reader" may not read table private`, "grant")
	postgres.Exec(t, "DROP SCHEMA IF EXISTS vault CASCADE", "CREATE SCHEMA vault", "CREATE TABLE vault.private (id int)")
	_, err = read(t, postgres.Connection("vault.private"), "id")
	wantError(t, err, `user "reader" may not read table vault.private`, "grant this user SELECT on it, and USAGE on its schema")
	postgres.Exec(t, "DROP DATABASE IF EXISTS closed", "CREATE DATABASE closed", "REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
	c := postgres.Connection("private")
	c.Database = "closed"
	_, err = read(t, c, "id")
	wantError(t, err, `the server refuses user "reader": permission denied for database "closed"`)

	maria.Exec(t, "CREATE USER IF NOT EXISTS shut@'%' IDENTIFIED BY '"+string(maria.Password)+"' ACCOUNT LOCK", "CREATE USER IF NOT EXISTS socket@'%' IDENTIFIED VIA unix_socket",
		"CREATE USER IF NOT EXISTS old@'%' IDENTIFIED BY '"+string(maria.Password)+"' PASSWORD EXPIRE", "CREATE USER IF NOT EXISTS blind@'%' IDENTIFIED BY '"+string(maria.Password)+"'")
	maria.Exec(t, "GRANT SELECT ON crm.* TO shut@'%', socket@'%', old@'%'")
	for user, want := range map[string]string{
		"shut": `refuses user "shut"`, "socket": `refuses user "socket"`, "old": `refuses user "old"`, "blind": `database "crm" does not exist, or user "blind" may not see it`,
	} {
		c := maria.Connection("tenants")
		c.Username = user
		_, err = read(t, c, "id")
		wantError(t, err, want)
	}
	blind := maria.Connection("crm.tenants")
	blind.Username, blind.Database = "blind", ""
	_, err = read(t, blind, "id")
	wantError(t, err, `user "blind" may not read table crm.tenants, and sees no schema "crm"`, "grant this user SELECT on it")
	blind.Table = "nosuch.tenants"
	_, err = read(t, blind, "id")
	wantError(t, err, `user "blind"`, "nosuch")
}

func TestMySQLBrokenView(t *testing.T) {
	s := servers.MariaDB(t)
	s.Exec(t, "DROP VIEW IF EXISTS broken", "DROP TABLE IF EXISTS under", "CREATE TABLE under (id int)", "CREATE VIEW broken AS SELECT id FROM under", "DROP TABLE under")
	_, err := read(t, s.Connection("broken"), "id")
	wantError(t, err, "table broken in", "the view does not work")
	c := s.Connection("broken")
	c.Database = ""
	_, err = read(t, c, "id")
	wantError(t, err, "no database is set")
}

func TestServerFailsDuringResult(t *testing.T) {
	postgres := servers.PostgreSQL(t)
	numbered(t, postgres, "base2", 5000)
	// Sorting doesn't need the division, so the query fails between rows.
	postgres.Exec(t, "DROP VIEW IF EXISTS failing", "CREATE VIEW failing AS SELECT id, 1 / (4000 - substr(id, 2)::int) AS n FROM base2")
	_, err := read(t, postgres.Connection("failing"), "id", "n")
	wantError(t, err, "division by zero")
}

func TestPostgreSQLIgnoresEnvironment(t *testing.T) {
	s := servers.PostgreSQL(t)
	numbered(t, s, "neutral", 1)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "pass"), []byte("*:*:*:*:"+string(s.Password)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"PGHOST": "nowhere.invalid", "PGPORT": "x", "PGDATABASE": "nosuch", "PGUSER": "nobody", "PGPASSWORD": "hunter2",
		"PGPASSFILE": filepath.Join(home, "pass"), "PGSERVICE": "nosuch", "PGSERVICEFILE": "/nowhere", "PGSSLMODE": "x", "PGSSLROOTCERT": "/nowhere",
		"PGSSLCERTMODE": "x", "PGSSLNEGOTIATION": "x", "PGCONNECT_TIMEOUT": "x", "PGTARGETSESSIONATTRS": "standby", "PGOPTIONS": "-c search_path=nosuch", "PGTZ": "Asia/Tokyo",
		"PGMINPROTOCOLVERSION": "x", "PGMAXPROTOCOLVERSION": "x", "PGCHANNELBINDING": "x", "PGREQUIREAUTH": "x", "PGAPPNAME": "x", "PGSSLSNI": "x", "HOME": home,
	} {
		t.Setenv(name, value)
	}
	if rows, err := read(t, s.Connection("neutral"), "id"); err != nil || len(rows) != 1 {
		t.Errorf("rows %v, error %v", rows, err)
	}
	c := s.Connection("neutral")
	c.Password = ""
	_, err := read(t, c, "id")
	wantError(t, err, `"reader"`)
}
