package source_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/test/dbtest"
)

// psql returns the values that psql prints for a query.
func psql(t *testing.T, s *dbtest.Server, query string) []string {
	t.Helper()
	return client(t, "\x00", append(os.Environ(), "PGPASSWORD="+string(s.Password), "PGTZ=UTC"),
		"psql", "-X", "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-U", s.Admin, "-d", s.Database, "-At", "-0", "-F", "\x01", "-P", "null="+null, "-c", query)
}

// mariadb returns the values that the client of MariaDB prints for a query.
func mariadb(t *testing.T, s *dbtest.Server, query string) []string {
	t.Helper()
	return client(t, "\n", append(os.Environ(), "MYSQL_PWD="+string(s.Password)),
		"mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", strconv.Itoa(s.Port), "-u", s.Admin, "-D", s.Database, "-N", "-r", "-B",
		"--default-character-set=utf8mb4", "--init-command=SET time_zone = '+00:00'", "-e", query)
}

func client(t *testing.T, end string, environment []string, program string, arguments ...string) []string {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		dbtest.Missing(t, program+" is not installed")
	}
	cmd := exec.Command(program, arguments...)
	cmd.Env = environment
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args[len(cmd.Args)-1], err)
	}
	text := strings.TrimSuffix(string(out), end)
	if text == "" && len(out) == 0 {
		return nil
	}
	return strings.Split(text, end)
}

// noColumn marks types that no column of a table can have, or that only the server writes.
const noColumn = "no column"

// postgresTypes has values of each type of the server, as text.
func postgresTypes() map[string][]string {
	return map[string][]string{
		"bool": {"t", "f"}, "bytea": {`\x`, `\x00`, `\x74657874`, `\xff`, `\xc3a4`}, "char": {"a", "", " "}, "name": {"a", "Mixed Case", strings.Repeat("x", 63)},
		"int2": {"-32768", "32767", "0"}, "int4": {"-2147483648", "2147483647"}, "int8": {"-9223372036854775808", "9223372036854775807"},
		"float4":  {"3.14", "0.1", "1e38", "-3.4028235e38", "1.17549435e-38", "16777217", "NaN", "-Infinity", "-0"},
		"float8":  {"0.1", "0.30000000000000004", "1e15", "1e16", "123456789012345678", "1.7976931348623157e308", "5e-324", "NaN", "Infinity", "-0", "1e-5", "100"},
		"numeric": {"0", "1.50", "-0.00", "12345678901234567890123456789.0123456789", "1e20", "1e-20", "NaN", "Infinity"}, "money": {"0", "-1.5", "92233720368547758.07"},
		"text": {"", " a ", "ä😀", "a\nb", "x\ty", `"'\`}, "varchar": {"", " a "}, "bpchar": {"a", " b "}, "json": {`{"b": [1, 2.50],  "a": null}`, `1e3`}, "jsonb": {`{"b": [1, 2.50],  "a": null}`, `1.10`, `1e3`},
		"jsonpath": {"$.a[*]", "$"}, "xml": {"<a/>", `<?xml version="1.0" encoding="UTF-8"?><a>ä</a>`, `<?xml version="1.0" standalone="yes"?><a/>`, "text"}, "uuid": {"123E4567-e89b-12d3-a456-426614174000"},
		"date": {"2024-02-29", "infinity", "-infinity", "0044-03-15 BC", "4714-11-24 BC", "5874897-12-31"}, "time": {"00:00", "24:00", "12:30:00.000001"}, "timetz": {"12:30+09", "00:00:00.5-15:59"},
		"timestamp": {"2024-02-29 12:30:00.5", "infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999"}, "timestamptz": {"2024-02-29 12:30:00+09", "infinity", "1883-01-01 00:00:00+00", "294276-12-31 23:59:59.999999+00"},
		"interval": {"1 day 02:00", "-1 year -2 mons +3 days -04:05:06.789", "0", "178000000 years", "1.5 seconds", "1 mon -1 day"}, "bit": {"1", "0"}, "varbit": {"", "1000000000000000000001"},
		"inet": {"10.0.0.1", "10.0.0.1/8", "10.0.0.1/32", "0.0.0.0/0", "::1", "::1/64", "::ffff:1.2.3.4", "2001:db8::/32"}, "cidr": {"10.0.0.0/8", "10.0.0.1/32", "::1/128", "10/8"}, "macaddr": {"08-00-2b-01-02-03"}, "macaddr8": {"08002b0102030405"},
		"point": {"(1,2.5)", "(1e300,-0)"}, "line": {"{1,2,3}"}, "lseg": {"[(0,0),(1,1)]"}, "box": {"(1,1),(0,0)", "(0,0),(1,1)"}, "path": {"[(0,0),(1,1)]", "((0,0),(1,1))"}, "polygon": {"((0,0),(1,1))"}, "circle": {"<(0,0),1>"},
		"tsvector": {"a fat cat:3", "'it''s':1A"}, "tsquery": {"fat & (rat | !cat:*)"}, "int4range": {"[1,5)", "empty", "(,5]", "[1,5]"}, "int8range": {"[1,)"}, "numrange": {"[1.10,2.50)"}, "tsrange": {"[2024-01-01,2024-02-01)"},
		"tstzrange": {"[2024-01-01 00:00+09,infinity)"}, "daterange": {"[2024-01-01,2024-01-31]", "(-infinity,)"}, "int4multirange": {"{[1,5),[7,9]}", "{}"}, "int8multirange": {"{[1,2)}"}, "nummultirange": {"{[1.10,2)}"},
		"tsmultirange": {"{[2024-01-01,2024-02-01)}"}, "tstzmultirange": {"{[2024-01-01 00:00+09,2024-02-01)}"}, "datemultirange": {"{[2024-01-01,2024-02-01)}"},
		"oid": {"0", "4294967295"}, "tid": {"(0,1)"}, "xid": {"4294967295"}, "xid8": {"18446744073709551615"}, "cid": {"1"}, "pg_lsn": {"0/0", "16/B374D848"}, "pg_snapshot": {"10:20:10,14"}, "txid_snapshot": {"10:20:10,14"},
		"int2vector": {"1 2 3"}, "oidvector": {"1 2 3"}, "refcursor": {"c"}, "aclitem": {"boss=r/boss"}, "regclass": {"pg_class", "0"}, "regcollation": {`"C"`}, "regconfig": {"english"}, "regdictionary": {"simple"},
		"regnamespace": {"public"}, "regoper": {"pg_catalog.||/"}, "regoperator": {"+(integer,integer)"}, "regproc": {"now"}, "regprocedure": {"abs(integer)"}, "regrole": {"boss"}, "regtype": {"integer", "timestamp with time zone"},
		"gtsvector": {noColumn}, "pg_brin_bloom_summary": {noColumn}, "pg_brin_minmax_multi_summary": {noColumn}, "pg_dependencies": {noColumn}, "pg_mcv_list": {noColumn}, "pg_ndistinct": {noColumn}, "pg_node_tree": {noColumn},
	}
}

// postgresText returns the text that lynqctl reads for a value that psql prints. It differs
// for booleans, char(n) and bytes, so that rows look the same from each source.
func postgresText(kind, printed string) string {
	switch kind {
	case "bool":
		return map[string]string{"t": "true", "f": "false"}[printed]
	case "bpchar":
		return strings.TrimRight(printed, " ")
	case "bytea":
		text, _ := hex.DecodeString(strings.TrimPrefix(printed, `\x`))
		return string(text)
	}
	return printed
}

// TestPostgreSQLPrints compares all types of the server with psql: alone, in a domain, in an
// array, and in a composite type. A type that the table lacks is an error.
func TestPostgreSQLPrints(t *testing.T) {
	s := servers.PostgreSQL(t)
	types, count := postgresTypes(), 0
	kinds := psql(t, s, "SELECT typname FROM pg_type LEFT JOIN pg_class c ON c.oid = typrelid WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype <> 'p' AND typcategory <> 'A' AND coalesce(relkind, 'c') = 'c' ORDER BY 1")
	for _, kind := range kinds {
		texts, known := types[kind]
		switch {
		case !known:
			t.Errorf("the server's type %s has no values here: decide how its values look, and add it", kind)
			continue
		case texts[0] == noColumn:
			continue
		}
		quoted := `"` + kind + `"`
		length := map[string]string{"bit": "(1)", "bpchar": "(5)"}[kind]
		statements := []string{"DROP TABLE IF EXISTS printed", "DROP DOMAIN IF EXISTS printed_domain", "DROP TYPE IF EXISTS printed_pair",
			"CREATE DOMAIN printed_domain AS " + quoted + length, "CREATE TYPE printed_pair AS (a " + quoted + length + ", b text)",
			"CREATE TABLE printed (id int, v " + quoted + length + ", d printed_domain, a " + quoted + length + "[], c printed_pair)"}
		for i, text := range slices.Concat(texts, []string{null}) {
			value := "'" + strings.ReplaceAll(text, "'", "''") + "'"
			if text == null {
				value = "NULL"
			}
			value += "::" + quoted
			statements = append(statements, fmt.Sprintf("INSERT INTO printed VALUES (%d, %[2]s, %[2]s, ARRAY[%[2]s, NULL], CASE WHEN %[2]s IS NOT NULL THEN ROW(%[2]s, 'x')::printed_pair END)", 10+i, value))
		}
		if kind == "bytea" {
			statements = append(statements, `DELETE FROM printed WHERE v = '\xff'`) // it isn't UTF-8
		}
		s.Exec(t, statements...)
		count += 4 * comparePrinted(t, s, kind, psql(t, s, "SELECT v, d, a, c FROM printed ORDER BY id"))
	}
	t.Log(len(kinds), "types,", count, "values")
}

// comparePrinted compares the rows of the table with what psql prints, and returns their
// number. It also reads values as uids, because each type must sort like its text.
func comparePrinted(t *testing.T, s *dbtest.Server, kind string, printed []string) int {
	rows, err := read(t, s.Connection("printed"), "id", "v", "d", "a", "c")
	if err != nil || len(rows) != len(printed) {
		t.Errorf("%s: %d rows for %d, %v", kind, len(rows), len(printed), err)
		return 0
	}
	for i, row := range rows {
		for j, text := range strings.Split(printed[i], "\x01") {
			want := text
			if j < 2 && text != null {
				want = postgresText(kind, text)
			}
			if got := row.Values[1+j]; got != want {
				t.Errorf("%s, column %d: %q, want %q, because psql prints %q", kind, j, got, want, text)
			}
		}
	}
	for _, uid := range []string{"v", "c"} {
		if _, err := read(t, s.Connection("printed"), uid); err != nil {
			t.Errorf("%s, %s as uid: %v", kind, uid, err)
		}
	}
	return len(rows)
}

// TestPostgreSQLOwnCast has a type whose cast to text isn't what the server prints.
func TestPostgreSQLOwnCast(t *testing.T) {
	s := servers.PostgreSQL(t)
	s.Exec(t, "DROP TYPE IF EXISTS owncast CASCADE", "CREATE TYPE owncast AS (a int)", "CREATE FUNCTION owntext(owncast) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT ''other'''",
		"CREATE CAST (owncast AS text) WITH FUNCTION owntext(owncast)", "CREATE TABLE cast_own (id owncast)", "INSERT INTO cast_own VALUES (ROW(2)), (ROW(10)), (NULL)")
	rows, err := read(t, s.Connection("cast_own"), "id")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{null, "(10)", "(2)"}, values(rows)); diff != "" {
		t.Error(diff)
	}
}

// mariaTypes has values of each type, in SQL.
func mariaTypes() map[string]map[string][]string {
	whole := func(kind, least, most, unsigned string) map[string][]string {
		return map[string][]string{kind: {least, most, "0"}, kind + " unsigned": {unsigned}, kind + "(6) zerofill": {"42"}}
	}
	text := map[string][]string{}
	for _, kind := range []string{"char(5)", "varchar(20)", "tinytext", "text", "mediumtext", "longtext"} {
		text[kind+" CHARACTER SET utf8mb4"] = []string{"''", "'ab'", "' b '", "'ä😀'", "'\\t\\\\'"}
		text[kind+" CHARACTER SET latin1"] = []string{"'ä€'"}
		text[kind+" CHARACTER SET utf16"] = []string{"'ä😀'"}
	}
	return map[string]map[string][]string{
		"TINYINT": whole("tinyint", "-128", "127", "255"), "SMALLINT": whole("smallint", "-32768", "32767", "65535"), "MEDIUMINT": whole("mediumint", "-8388608", "8388607", "16777215"),
		"INT": whole("int", "-2147483648", "2147483647", "4294967295"), "BIGINT": whole("bigint", "-9223372036854775808", "9223372036854775807", "18446744073709551615"),
		"BOOLEAN": {"boolean": {"TRUE", "FALSE"}}, "DECIMAL": {"decimal(65,30)": {"'12345678901234567890123456789012345.012345678901234567890123456789'", "-0.5"}, "decimal(10,2) zerofill": {"1.5"}, "decimal": {"1"}},
		"FLOAT":  {"float": {"3.14", "0.1", "16777217", "123456.789", "1e38", "-3.40282e38", "1.17549e-38", "1e-5", "1e15", "-0.0"}, "float(10,2)": {"1.5", "1234567.891"}, "float zerofill": {"1.5"}, "float unsigned": {"1000000"}},
		"DOUBLE": {"double": {"0.1", "0.1 + 0.2e0", "1000000", "1e14", "1e15", "1e16", "123456789012345678", "1e300", "5e-324", "1.7976931348623157e308", "1e-5", "1e-15", "-0.0"}, "double(20,3)": {"1.5", "12345678901234.5678"}, "double zerofill": {"1.5"}},
		"BIT":    {"bit(1)": {"1", "0"}, "bit(8)": {"129"}, "bit(64)": {"18446744073709551615"}}, "CHAR": text,
		"DATE": {"date": {"'2024-02-29'", "'0000-00-00'", "'2024-00-00'", "'9999-12-31'", "'0001-01-01'"}}, "TIME": {"time": {"'-838:59:59'", "'838:59:59'", "'12:30'"}, "time(6)": {"'-00:00:00.000001'"}},
		"DATETIME":  {"datetime": {"'2024-02-29 12:30:00'", "'0000-00-00 00:00:00'", "'9999-12-31 23:59:59'"}, "datetime(6)": {"'2024-02-29 12:30:00.000001'"}, "datetime(3)": {"'2024-02-29 12:30:00'"}},
		"TIMESTAMP": {"timestamp NULL": {"'2024-02-29 12:30:00'", "'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"}, "timestamp(6) NULL": {"'2024-02-29 12:30:00.5'"}}, "YEAR DATA TYPE": {"year": {"2024", "1901", "0", "2155"}, "year(2)": {"24"}},
		"ENUM": {"enum('on', 'off', '')": {"'off'", "''"}}, "SET DATA TYPE": {"set('a', 'b', 'c')": {"'c,a'", "''"}},
		"BLOB": {"tinyblob": {"'ab'"}, "blob": {"'text in bytes'", "''"}, "mediumblob": {"'ab'"}, "longblob": {"_utf8mb4'ä'"}}, "BINARY": {"binary(2)": {"'ab'"}, "varbinary(20)": {"_utf8mb4'ä'", "'a '"}},
		"JSON DATA TYPE": {"json": {`'{"b": [1, 2.50],  "a": null}'`, "'1e3'"}}, "inet6": {"inet6": {"'::1'", "'::ffff:1.2.3.4'", "'2001:DB8::1'"}}, "inet4": {"inet4": {"'10.0.0.1'", "'255.255.255.255'"}}, "uuid": {"uuid": {"'123E4567-e89b-12d3-a456-426614174000'"}},
	}
}

// mariaKinds returns the types that columns of the server can have. It tries each word of the
// server's grammar, and each type of its plugins.
func mariaKinds(t *testing.T, s *dbtest.Server) []string {
	words := mariadb(t, s, "SELECT WORD FROM information_schema.KEYWORDS UNION SELECT PLUGIN_NAME FROM information_schema.PLUGINS WHERE PLUGIN_TYPE = 'DATA TYPE'")
	var tries strings.Builder
	for i, word := range words {
		for j, arguments := range []string{"", "(1)", "('a')"} {
			fmt.Fprintf(&tries, "CREATE TABLE probe_%d_%d (v %s%s);\n", i, j, word, arguments)
		}
	}
	cmd := exec.Command("mariadb", "--no-defaults", "--force", "-h", "127.0.0.1", "-P", strconv.Itoa(s.Port), "-u", s.Admin, "-D", "probes")
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+string(s.Password))
	cmd.Stdin = strings.NewReader(tries.String())
	s.Exec(t, "CREATE DATABASE probes")
	defer s.Exec(t, "DROP DATABASE probes")
	_, _ = cmd.CombinedOutput() // most words are no types
	return mariadb(t, s, "SELECT DISTINCT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'probes'")
}

// TestMariaDBPrints compares all types of the server with what its client prints. A type that
// the table lacks is an error. Bits are numbers here, because the client prints bytes.
func TestMariaDBPrints(t *testing.T) {
	s := servers.MariaDB(t)
	types, count := mariaTypes(), 0
	known := mariaGeometries() // refused
	server := mariaKinds(t, s)
	for topic, kinds := range types {
		for kind, texts := range kinds {
			known = append(known, strings.FieldsFunc(kind, func(c rune) bool { return c == ' ' || c == '(' })[0])
			statements := []string{"DROP TABLE IF EXISTS printed", "SET sql_mode = '', time_zone = '+00:00'", "CREATE TABLE printed (id int, v " + kind + " NULL)"}
			for i, text := range append(texts, "NULL") {
				statements = append(statements, fmt.Sprintf("INSERT INTO printed VALUES (%d, %s)", 10+i, text))
			}
			s.Exec(t, statements...)
			query := "SELECT v FROM printed ORDER BY id"
			if topic == "BIT" {
				query = "SELECT v + 0 FROM printed ORDER BY id"
			}
			printed := mariadb(t, s, query)
			rows, err := read(t, s.Connection("printed"), "id", "v")
			if err != nil || len(rows) != len(printed) {
				t.Errorf("%s: %d rows for %d, %v", kind, len(rows), len(printed), err)
				continue
			}
			count += len(rows)
			for i, row := range rows {
				if got := strings.Replace(row.Values[1], null, "NULL", 1); got != printed[i] {
					t.Errorf("%s: %q, want %q as the client prints", kind, got, printed[i])
				}
			}
		}
	}
	for _, kind := range server {
		if !slices.Contains(known, kind) {
			t.Errorf("the server's type %s has no values here: decide how its values look, and add it", kind)
		}
	}
	t.Log(len(server), "types,", count, "values")
}

func mariaGeometries() []string {
	return strings.Fields("geometry point linestring polygon multipoint multilinestring multipolygon geometrycollection")
}

// TestMariaDBGeometry refuses geometries, whose bytes are UTF-8 by accident.
func TestMariaDBGeometry(t *testing.T) {
	s := servers.MariaDB(t)
	for _, kind := range mariaGeometries() {
		s.Exec(t, "DROP TABLE IF EXISTS shapes", "CREATE TABLE shapes (id int, v "+kind+")")
		_, err := read(t, s.Connection("shapes"), "id", "v")
		wantError(t, err, "table shapes in mysql://", `column "v" holds `+kind+" values, which are bytes and no text (read a view that selects ST_AsText of it)")
		if _, err := read(t, s.Connection("shapes"), "id"); err != nil {
			t.Error(err)
		}
	}
}
